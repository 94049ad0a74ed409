import type { ServerDefinition } from "trackside/engine";
import { McpHub } from "../../src/mcp/index.ts";
import { watched } from "./support/context.ts";

/**
 * The client under test: `node conformance-client.ts <url>`, started by the conformance package, which plays the server
 * and names the scenario in the environment. It does what an agent would: connects, and calls tools it was offered.
 */
const [url = ""] = process.argv.slice(2);
const scenario = process.env["MCP_CONFORMANCE_SCENARIO"] ?? "";
const { toolCalls = [] }: { toolCalls?: { name: string; arguments: object }[] } = JSON.parse(
  process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}",
);

const hub = new McpHub();
const server: ServerDefinition = { name: "server", url };
const { tools } = await hub.connect([server], { agent: "conformance", scope: { tenant: "t" } });

const offered = (name: string) => {
  const tool = tools.find((each) => each.name === `mcp__server__${name}`);
  if (tool === undefined) throw new Error(`not offered: ${name}`);
  return tool;
};
const call = async (name: string, args: object = {}, answer: () => Promise<object> = async () => ({})) => {
  const { context } = watched({
    answer: async () => ({ action: "accept", content: { ...(await answer()) } }),
  });
  return offered(name).run(args, context);
};

switch (scenario) {
  case "tools_call":
    await call("add_numbers", { a: 2, b: 3 });
    break;
  case "json-schema-2020-12-preservation":
    await call("json_schema_echo", { schema: offered("json_schema_2020_12_tool").input.jsonSchema });
    break;
  case "sep-2322-client-request-state":
    await call("test_mrtr_echo_state", {}, async () => {
      // Another call while this one waits for its answer must carry nothing of it.
      await call("test_mrtr_unrelated");
      return { confirmed: true };
    });
    await call("test_mrtr_no_state", {}, async () => ({ confirmed: true }));
    // The official client does not take such an answer from a server of this era. What counts is that it is not asked twice.
    await call("test_mrtr_no_result_type").catch(() => undefined);
    break;
  case "json-schema-ref-no-deref":
    break; // the server has nothing but a list
  default:
    if (toolCalls.length > 0) for (const { name, arguments: args } of toolCalls) await call(name, args);
    else for (const { name } of tools) await call(name.slice("mcp__server__".length));
}

await hub.close();
