import { Agent, abort, defineRail } from "trackside";
import type { Scenario } from "../../support/scenario.ts";

/** Runs that do not end with an answer. */
export const ENDINGS: readonly Scenario[] = [
  {
    name: "a cancel while a tool runs",
    ends: ["cancelled"],
    agent: (stage) =>
      new Agent({
        name: "stopped",
        model: stage.model({ calls: [{ tool: "pay" }] }, { calls: [{ tool: "wait" }] }, "never said"),
        tools: [
          stage.tool("pay", "once"),
          stage.tool("wait", "idempotent", { meanwhile: (context) => stage.cancel(context, "enough") }),
        ],
      }),
  },
  {
    name: "a cancel while somebody is asked",
    ends: ["cancelled"],
    agent: (stage) =>
      new Agent({
        name: "unanswered",
        model: stage.model({ calls: [{ tool: "pay" }, { tool: "wait" }] }, "never said"),
        tools: [
          stage.tool("pay", "once"),
          stage.tool("wait", "idempotent", {
            takesMs: 40,
            meanwhile: (context) => stage.cancel(context, "enough"),
          }),
        ],
        hitlTools: ["pay"],
      }),
  },
  {
    name: "a rail that ends the run",
    ends: ["error"],
    agent: (stage) =>
      new Agent({
        name: "aborted",
        model: stage.model({ calls: [{ tool: "pay" }] }, { calls: [{ tool: "pay" }] }, "never said"),
        tools: [stage.tool("pay", "once")],
        rails: [
          defineRail({ name: "twice", on: ["PRE_TOOL_CALL"] }, (ctx) => {
            if (ctx.state.get("paid") === 1) return abort("it was paid before");
            ctx.state.add("paid", 1);
            return undefined;
          }),
        ],
      }),
  },
];
