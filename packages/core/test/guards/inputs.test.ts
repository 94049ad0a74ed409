import {
  Agent,
  defineRail,
  type HookPoint,
  localEngine,
  type PointInputs,
  type RailContext,
} from "trackside";
import { type Script, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { PAY, payer } from "./payer.ts";
import { eventsOf, play } from "./stage.ts";

/** What each point was given, copied while its rail ran. */
async function given(script: Script) {
  const found = new Map<HookPoint, PointInputs[HookPoint]>();
  const around: Pick<RailContext, "agent" | "scope" | "turnRef" | "attempt" | "idempotencyKey">[] = [];
  const watch = defineRail({ name: "watch" }, (ctx) => {
    found.set(ctx.event, { ...ctx.inputs });
    const { agent, scope, turnRef, attempt, idempotencyKey } = ctx;
    around.push({ agent, scope, turnRef, attempt, idempotencyKey });
    expect(ctx.signal.aborted).toBe(false);
  });
  const { agent } = payer(script, [watch]);
  const engine = localEngine({ retry: { retries: 0 } });
  const { stream } = await play(agent, { engine, scope: { user: "u1" } }, "Pay Ann");
  return { found, around, stream };
}

describe("R3 what each point carries", () => {
  test("R3 START, the model's points, the tool's points and FINISHED", async () => {
    const { found } = await given([PAY, { text: "Paid.", usage: { input: 7, output: 2 } }]);

    expect(found.get("START")).toEqual({ input: "Pay Ann", messages: [], steered: false });
    expect(found.get("PRE_LLM_CALL")).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant" }, { role: "tool" }],
      tools: [{ name: "pay", description: "Pays" }, { name: "broken" }],
    });
    expect(found.get("POST_LLM_CALL")).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant" }, { role: "tool" }],
      response: { text: "Paid.", toolCalls: [] },
      usage: { input_tokens: 7, output_tokens: 2 },
    });
    expect(found.get("PRE_TOOL_CALL")).toEqual({ toolName: "pay", arguments: { to: "Ann", amount: 5 } });
    expect(found.get("POST_TOOL_CALL")).toMatchObject({
      toolName: "pay",
      arguments: { to: "Ann", amount: 5 },
      result: { paid: 5, to: "Ann" },
      metadata: { status: "success" },
    });
    expect(found.get("FINISHED")).toEqual({
      input: "Pay Ann",
      result: { text: "Paid.", stopReason: "answered" },
    });
  });

  test("R3 errors of a tool, of a model and of the run", async () => {
    const { found } = await given([{ calls: [{ tool: "broken" }] }, { error: new Error("dead") }]);

    expect(found.get("TOOL_ERROR")).toEqual({
      toolName: "broken",
      arguments: {},
      error: { code: "tool_failed", message: "no luck" },
    });
    expect(found.get("MODEL_ERROR")).toMatchObject({
      messages: [{}, {}, {}],
      error: { code: "model_failed" },
    });
    expect(found.get("ERROR")).toMatchObject({ input: "Pay Ann", error: { code: "model_failed" } });
  });

  test("R3 the agent, the scope, the turn, the attempt and a key of its own are there at every point", async () => {
    const { around, stream } = await given([PAY, "Paid."]);

    expect(around).toHaveLength(8);
    for (const ctx of around) {
      expect(ctx.agent).toMatchObject({ name: "a", tools: ["pay", "broken"] });
      expect(ctx).toMatchObject({
        scope: { tenant: "default", user: "u1" },
        turnRef: stream.turnRef,
        attempt: 1,
      });
    }
    expect(new Set(around.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(8);
  });

  test("R3 a rail that asks a model gets its answer, and the run is billed for it", async () => {
    const judge = defineRail({ name: "judge", on: ["START"] }, async (ctx) => {
      expect(await ctx.model({ system: "Answer yes or no.", prompt: ctx.inputs.input, maxTokens: 5 })).toBe(
        "yes",
      );
    });
    const model = scriptedModel([
      { text: "yes", usage: { input: 3, output: 1 } },
      { text: "hi", usage: { input: 10, output: 5 } },
    ]);
    const { result, events } = await play(new Agent({ name: "a", model, rails: [judge] }));

    expect(model.requests[0]?.prompt).toHaveLength(2);
    expect(result.usage).toMatchObject({ input_tokens: 13, output_tokens: 6, model_calls: 2 });
    expect(eventsOf(events, "usage").map((event) => event.model)).toEqual(["rails", "scripted:scripted"]);
  });
});
