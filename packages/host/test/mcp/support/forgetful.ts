// Uses a server and ends without closing anything, as scripts do.
import { McpHub } from "../../../src/mcp/index.ts";
import { watched } from "./context.ts";

const hub = new McpHub();
const server = JSON.parse(process.argv[2] ?? "");
const connected = await hub.connect([server], { agent: "agent", scope: { tenant: "t" } });
const look = connected.tools.find(({ name }) => name === "mcp__library__look");
process.stdout.write(String(await look?.run({}, watched().context)));
connected.release();
