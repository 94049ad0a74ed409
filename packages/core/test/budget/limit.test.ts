import {
  Agent,
  type AgentConfigError,
  defineRail,
  type Engine,
  type EngineOptions,
  localEngine,
  type Message,
} from "trackside";
import { type ScriptedReply, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { budgetOf, reserveOf } from "../../src/context/budget.ts";
import { TokenCounter } from "../../src/local/token-counter.ts";
import { ENGINES, eventsOf, failure, play } from "../guards/stage.ts";
import { countOf, isSummary, words } from "./talk.ts";

const TOO_LONG = { error: new Error("This model's maximum context length is 4096 tokens") };

/** What a request with one question comes to, by the count that decides. */
function sizeOf(question: string): number {
  const counter = new TokenCounter("scripted:scripted");
  const message: Message = { id: "", role: "user", parts: [{ type: "text", text: question }] };
  return counter.request({ system: "", tools: [] }) + counter.message(message);
}

describe("B3 how much is allowed", () => {
  test("B3 it is exactly n percent of the window, for every n", () => {
    for (const window of [100, 1_000, 8_192, 200_000, 1_047_576]) {
      for (let n = 0; n <= 100; n++) {
        const { definition } = new Agent({ name: "a", model: "openai:x", budgetAwareness: `limit:${n}` });
        const allowed = budgetOf(definition, { window, output: 10 });
        expect(allowed).toBe(Number((BigInt(window) * BigInt(n)) / 100n));
        expect(reserveOf(definition, allowed, false)).toBe(0);
        expect(reserveOf(definition, allowed, true)).toBeLessThanOrEqual(allowed / 2);
      }
    }
  });

  test("B3 a request of exactly that size is sent, one token more is not", async () => {
    const question = words(200);
    const size = sizeOf(question);
    for (const [window, stop, sent] of [
      [size, "answered", 1],
      [size - 1, "budget", 0],
    ] as const) {
      const model = scriptedModel(["fine"]);
      const agent = new Agent({
        name: "a",
        model,
        contextWindowTokens: window,
        budgetAwareness: "limit:100",
      });
      const result = await agent.run(question, { engine: localEngine() });
      expect([result.stopReason, model.requests.length]).toEqual([stop, sent]);
    }
  });

  test("B3 the definition's window goes before every table", async () => {
    const modelTable = { "scripted:scripted": { window: 100_000, output: 100 } };
    const model = scriptedModel(["fine"], { loop: true });
    const config = { name: "a", model, budgetAwareness: "limit:100" };
    const engine = localEngine({ modelTable });
    expect((await new Agent(config).run(words(500), { engine })).stopReason).toBe("answered");
    const small = new Agent({ ...config, contextWindowTokens: 300 });
    expect((await small.run(words(500), { engine })).stopReason).toBe("budget");
  });

  test("B3 whoever a turn may be handed to has to have a window too", async () => {
    const other = new Agent({ name: "other", model: scriptedModel([]), budgetAwareness: "per-message" });
    const agent = new Agent({ name: "a", model: scriptedModel([]), handoffs: [other] });
    const error = (await failure(agent.run("Go"))) as AgentConfigError;
    expect(error.name).toBe("AgentConfigError");
    expect(error.issues.map(({ path }) => path)).toEqual(["context_window_tokens"]);
    expect(error.message).toContain('agent "other"');
  });

  test("B3 the planner's own window counts for the planner", async () => {
    const modelTable = { "scripted:small": { window: 100, output: 10 } };
    const planningModel = scriptedModel([], { modelId: "small" });
    const model = scriptedModel(["fine"]);
    const agent = new Agent({
      name: "a",
      model,
      planningModel,
      planningEnabled: true,
      contextWindowTokens: 10_000,
      budgetAwareness: "limit:100",
    });
    const { events, result } = await play(agent, { engine: localEngine({ modelTable }) });
    expect(result.text).toBe("fine");
    expect(eventsOf(events, "plan")[0]?.failure?.code).toBe("budget_exceeded");
    expect(planningModel.requests).toEqual([]);
  });
});

describe("B3 B6 what is believed of a provider", () => {
  test("B6 a count above our own brings the limit nearer", async () => {
    const question = words(500);
    const size = sizeOf(question);
    // Reported as twice as much: the second request, hardly larger, is above what the first was below.
    for (const [factor, stop] of [
      [1, "answered"],
      [2, "budget"],
    ] as const) {
      const usage = { input: size * factor, output: 1 };
      const model = scriptedModel([{ calls: [{ tool: "gone" }], usage }, "fine"]);
      const agent = new Agent({ name: "a", model, contextWindowTokens: 1_000, budgetAwareness: "limit:80" });
      expect((await agent.run(question)).stopReason).toBe(stop);
    }
  });

  test("B6 R4 a count is held against what was sent, not against what rails made smaller", async () => {
    const question = words(700);
    const short = words(100);
    let isFirst = true;
    const shorten = defineRail({ name: "shorten", on: ["PRE_LLM_CALL"] }, (ctx) => {
      if (isFirst) ctx.inputs.messages = [{ id: "x", role: "user", parts: [{ type: "text", text: short }] }];
      isFirst = false;
    });
    // The provider counts as we do. Had its count been taken for the whole question, the rest would seem half as large.
    const usage = { input: sizeOf(short), output: 1 };
    const model = scriptedModel([{ text: words(500, "said"), calls: [{ tool: "gone" }], usage }, "never"]);
    const agent = new Agent({
      name: "a",
      model,
      rails: [shorten],
      contextWindowTokens: 1_000,
      budgetAwareness: "limit:100",
    });
    expect((await agent.run(question)).stopReason).toBe("budget");
    expect(model.requests.length).toBe(1);
  });
});

describe.each(ENGINES)("B5 a request that is too long for the provider, %s", (_, makeEngine) => {
  const engineOf = (options: EngineOptions = {}): Engine => makeEngine({ ...options, retry: { retries: 0 } });

  /** A conversation of some length, and who goes on with it. */
  async function crowded(engine: Engine, script: readonly (string | ScriptedReply)[], config: object = {}) {
    const before = new Agent({ name: "a", model: scriptedModel([words(300, "said")], { loop: true }) });
    let { conversation } = await before.run(words(300, "asked"), { engine });
    for (let i = 0; i < 3; i++)
      ({ conversation } = await before.run(words(300, "asked"), { engine, conversation }));
    let at = 0;
    const model = scriptedModel([(request) => (isSummary(request) ? "SUMMARY" : (script[at++] ?? ""))], {
      loop: true,
    });
    const agent = new Agent({ name: "a", model, ...config });
    return { agent, model, conversation };
  }

  test("B5 a limit that was kept does not stand in its way", async () => {
    const engine = engineOf();
    const config = { contextWindowTokens: 3_000, budgetAwareness: "limit:60" };
    const { agent, model, conversation } = await crowded(engine, [TOO_LONG, "fine"], config);
    const { result, events } = await play(agent, { engine, conversation });
    expect(result.text).toBe("fine");
    const asked = model.requests.filter((request) => !isSummary(request)).map(countOf);
    expect(asked.length).toBe(2);
    expect(asked[0]).toBeLessThanOrEqual(1_800);
    expect(asked[1]).toBeLessThanOrEqual((asked[0] ?? 0) * 0.75);
    // Before the turn for the limit, in its step for the provider.
    const steps = eventsOf(events, "context").map(({ seq }) => seq);
    const started = eventsOf(events, "step")[0]?.seq ?? 0;
    expect(steps.some((seq) => seq < started) && steps.some((seq) => seq > started)).toBe(true);
  });

  test("B3 B5 in one step: room for the budget, then once more because the provider says so", async () => {
    const engine = engineOf();
    const config = { contextWindowTokens: 3_000, budgetAwareness: "limit:90", maxSteps: 3 };
    const call = { text: words(1_200, "note"), calls: [{ tool: "gone" }], usage: { input: 0, output: 0 } };
    const { agent, model, conversation } = await crowded(engine, [call, TOO_LONG, "fine"], config);
    const { result, events } = await play(agent, { engine, conversation });
    expect(result.text).toBe("fine");
    expect(eventsOf(events, "error").map(({ failure: { code } }) => code)).toEqual(["model_failed"]);
    const asked = model.requests.filter((request) => !isSummary(request));
    expect(asked.length).toBe(3);
  });

  test("B5 what can go goes, even where that may not be enough", async () => {
    const engine = engineOf();
    const { agent, model, conversation } = await crowded(engine, [TOO_LONG, "fine"]);
    const question = words(9_000, "much");
    const { result } = await play(agent, { engine, conversation }, question);
    expect(result.text).toBe("fine");
    const last = model.requests.at(-1);
    expect(last?.prompt.map(({ role }) => role)).toEqual(["user"]);
    expect(model.requests.filter(isSummary)).toEqual([]);
  });

  test("B5 X8 not once something was shown, and no fallback is asked instead", async () => {
    const engine = engineOf();
    const broken = { text: "I will", errorAfter: 5, ...TOO_LONG };
    const fallback = scriptedModel([], { modelId: "fallback" });
    const { agent, model, conversation } = await crowded(engine, [broken, "never"], {
      fallbackModels: [fallback],
    });
    const { error, events } = await play(agent, { engine, conversation });
    expect(error?.message).toContain("maximum context length");
    expect(model.requests.length).toBe(1);
    expect(fallback.requests).toEqual([]);
    expect(eventsOf(events, "text").map(({ text, partial }) => [text, partial])).toEqual([["I will", true]]);
  });

  test("B5 a CONTEXT_WINDOW rail that refuses leaves the error as it is", async () => {
    const engine = engineOf();
    const on = ["CONTEXT_WINDOW"] as const;
    const keep = defineRail({ name: "keep", on }, () => "skip");
    const { agent, model, conversation } = await crowded(engine, [TOO_LONG, TOO_LONG], { rails: [keep] });
    const { error } = await play(agent, { engine, conversation });
    expect(error?.message).toContain("maximum context length");
    expect(model.requests.length).toBe(2);
    expect(JSON.stringify(model.requests[1]?.prompt)).toBe(JSON.stringify(model.requests[0]?.prompt));
  });
});
