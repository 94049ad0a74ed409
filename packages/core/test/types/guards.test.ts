import {
  type Approval,
  abort,
  ask,
  defineRail,
  type Failure,
  type Hook,
  HookPoint,
  type InvokeInputs,
  type Json,
  type JsonObject,
  type Message,
  type ModelCallInputs,
  type ModelResponse,
  Rail,
  RailAbortError,
  type RailAction,
  type RailContext,
  RetryRequest,
  type RunOptions,
  retry,
  type StopReason,
  skip,
  type ToolCallInputs,
  type ToolResultMetadata,
  TracksideError,
  type Usage,
} from "trackside";
import { describe, expect, expectTypeOf, test } from "vitest";

// What is asserted here is asserted by the type checker: `npm run typecheck` reads this file too.

/** A rail in ten lines: no cast, no generic, no import beyond these. */
class NoBigPayments extends Rail {
  override handle(ctx: RailContext) {
    if (ctx.event !== "PRE_TOOL_CALL" || ctx.inputs.toolName !== "pay") return;
    const amount = Number(ctx.inputs.arguments["amount"]);
    if (amount > 10_000) return abort("far too much");
    if (amount > 1_000) return ask("a large payment");
    if (amount < 0) return skip("nothing to pay");
  }
}

describe("R3 ctx.inputs narrows by event, with no cast", () => {
  test("R3 in a class", () => {
    class All extends Rail {
      override handle(ctx: RailContext) {
        switch (ctx.event) {
          case "START":
            expectTypeOf(ctx.inputs.input).toEqualTypeOf<string>();
            expectTypeOf(ctx.inputs.messages).toEqualTypeOf<readonly Message[]>();
            return;
          case "FINISHED":
            expectTypeOf(ctx.inputs.result).toEqualTypeOf<{
              readonly text: string;
              readonly stopReason: StopReason;
            }>();
            return;
          case "ERROR":
            expectTypeOf(ctx.inputs).toExtend<InvokeInputs>();
            expectTypeOf(ctx.inputs.error).toEqualTypeOf<Failure>();
            return;
          case "PRE_LLM_CALL":
            expectTypeOf(ctx.inputs).toExtend<ModelCallInputs>();
            // @ts-expect-error there is no response yet
            ctx.inputs.response;
            return;
          case "POST_LLM_CALL":
            expectTypeOf(ctx.inputs.response).toEqualTypeOf<ModelResponse>();
            expectTypeOf(ctx.inputs.usage).toEqualTypeOf<Usage>();
            return;
          case "MODEL_ERROR":
            expectTypeOf(ctx.inputs.error).toEqualTypeOf<Failure>();
            return;
          case "PRE_TOOL_CALL":
            expectTypeOf(ctx.inputs).toExtend<ToolCallInputs>();
            expectTypeOf(ctx.inputs.arguments).toEqualTypeOf<JsonObject>();
            // @ts-expect-error there is no result yet
            ctx.inputs.result;
            return;
          case "POST_TOOL_CALL":
            expectTypeOf(ctx.inputs.result).toEqualTypeOf<Json>();
            expectTypeOf(ctx.inputs.metadata).toEqualTypeOf<ToolResultMetadata>();
            return;
          case "TOOL_ERROR":
            expectTypeOf(ctx.inputs.error).toEqualTypeOf<Failure>();
            return;
          case "HANDOFF":
            expectTypeOf(ctx.inputs.to).toEqualTypeOf<string>();
            return;
          case "CONTEXT_WINDOW":
            expectTypeOf(ctx.inputs.limit).toEqualTypeOf<number>();
            return;
          default:
            expectTypeOf(ctx).toEqualTypeOf<never>();
        }
      }
    }
    expect(new All("all").on).toHaveLength(11);
  });

  test("R3 with defineRail it carries what the points in `on` carry, and no more", () => {
    defineRail({ name: "one", on: ["PRE_TOOL_CALL"] }, (ctx) => {
      expectTypeOf(ctx.event).toEqualTypeOf<"PRE_TOOL_CALL">();
      expectTypeOf(ctx.inputs.toolName).toEqualTypeOf<string>();
    });
    defineRail({ name: "two", on: ["PRE_TOOL_CALL", "POST_TOOL_CALL"] }, (ctx) => {
      expectTypeOf(ctx.inputs.toolName).toEqualTypeOf<string>();
      // @ts-expect-error only POST_TOOL_CALL has one
      ctx.inputs.result;
      if (ctx.event === "POST_TOOL_CALL") expectTypeOf(ctx.inputs.result).toEqualTypeOf<Json>();
    });
    defineRail({ name: "all" }, (ctx) => void expectTypeOf(ctx.event).toEqualTypeOf<HookPoint>());
    // @ts-expect-error no such point
    expect(() => defineRail({ name: "bad", on: ["BEFORE"] }, () => {})).toThrow();
  });

  test("R3 the names of the points can be used instead of strings", () => {
    defineRail({ name: "named", on: [HookPoint.POST_LLM_CALL] }, (ctx) => {
      expectTypeOf(ctx.inputs.response.text).toEqualTypeOf<string>();
    });
  });
});

