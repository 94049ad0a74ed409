/** Trackside on a SQLite file, with the agents that the scenarios of a host need. */
import { join } from "node:path";
import { sqlite, Trackside } from "@trackside/host";
import { Agent, defineTool } from "trackside";
import { z } from "zod";
import { v4Model, v4TreeModel } from "../contestants/v4-model.ts";
import { add, JOBS, TOOL } from "../workload.ts";

export const LONG_STEPS = 2000;

/** How many calls of the tool that never settles have begun, and who is told of each. */
export const hanging = { begun: 0, onBegun: () => {} };

const input = z.object({ n: z.number() });
const addTool = defineTool({ ...TOOL, input, effect: "none", execute: ({ n }) => add(n) });
/** Stops for nothing, like a socket nobody answers on. */
const hangingTool = defineTool({
  ...TOOL,
  input,
  effect: "none",
  execute: () => {
    hanging.begun++;
    hanging.onBegun();
    return new Promise<number>(() => {});
  },
});

/** An MCP server of the tests. It reports once that it is at work, and then only a cancel ends the call. */
const SERVER = join(import.meta.dirname, "../../packages/host/test/mcp/fakes/good.ts");
const UNTIL_CANCELLED = "mcp__server__until-cancelled";

/** Each of its sub-agents calls a tool of a process beside this one. */
const parent = () =>
  new Agent({
    name: "in a tree",
    model: v4TreeModel("spawn_parallel", { steps: 1, deltas: 0 }, { toolName: UNTIL_CANCELLED, input: "{}" }),
    mcpServers: [{ name: "server", command: process.execPath, args: [SERVER, "bench"] }],
    allowParallelSubagents: true,
    maxParallelSubagents: JOBS.length,
  });

export function openHost(path: string): Trackside {
  const oneCall = v4Model({ steps: 1, deltas: 0 });
  const silent = { ...oneCall, doStream: () => new Promise<never>(() => {}) };
  const agents = [
    new Agent({
      name: "long",
      model: v4Model({ steps: LONG_STEPS, deltas: 0 }),
      tools: [addTool],
      maxSteps: 2 * LONG_STEPS,
    }),
    new Agent({ name: "in a tool", model: oneCall, tools: [hangingTool] }),
    new Agent({ name: "in a model", model: silent, tools: [addTool] }),
    new Agent({ name: "in an approval", model: oneCall, tools: [addTool], hitlTools: [TOOL.name] }),
    parent(),
  ];
  return new Trackside({ store: sqlite(path), agents: agents as never }); // agents of different tools in one list
}
