import { Agent, defineRail, retry, skip } from "trackside";
import type { Scenario } from "../../support/scenario.ts";

const THREE_PAYMENTS = [1, 2, 3].map((amount) => ({ calls: [{ tool: "pay", args: { amount } }] }));

/** Rails with a memory, and rails that get in the way. What a rail remembers shows in the arguments of calls. */
export const GUARDS: readonly Scenario[] = [
  {
    name: "rails that count in the run's state",
    agent: (stage) =>
      new Agent({
        name: "counting",
        model: stage.model(
          { calls: [{ tool: "pay" }, { tool: "save" }] },
          { calls: [{ tool: "pay" }, { tool: "look" }] },
          "done",
        ),
        tools: [
          stage.tool("pay", "once", { takesMs: 20 }),
          stage.tool("save", "idempotent"),
          stage.tool("look", "none"),
        ],
        rails: [
          defineRail({ name: "answers", on: ["POST_LLM_CALL"] }, (ctx) => ctx.state.add("answers", 1)),
          defineRail({ name: "calls", on: ["POST_TOOL_CALL"] }, (ctx) => {
            ctx.state.add("calls", 1);
            ctx.state.append("tools", ctx.idempotencyKey.replace(ctx.runId, ""));
          }),
          defineRail({ name: "shown", on: ["PRE_TOOL_CALL"] }, (ctx) => {
            if (ctx.event !== "PRE_TOOL_CALL") return;
            const list = ctx.state.get("tools");
            const tools = Array.isArray(list) ? [...list].sort() : [];
            ctx.inputs.arguments = {
              answers: ctx.state.get("answers") ?? 0,
              calls: ctx.state.get("calls") ?? 0,
              tools,
            };
          }),
        ],
      }),
  },
  {
    name: "a limit on the whole run",
    agent: (stage) =>
      new Agent({
        name: "limited",
        model: stage.model(...THREE_PAYMENTS, "done"),
        tools: [stage.tool("pay", "once")],
        rails: [
          defineRail({ name: "limit", on: ["PRE_TOOL_CALL"] }, async (ctx) => {
            const { granted, used } = await ctx.reserve("payments", 1, 2);
            return granted ? undefined : skip(`${used} payments are enough`);
          }),
          defineRail({ name: "audit", on: ["POST_TOOL_CALL", "PRE_LLM_CALL"] }, async (ctx) => {
            await ctx.reserve("looks", 1, 1000);
          }),
        ],
      }),
  },
  {
    name: "rails after a tool that happens once",
    agent: (stage) =>
      new Agent({
        name: "reviewed",
        model: stage.model(
          {
            calls: [
              { tool: "pay", args: { amount: 1 } },
              { tool: "pay", args: { amount: 2 } },
            ],
          },
          "done",
        ),
        tools: [stage.tool("pay", "once", { takesMs: 10 })],
        rails: [
          defineRail({ name: "receipt", on: ["POST_TOOL_CALL"] }, async (ctx) => {
            const { used } = await ctx.reserve("receipts", 1, 10);
            if (ctx.event === "POST_TOOL_CALL")
              ctx.inputs.result = { was: ctx.inputs.result, counted: used <= 2 };
          }),
        ],
      }),
  },
  {
    name: "rails that have a tool run again",
    agent: (stage) =>
      new Agent({
        name: "again",
        model: stage.model({ calls: [{ tool: "save" }, { tool: "pay" }] }, "done"),
        tools: [stage.tool("save", "idempotent"), stage.tool("pay", "once", { takesMs: 10 })],
        rails: [
          defineRail({ name: "twice", on: ["POST_TOOL_CALL"] }, (ctx) =>
            ctx.event === "POST_TOOL_CALL" && ctx.inputs.toolName === "save" && ctx.attempt === 1
              ? retry({ delay: 0.02, reason: "once more" })
              : undefined,
          ),
        ],
      }),
  },
  {
    name: "tools that fail, with and without another try",
    agent: (stage) =>
      new Agent({
        name: "failing",
        model: stage.model(
          { calls: [{ tool: "pay" }, { tool: "save" }] },
          { calls: [{ tool: "pay" }] },
          "done",
        ),
        tools: [
          stage.tool("pay", "once", { takesMs: 10, refuses: ({ callId }) => callId.endsWith(".1.0") }),
          stage.tool("save", "idempotent", { refuses: ({ attempt }) => attempt === 1 }),
        ],
        rails: [
          defineRail({ name: "once-more", on: ["TOOL_ERROR"] }, async (ctx) => {
            ctx.state.add("failures", 1);
            await ctx.reserve("failures", 1, 10);
            return retry({ delay: 0.01, maxRetries: 2 });
          }),
        ],
      }),
  },
];
