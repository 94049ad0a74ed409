import {
  Agent,
  defineRail,
  type HookPoint,
  localEngine,
  type Rail,
  type RetryRequest,
  retry,
  type ToolEffect,
} from "trackside";
import { manualClock, type Script, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, expectPaired, failure, outputs, play, results, tracked, verdicts } from "./stage.ts";

const CALL = { calls: [{ tool: "t" }] };

/** A run in which a rail at `on` asks for a retry every time. `times` is how often it was asked. */
function retrying(
  on: HookPoint,
  request: Partial<RetryRequest>,
  options: { effect?: ToolEffect; fails?: true } = {},
) {
  const { tool, ran } = tracked("t", { effect: "idempotent", ...options });
  const attempts: number[] = [];
  const rails = [
    defineRail({ name: "again", on: [on] }, (ctx) => {
      attempts.push(ctx.attempt);
      return retry(request);
    }),
  ];
  const script: Script =
    on === "MODEL_ERROR" ? [{ error: new Error("dead") }] : [{ text: "thinking", ...CALL }];
  const model = scriptedModel(script, { loop: true });
  return { agent: new Agent({ name: "a", model, tools: [tool], rails }), ran, attempts, model };
}

const ONCE: readonly HookPoint[] = [
  "START",
  "PRE_LLM_CALL",
  "POST_LLM_CALL",
  "PRE_TOOL_CALL",
  "POST_TOOL_CALL",
];

describe.each(ENGINES)("R8 retries stop at exactly maxRetries, on the %s engine", (_name, make) => {
  for (const maxRetries of [0, 1, 3]) {
    test.each(ONCE)(
      `R8 at %s: ${maxRetries} more, then the run is aborted in the rail's name`,
      async (point) => {
        const { agent, attempts, ran, model } = retrying(point, { maxRetries, reason: "not yet" });
        const { error, result, events } = await play(agent, { engine: make() });

        expect(attempts).toEqual(Array.from({ length: maxRetries + 1 }, (_, i) => i + 1));
        expect(error).toMatchObject({ name: "RailAbortError", railName: "again", point });
        expect(error?.message).toContain("its retries are used up: not yet");
        expect(model.requests).toHaveLength(
          point === "POST_LLM_CALL" ? maxRetries + 1 : point.includes("TOOL") ? 1 : 0,
        );
        expect(ran).toHaveLength(point === "POST_TOOL_CALL" ? maxRetries + 1 : 0);
        expectPaired(result, events);
      },
    );

    test(`R8 at TOOL_ERROR: ${maxRetries} more, then the original error stands and the run goes on`, async () => {
      const { tool, ran } = tracked("t", { effect: "idempotent", fails: true });
      const rails = [defineRail({ name: "again", on: ["TOOL_ERROR"] }, () => retry({ maxRetries }))];
      const agent = new Agent({ name: "a", model: scriptedModel([CALL, "done"]), tools: [tool], rails });
      const { result, error } = await play(agent, { engine: make() });

      expect(error).toBeUndefined();
      expect(ran).toHaveLength(maxRetries + 1);
      expect(outputs(result)).toEqual(["tool_failed"]);
      expect(results(result)[0]?.metadata.attempts).toBe(maxRetries + 1);
    });

    test(`R8 at MODEL_ERROR: ${maxRetries} more, then the original error stands`, async () => {
      const { agent, model } = retrying("MODEL_ERROR", { maxRetries });
      const { error } = await play(agent, { engine: make({ retry: { retries: 0 } }) });

      expect(model.requests).toHaveLength(maxRetries + 1);
      expect(error?.code).toBe("model_failed");
    });
  }
});

