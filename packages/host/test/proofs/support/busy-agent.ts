import { Agent, defineRail, type Tool } from "trackside";
import type { Stage } from "./stage.ts";

/** How often each run does something that must not happen twice. */
export const ONCE_CALLS = 4;

/** An agent that does a bit of everything: effects of every kind, beside each other, guarded, and some with approval. */
export function busyAgent(stage: Stage): Agent<readonly Tool[]> {
  return new Agent({
    name: "busy",
    model: stage.model(
      {
        calls: [
          { tool: "pay", args: { n: 1 } },
          { tool: "look", args: { n: 2 } },
        ],
      },
      { calls: [{ tool: "save", args: { n: 3 } }] },
      {
        calls: [
          { tool: "pay", args: { n: 4 } },
          { tool: "pay", args: { n: 5 } },
          { tool: "save", args: { n: 6 } },
        ],
      },
      { calls: [{ tool: "sign", args: { n: 7 } }] },
      "done",
    ),
    tools: [
      stage.tool("look", "none", { takesMs: 60 }),
      stage.tool("save", "idempotent", { takesMs: 120 }),
      stage.tool("pay", "once", { takesMs: 180 }),
      stage.tool("sign", "once", { takesMs: 90 }),
    ],
    hitlTools: ["sign"],
    rails: [
      defineRail({ name: "seen", on: ["POST_TOOL_CALL"] }, (ctx) => ctx.state.add("calls", 1)),
      defineRail({ name: "limit", on: ["PRE_LLM_CALL"] }, async (ctx) => {
        await ctx.reserve("requests", 1, 1000);
      }),
    ],
  });
}
