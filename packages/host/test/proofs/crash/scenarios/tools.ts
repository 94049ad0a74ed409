import { Agent } from "trackside";
import type { Scenario } from "../../support/scenario.ts";

const LARGE = "a long line of text, ".repeat(600); // more than a row takes: it becomes an artifact

/** Tools with all three effects, alone and beside each other. */
export const TOOLS: readonly Scenario[] = [
  {
    name: "one tool that happens once",
    agent: (stage) =>
      new Agent({
        name: "payer",
        model: stage.model({ calls: [{ tool: "pay", args: { amount: 5 } }] }, "paid"),
        tools: [stage.tool("pay", "once")],
      }),
  },
  {
    name: "three tools, one after the other",
    agent: (stage) =>
      new Agent({
        name: "three",
        model: stage.model(
          { text: "first I look", calls: [{ tool: "look" }] },
          { calls: [{ tool: "save", args: { n: 1 } }] },
          { text: "and pay", calls: [{ tool: "pay", args: { n: 2 } }] },
          "done",
        ),
        tools: [stage.tool("look", "none"), stage.tool("save", "idempotent"), stage.tool("pay", "once")],
      }),
  },
  {
    name: "all three effects at once",
    agent: (stage) =>
      new Agent({
        name: "parallel",
        model: stage.model(
          {
            calls: [
              { tool: "pay", args: { n: 1 } },
              { tool: "look", args: { n: 2 } },
              { tool: "save", args: { n: 3 } },
              { tool: "pay", args: { n: 4 } },
            ],
          },
          "done",
        ),
        tools: [
          stage.tool("look", "none", { takesMs: 12 }),
          stage.tool("save", "idempotent", { takesMs: 24 }),
          stage.tool("pay", "once", { takesMs: 36 }),
        ],
      }),
  },
  {
    name: "results too large for a row",
    input: LARGE,
    agent: (stage) =>
      new Agent({
        name: "large",
        model: stage.model({ text: LARGE, calls: [{ tool: "fetch" }] }, LARGE),
        tools: [stage.tool("fetch", "once", { result: () => ({ page: LARGE }) })],
      }),
  },
];
