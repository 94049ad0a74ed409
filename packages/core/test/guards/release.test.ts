import { Agent, abort, defineRail, localEngine, Rail, RailManager, retry, skip } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, type Event, eventsOf, play, seen, shown } from "./stage.ts";

class Watcher extends Rail {
  override handle(): void {}
}

const heldBy = (events: readonly Event[]) => eventsOf(events, "status")[0]?.held_by;
const guard = defineRail({ name: "guard", on: ["POST_LLM_CALL"] }, () => {});

describe("R15 what holds streamed text is said on the first event", () => {
  test.each([
    ["a rail on POST_LLM_CALL", { rails: [guard] }, ["guard"]],
    ["a rail on every point", { rails: [new Watcher("watcher")] }, ["watcher"]],
    ["no rail there", { rails: [defineRail({ name: "r", on: ["START"] }, () => {})] }, undefined],
    ["a rail in shadow", { rails: [new Watcher("w", { mode: "shadow" })] }, undefined],
    ["an observer", { rails: [new Watcher("w", { onError: "continue" })] }, undefined],
    ["nobody", {}, undefined],
    ["`live`", { rails: [guard], streamRelease: "live" }, undefined],
    ["`after_rails` without rails", { streamRelease: "after_rails" }, ["stream_release"]],
    ["`after_rails` with one", { rails: [guard], streamRelease: "after_rails" }, ["guard"]],
  ] as const)("R15 %s", async (_what, config, expected) => {
    const { events } = await play(
      new Agent({ name: "a", model: scriptedModel(["one two three"]), ...config }),
    );

    expect(events[0]?.type).toBe("status");
    expect(heldBy(events)).toEqual(expected);
    const deltas = events.filter(({ type }) => type === "text_delta");
    expect(deltas).toHaveLength(expected === undefined ? 3 : 1);
    expect(shown(events)).toBe("one two three");
  });

  test("R15 a plain hook and a manager wired by hand hold it too", async () => {
    const hooked = new Agent({ name: "a", model: scriptedModel(["hi"]) });
    hooked.hookManager.add("POST_LLM_CALL", function audit() {});
    expect(heldBy((await play(hooked)).events)).toEqual(["audit"]);

    const wired = new Agent({ name: "a", model: scriptedModel(["hi"]) });
    wired.hookManager.add("POST_LLM_CALL", new RailManager().add(guard).hookFor("POST_LLM_CALL"));
    expect(heldBy((await play(wired)).events)).toEqual(["guard"]);
  });
});