describe("R4 what may be assigned is what is not readonly", () => {
  test("R4 the rest does not compile", () => {
    const rail = defineRail({ name: "writes" }, (ctx) => {
      if (ctx.event === "PRE_TOOL_CALL") {
        ctx.inputs.arguments = {};
        // @ts-expect-error read-only
        ctx.inputs.toolName = "other";
        // @ts-expect-error values are frozen; assign another object
        ctx.inputs.arguments["x"] = 1;
      }
      if (ctx.event === "PRE_LLM_CALL") {
        ctx.inputs.messages = [];
        // @ts-expect-error read-only
        ctx.inputs.tools = [];
        // @ts-expect-error values are frozen; assign another list
        ctx.inputs.messages.push();
      }
      if (ctx.event === "POST_TOOL_CALL") {
        ctx.inputs.result = null;
        // @ts-expect-error read-only
        ctx.inputs.metadata = {};
      }
      // @ts-expect-error read-only
      if (ctx.event === "FINISHED") ctx.inputs.result = {};
      // @ts-expect-error read-only
      ctx.attempt = 2;
    });
    expect(rail.name).toBe("writes");
  });
});

describe("R6 what a rail may return", () => {
  test("R6 nothing, an action or a verdict, now or later", () => {
    defineRail({ name: "a" }, () => {});
    defineRail({ name: "b" }, async () => {});
    defineRail({ name: "c" }, () => "skip");
    defineRail({ name: "d" }, async (ctx) => (ctx.attempt < 2 ? retry({ delay: 1 }) : undefined));
    // @ts-expect-error no such action
    defineRail({ name: "e" }, () => "stop");
    // @ts-expect-error a verdict is made with skip(), retry(), abort() or ask()
    defineRail({ name: "f" }, () => ({ action: "skip" }));
    // @ts-expect-error nor is this one
    defineRail({ name: "g" }, () => true);
    expect(new NoBigPayments("no-big-payments").priority).toBe(50);
  });

  test("R6 verdicts and requests say what they are", () => {
    expectTypeOf(new RetryRequest().maxRetries).toEqualTypeOf<number>();
    expectTypeOf<RailAction>().toEqualTypeOf<"continue" | "skip" | "retry" | "abort">();
    expectTypeOf<RailAbortError["point"]>().toEqualTypeOf<HookPoint>();
    // @ts-expect-error a replacement is JSON
    skip("x", { replacement: new Date() });
    // @ts-expect-error a retry is told in seconds and times
    expect(() => retry({ delay: "1s" })).toThrow(TracksideError);
    expect(RailAbortError).toBeTypeOf("function");
  });
});

describe("R11 a plain hook", () => {
  test("R11 returns nothing, and narrows by its point", () => {
    const hook: Hook<"POST_LLM_CALL"> = ({ inputs }) =>
      void expectTypeOf(inputs.usage).toEqualTypeOf<Usage>();
    // @ts-expect-error to skip, write a rail
    const wrong: Hook<"START"> = () => "skip";
    expect([hook, wrong]).toHaveLength(2);
  });
});

describe("L8 a decision", () => {
  test("L8 is made from a record, and carries a choice", () => {
    const options: RunOptions = {
      approve: (approval) => {
        expectTypeOf(approval).toEqualTypeOf<Approval>();
        return { choice: approval.tool === "pay" ? "reject" : "approve", reason: "no payments" };
      },
    };
    expect(options.approve).toBeTypeOf("function");
  });
});
