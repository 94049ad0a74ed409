import { Agent, ask, defineRail, defineTool } from "trackside";
import type { Scenario } from "../../support/scenario.ts";

/** Approvals: approved, rejected, edited, and answered by a client. */
export const PEOPLE: readonly Scenario[] = [
  {
    name: "a tool that asks while it runs",
    agent: (stage) =>
      new Agent({
        name: "asking",
        model: stage.model({ calls: [{ tool: "pay", args: { amount: 1 } }] }, "done"),
        tools: [
          stage.tool("pay", "once", {
            meanwhile: async ({ elicit }) => {
              await elicit({ message: "Really?", schema: { type: "object" } });
            },
          }),
        ],
      }),
    decide: () => ({ choice: "accept", by: "ann", response: {} }),
  },
  {
    name: "approve, reject and edit",
    agent: (stage) =>
      new Agent({
        name: "gated",
        model: stage.model(
          {
            calls: [
              { tool: "pay", args: { amount: 1 } },
              { tool: "pay", args: { amount: 2 } },
              { tool: "pay", args: { amount: 3 } },
            ],
          },
          "done",
        ),
        tools: [stage.tool("pay", "once", { takesMs: 8 })],
        hitlTools: ["pay"],
      }),
    decide: ({ arguments: args }) => {
      if (args?.["amount"] === 1) return { choice: "approve", by: "ann" };
      if (args?.["amount"] === 2) return { choice: "reject", by: "ben", reason: "too much" };
      return { choice: "approve", by: "ann", editedArguments: { amount: 30 } };
    },
  },
  {
    name: "a rail changes the call and has a human asked, who changes it again",
    agent: (stage) =>
      new Agent({
        name: "asked",
        model: stage.model({ calls: [{ tool: "pay", args: { amount: 500 } }] }, "done"),
        tools: [stage.tool("pay", "once")],
        rails: [
          defineRail({ name: "cap", on: ["PRE_TOOL_CALL"] }, (ctx) => {
            if (ctx.event !== "PRE_TOOL_CALL" || Number(ctx.inputs.arguments["amount"]) <= 50)
              return undefined;
            ctx.inputs.arguments = { amount: 100 };
            return ask("large");
          }),
          defineRail({ name: "watch", on: ["POST_TOOL_CALL"] }, (ctx) => ctx.state.add("paid", 1)),
        ],
      }),
    decide: () => ({ choice: "approve", by: "ann", editedArguments: { amount: 40 } }),
  },
  {
    name: "a client runs the tool",
    agent: (stage) =>
      new Agent({
        name: "client",
        model: stage.model({ calls: [{ tool: "locate" }, { tool: "look" }] }, "there"),
        tools: [
          defineTool({ name: "locate", executor: "client", input: { type: "object" } }),
          stage.tool("look", "none"),
        ],
      }),
    decide: () => ({ choice: "submit", by: "browser", response: { city: "Oslo" } }),
  },
];