describe("R8 what a retry is", () => {
  test("R8 before the operation it dispatches again, on the inputs as they were before the first rail", async () => {
    const seen: unknown[] = [];
    const rails: Rail[] = [
      defineRail({ name: "grow", on: ["PRE_TOOL_CALL"], priority: 1 }, (ctx) => {
        seen.push(ctx.inputs.arguments);
        ctx.inputs.arguments = { n: Number(ctx.inputs.arguments["n"]) + 1 };
      }),
      defineRail({ name: "again", on: ["PRE_TOOL_CALL"], priority: 2 }, (ctx) =>
        ctx.attempt < 3 ? retry({ maxRetries: 5 }) : undefined,
      ),
    ];
    const { tool, ran } = tracked("t");
    const model = scriptedModel([{ calls: [{ tool: "t", args: { n: 1 } }] }, "done"]);
    await new Agent({ name: "a", model, tools: [tool], rails }).run("Go");

    expect(seen).toEqual([{ n: 1 }, { n: 1 }, { n: 1 }]);
    expect(ran).toEqual([2]);
  });

  test("R8 after the operation it runs again, with its PRE rails", async () => {
    const points: string[] = [];
    const watch = defineRail(
      { name: "watch", priority: 1 },
      (ctx) => void points.push(`${ctx.event} ${ctx.attempt}`),
    );
    const again = defineRail({ name: "again", on: ["POST_LLM_CALL"], priority: 2 }, (ctx) =>
      ctx.inputs.response.text === "bad" ? retry({ maxRetries: 3 }) : undefined,
    );
    const model = scriptedModel(["bad", "bad", "good"]);
    const { result } = await play(new Agent({ name: "a", model, rails: [watch, again] }));

    expect(result.output).toBe("good");
    expect(points).toEqual([
      "START 1",
      ...[
        "PRE_LLM_CALL 1",
        "POST_LLM_CALL 1",
        "PRE_LLM_CALL 2",
        "POST_LLM_CALL 2",
        "PRE_LLM_CALL 3",
        "POST_LLM_CALL 3",
      ],
      "FINISHED 1",
    ]);
    expect(result.usage.model_calls).toBe(3);
    expect(result.messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  test("R8 waits as long as it said, in seconds", async () => {
    const clock = manualClock();
    const at: number[] = [];
    const rails = [
      defineRail({ name: "again", on: ["START"] }, () => {
        at.push(clock.now());
        return at.length < 3 ? retry({ delay: 2.5, maxRetries: 5 }) : undefined;
      }),
    ];
    const agent = new Agent({ name: "a", model: scriptedModel(["hi"]), rails });
    await clock.finish(agent.run("Go", { engine: localEngine({ clock }) }));

    expect(at.map((time) => time - (at[0] ?? 0))).toEqual([0, 2500, 5000]);
  });

  test("R8 each rail has retries of its own, for each operation", async () => {
    const { tool, ran } = tracked("t", { effect: "idempotent" });
    const counts = { a: 0, b: 0 };
    const flaky = (name: "a" | "b", times: number) =>
      defineRail({ name, on: ["POST_TOOL_CALL"] }, () => {
        counts[name] += 1;
        return counts[name] % (times + 1) === 0 ? undefined : retry({ maxRetries: times });
      });
    const twice = { calls: [{ tool: "t" }] };
    const model = scriptedModel([twice, twice, "done"]);
    const { error } = await play(new Agent({ name: "x", model, tools: [tool], rails: [flaky("a", 2)] }));

    expect(error).toBeUndefined();
    expect(ran).toHaveLength(6); // three attempts at each of two calls

    const both = await play(
      new Agent({
        name: "x",
        model: scriptedModel([twice, "done"]),
        tools: [tool],
        rails: [
          defineRail({ name: "p", on: ["POST_TOOL_CALL"], priority: 1 }, (ctx) =>
            ctx.attempt === 1 ? retry() : undefined,
          ),
          defineRail({ name: "q", on: ["POST_TOOL_CALL"], priority: 2 }, (ctx) =>
            ctx.attempt === 2 ? retry() : undefined,
          ),
        ],
      }),
    );
    expect(both.error).toBeUndefined();
    expect(verdicts(both.events)).toEqual(["p:retry@POST_TOOL_CALL", "q:retry@POST_TOOL_CALL"]);
  });

  test("R8 retries of rails are apart from those of the provider", async () => {
    const busy = Object.assign(new Error("busy"), {
      name: "AI_APICallError",
      statusCode: 503,
      isRetryable: true,
    });
    const rails = [defineRail({ name: "again", on: ["MODEL_ERROR"] }, () => retry({ maxRetries: 1 }))];
    const model = scriptedModel([{ error: busy }], { loop: true });
    const engine = localEngine({ retry: { retries: 2, baseMs: 1, maxMs: 1 } });
    await failure(new Agent({ name: "a", model, rails }).run("Go", { engine }));

    expect(model.requests).toHaveLength(6); // three by the provider's count, twice by the rail's
  });
});

describe.each(ENGINES)("R8 a tool whose effect happens once, on the %s engine", (_name, make) => {
  test("R8 is not run again by a POST_TOOL_CALL retry: that one is exhausted at once", async () => {
    const { agent, ran, attempts } = retrying("POST_TOOL_CALL", { maxRetries: 5 }, { effect: "once" });
    const { error, result, events } = await play(agent, { engine: make() });

    expect(ran).toHaveLength(1);
    expect(attempts).toEqual([1]);
    expect(error).toMatchObject({ railName: "again", point: "POST_TOOL_CALL" });
    expectPaired(result, events);
  });

  test("R8 is not run again by a TOOL_ERROR retry: the error stands", async () => {
    const { tool, ran } = tracked("t", { effect: "once", fails: true });
    const rails = [defineRail({ name: "again", on: ["TOOL_ERROR"] }, () => retry({ maxRetries: 5 }))];
    const agent = new Agent({ name: "a", model: scriptedModel([CALL, "done"]), tools: [tool], rails });
    const { error, result } = await play(agent, { engine: make() });

    expect(error).toBeUndefined();
    expect(ran).toHaveLength(1);
    expect(outputs(result)).toEqual(["tool_failed"]);
  });

  test("R8 may be retried before it started", async () => {
    const { tool, ran } = tracked("t", { effect: "once" });
    const rails = [
      defineRail({ name: "again", on: ["PRE_TOOL_CALL"] }, (ctx) =>
        ctx.attempt < 4 ? retry({ maxRetries: 3 }) : undefined,
      ),
    ];
    const agent = new Agent({ name: "a", model: scriptedModel([CALL, "done"]), tools: [tool], rails });
    await play(agent, { engine: make() });

    expect(ran).toHaveLength(1);
  });
});

describe("R8 nobody is billed unasked", () => {
  test.each([
    ["throws", () => Promise.reject(new Error("no luck"))],
    ["returns rubbish", () => ({ action: "maybe" }) as never],
    ["aborts", () => "abort" as const],
    ["skips", () => "skip" as const],
  ])("R8 a POST_LLM_CALL rail that %s never has the model called again", async (_what, answer) => {
    const rails = [defineRail({ name: "post", on: ["POST_LLM_CALL"] }, answer)];
    const model = scriptedModel(["one", "two"]);
    const { result } = await play(new Agent({ name: "a", model, rails }));

    expect(model.requests).toHaveLength(1);
    expect(result.usage.model_calls).toBe(1);
  });
});