describe.each(ENGINES)(
  "R15 no delta leaves before POST_LLM_CALL has passed, on the %s engine",
  (_name, make) => {
    test("R15 however the text and the reasoning are cut", async () => {
      for (const chunk of [1, 2, 3, 7, "whole"] as const) {
        const order: string[] = [];
        const slow = defineRail({ name: "slow", on: ["POST_LLM_CALL"] }, async () => {
          await new Promise((resolve) => setTimeout(resolve, 2));
          order.push("passed");
        });
        const model = scriptedModel([{ reasoning: "let me think", text: "one two" }], { chunk });
        const agent = new Agent({ name: "a", model, rails: [slow] });
        const started = make().start(agent, "Go", {}, (event) => {
          if (event.type.endsWith("_delta")) order.push(event.type);
        });
        await started.result;
        expect(order).toEqual(["passed", "reasoning_delta", "text_delta"]);
      }
    });

    test("R15 what is released is what the rails left", async () => {
      const redact = defineRail({ name: "redact", on: ["POST_LLM_CALL"] }, (ctx) => {
        const { text, toolCalls } = ctx.inputs.response;
        ctx.inputs.response = { text: text.replace("SECRET", "***"), toolCalls };
      });
      const model = scriptedModel(["it is SECRET, really"], { chunk: 1 });
      const { events } = await play(new Agent({ name: "a", model, rails: [redact] }), { engine: make() });

      expect(shown(events)).toBe("it is ***, really");
      expect(seen(events)).not.toContain("SECRET");
      expect(eventsOf(events, "message_retracted")).toEqual([]);
    });

    test.each([
      ["abort", () => abort("no")],
      ["skip", () => skip("no")],
      ["retry", () => retry({ maxRetries: 0 })],
      ["throw", () => Promise.reject(new Error("broke"))],
    ])("R15 with a %s nothing of it is ever shown, for any cut", async (_what, answer) => {
      for (const chunk of [1, 4, "whole"] as const) {
        const rails = [defineRail({ name: "guard", on: ["POST_LLM_CALL"] }, answer)];
        const model = scriptedModel([{ reasoning: "SECRET plan", text: "the SECRET itself" }], { chunk });
        const { events, result } = await play(new Agent({ name: "a", model, rails }), { engine: make() });

        expect(seen(events)).not.toContain("SECRET");
        expect(JSON.stringify(result.messages)).not.toContain("SECRET");
        expect(events.some(({ type }) => type.endsWith("_delta"))).toBe(false);
      }
    });

    test("R15 a failure or a cancel drops what was held, and does not keep it as partial", async () => {
      const broken = scriptedModel([{ text: "the SECRET itself", errorAfter: 5, error: new Error("broke") }]);
      const failed = await play(new Agent({ name: "a", model: broken, rails: [guard] }), {
        engine: make({ retry: { retries: 0 } }),
      });
      expect(failed.error?.code).toBe("model_failed");
      expect(seen(failed.events)).not.toContain("SECRET");

      const hanging = scriptedModel([{ text: "the SECRET itself", hangAfter: 6 }]);
      const stop = new AbortController();
      setTimeout(() => stop.abort("enough"), 20);
      const cancelled = await play(new Agent({ name: "a", model: hanging, rails: [guard] }), {
        engine: make(),
        signal: stop.signal,
      });
      expect(cancelled.error?.name).toBe("RunCancelledError");
      expect(seen(cancelled.events)).not.toContain("SECRET");
      expect(JSON.stringify(cancelled.result.messages)).not.toContain("SECRET");
    });

    test.each([
      ["abort", () => abort("too much"), 0],
      ["skip", () => skip("too much", { replacement: "no" }), 1],
      ["retry", () => retry({ maxRetries: 0, reason: "too much" }), 0],
    ])("R15 with `live` a %s retracts what was shown", async (_what, answer, texts) => {
      const rails = [defineRail({ name: "guard", on: ["POST_LLM_CALL"] }, answer)];
      const model = scriptedModel(["one two"]);
      const agent = new Agent({ name: "a", model, rails, streamRelease: "live" });
      const { events, stream } = await play(agent, { engine: make() });

      expect(shown(events)).toBe("one two");
      expect(eventsOf(events, "message_retracted")).toMatchObject([
        { message_id: `${stream.runId}.main.1.m1`, attempt: 1, reason: "too much" },
      ]);
      expect(eventsOf(events, "text")).toHaveLength(texts);
    });

    test("R15 with `live` a rewrite retracts, and the text that follows is the rewritten one", async () => {
      const rails = [
        defineRail({ name: "guard", on: ["POST_LLM_CALL"] }, (ctx) => {
          ctx.inputs.response = { text: "three", toolCalls: [] };
        }),
      ];
      const agent = new Agent({ name: "a", model: scriptedModel(["one two"]), rails, streamRelease: "live" });
      const { events } = await play(agent, { engine: make() });
      const order = events.flatMap(({ type }) =>
        type === "text" || type === "message_retracted" ? [type] : [],
      );

      expect(order).toEqual(["message_retracted", "text"]);
      expect(eventsOf(events, "text")[0]?.text).toBe("three");
    });
  },
);

describe("R15 with `live`, after a failure", () => {
  test.each([
    ["retry", () => retry(), "again"],
    ["skip", () => skip("sorry", { replacement: "closed" }), "closed"],
  ])("R15 a MODEL_ERROR %s retracts the part that was shown", async (_what, answer, text) => {
    const rails = [defineRail({ name: "help", on: ["MODEL_ERROR"] }, answer)];
    const model = scriptedModel([{ text: "par tial", errorAfter: 5, error: new Error("broke") }, "again"]);
    const { events, result } = await play(new Agent({ name: "a", model, rails }), {
      engine: localEngine({ retry: { retries: 0 } }),
    });

    expect(eventsOf(events, "message_retracted")).toHaveLength(1);
    expect(eventsOf(events, "text").map((event) => event.text)).toEqual([text]);
    expect(result.messages).toHaveLength(2);
  });

  test("R15 nothing is retracted when rails let it stand", async () => {
    const agent = new Agent({
      name: "a",
      model: scriptedModel(["one two"]),
      rails: [guard],
      streamRelease: "live",
    });
    expect(eventsOf((await play(agent)).events, "message_retracted")).toEqual([]);
  });
});
