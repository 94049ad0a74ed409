import { Agent } from "trackside";
import type { Scenario } from "../../support/scenario.ts";

const PAGE = "a page full of words ".repeat(60);

/** What is beside the conversation: plans, and how a log that grew too long is sent. */
export const CONTEXT: readonly Scenario[] = [
  {
    name: "a plan, for which the planner looks something up",
    agent: (stage) =>
      new Agent({
        name: "planned",
        model: stage.model({ calls: [{ tool: "pay", args: { n: 2 } }] }, "done"),
        planningModel: stage.model(
          { calls: [{ tool: "pay", args: { n: 1 }, id: "plan-0" }] },
          "1. Pay\n2. Say so",
        ),
        planningEnabled: true,
        tools: [stage.tool("pay", "once", { takesMs: 10 })],
      }),
  },
  {
    name: "a log that is summarised on the way",
    agent: (stage) =>
      new Agent({
        name: "compacted",
        model: stage.summarised(
          ...[1, 2, 3, 4].map((n) => ({ calls: [{ tool: "read", args: { n } }] })),
          { calls: [{ tool: "pay", args: { n: 5 } }] },
          "done",
        ),
        tools: [
          stage.tool("read", "none", { result: (args) => `${JSON.stringify(args)} ${PAGE}` }),
          stage.tool("pay", "once"),
        ],
        contextWindowTokens: 4_000,
        budgetAwareness: "limit:20",
      }),
  },
];
