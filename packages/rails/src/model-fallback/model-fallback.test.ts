import { Agent, RunError } from "trackside";
import { manualClock, type ScriptedStep, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES } from "../../test/engines.ts";
import { builtInRails, type ModelFallbackOptions, modelFallback } from "../index.ts";

const status = (statusCode: number) => Object.assign(new Error(`status ${statusCode}`), { statusCode });
const down: ScriptedStep = { error: status(503) };
const times = (n: number, step: ScriptedStep) => Array<ScriptedStep>(n).fill(step);

describe.each(ENGINES)("on $name", ({ make }) => {
  async function run(
    options: ModelFallbackOptions,
    script: readonly ScriptedStep[],
    second?: readonly ScriptedStep[],
  ) {
    const clock = manualClock();
    const start = clock.now();
    const model = scriptedModel(script);
    const fallbackModels = second ? [scriptedModel(second)] : [];
    const rails = [modelFallback({ random: () => 1, ...options })];
    const agent = new Agent({ name: "a", model, fallbackModels, rails });
    const engine = make({ clock, retry: { retries: 1, baseMs: 100, maxMs: 100 } });
    const result = await clock.finish(agent.run("go", { engine }));
    return { ...result, requests: model.requests.length, waited: (clock.now() - start) / 1000 };
  }

  test("after the provider gave up it is tried again later, exactly as often as said", async () => {
    const options = { retries: 2, delaySeconds: 30, factor: 2, message: "Sorry." };
    // Two requests each time: the engine's own retry, then ours after 30 s and 60 s.
    const late = await run(options, [...times(4, down), "hello"]);
    expect(late).toMatchObject({ output: "hello", requests: 5, stopReason: "answered" });
    expect(late.waited).toBeGreaterThanOrEqual(90);
    const never = await run(options, times(6, down));
    expect(never).toMatchObject({ output: "Sorry.", requests: 6, stopReason: "skipped" });
  });

  test("fallback models come first", async () => {
    const { output, requests } = await run({ message: "Sorry." }, times(2, down), [down, "from the second"]);
    expect(output).toBe("from the second");
    expect(requests).toBe(2);
  });

  test("what does not get better by waiting is answered at once", async () => {
    const { output, requests, waited } = await run({ retries: 5, message: "Sorry." }, [
      { error: status(401) },
    ]);
    expect(output).toBe("Sorry.");
    expect(requests).toBe(1);
    expect(waited).toBeLessThan(5);
  });

  test("without a message, and for other failures, the error stands", async () => {
    await expect(run({ retries: 1 }, times(4, down))).rejects.toThrow(RunError);
    await expect(run({ message: "Sorry.", only: "rate_limited" }, times(2, down))).rejects.toThrow(
      /status 503/,
    );
    expect((await run({ message: "Sorry.", only: ["overloaded"] }, times(2, down))).output).toBe("Sorry.");
  });

  test("what had already been shown in part is retracted", async () => {
    const cut: ScriptedStep = { text: "I was about to say", error: status(503), errorAfter: 5 };
    const model = scriptedModel([cut]);
    const agent = new Agent({ name: "a", model, rails: [modelFallback({ message: "Sorry." })] });
    const seen: string[] = [];
    for await (const event of agent.stream("go", { engine: make({ retry: { retries: 0 } }) })) {
      if (event.type === "text" || event.type === "text_delta" || event.type === "message_retracted")
        seen.push(event.type === "message_retracted" ? "retracted" : event.text);
    }
    expect(seen).toEqual(["I", " was", "retracted", "Sorry."]);
    expect((await run({ retries: 1, message: "Sorry." }, [cut, "I say hello"])).output).toBe("I say hello");
  });

  test("a serialized agent takes it by name", async () => {
    const rails = [{ use: "model-fallback", options: { message: "Later." } }];
    const agent = Agent.fromJSON({ name: "a", model: "openai:m", rails }, { rails: builtInRails });
    const engine = make({ models: { "openai:m": scriptedModel([down]) }, retry: { retries: 0 } });
    expect((await agent.run("go", { engine })).output).toBe("Later.");
  });
});

test("options are checked", () => {
  expect(() => modelFallback({})).toThrow(/`retries`, a `message`, or both/);
  expect(() => modelFallback({ message: "x", only: "overlaoded" } as never)).toThrow(/only/);
});
