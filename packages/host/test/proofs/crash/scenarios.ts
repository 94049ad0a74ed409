import { Agent } from "trackside";
import type { Scenario } from "../support/scenario.ts";

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "one tool that happens once",
    agent: (stage) =>
      new Agent({
        name: "payer",
        model: stage.model({ calls: [{ tool: "pay", args: { amount: 5 } }] }, "paid"),
        tools: [stage.tool("pay", "once")],
      }),
  },
];
