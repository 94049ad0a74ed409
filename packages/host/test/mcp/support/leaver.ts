import { join } from "node:path";
import { McpHub } from "../../../src/mcp/index.ts";
import { watched } from "./context.ts";

/** Leaves without closing its hub, in one of several ways: `node leaver.ts <mark> <fake> <way>`. */
const [mark = "", fake = "", way = ""] = process.argv.slice(2);
const hub = new McpHub();
const program = join(import.meta.dirname, "..", "fakes", `${fake}.ts`);
const server = { name: "left", command: process.execPath, args: [program, mark] };
const connected = await hub.connect([server], { agent: "agent", scope: { tenant: "t" } });
const echo = connected.tools.find(({ name }) => name === "mcp__left__echo");
await echo?.run({ message: "hello" }, watched().context);
process.stdout.write('"connected"');

switch (way) {
  case "exits":
    process.exit(0);
    break;
  case "throws":
    // Nobody catches it. Its stack is not wanted on stderr.
    process.on("uncaughtException", () => process.exit(7));
    setImmediate(() => {
      throw new Error("a bug");
    });
    break;
  case "is killed":
    process.kill(process.pid, "SIGKILL");
    break;
  case "has nothing more to do":
    connected.release();
    break;
}
