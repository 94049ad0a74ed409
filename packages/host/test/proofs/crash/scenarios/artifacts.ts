import { Agent, defineRail } from "trackside";
import type { Scenario } from "../../support/scenario.ts";

const LARGE = "a line of a large result\n".repeat(12_000); // above what a row of the artifact store takes whole

/** Results that are put away, first where only another life of their call finds them, then where models read (T4, X3). */
export const ARTIFACTS: readonly Scenario[] = [
  {
    name: "large results of tools that happen once, looked at by a rail",
    agent: (stage) =>
      new Agent({
        name: "archive",
        model: stage.model({ calls: [{ tool: "pay", args: { n: 1 } }, { tool: "look" }] }, "done"),
        tools: [
          stage.tool("pay", "once", { result: () => ({ receipt: LARGE }) }),
          stage.tool("look", "none", { result: () => LARGE }),
        ],
        rails: [defineRail({ name: "looks", on: ["POST_TOOL_CALL"] }, () => undefined)],
      }),
  },
];
