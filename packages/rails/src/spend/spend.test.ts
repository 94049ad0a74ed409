import { Agent, defineTool, RailAbortError } from "trackside";
import { type ScriptedStep, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES } from "../../test/engines.ts";
import { results } from "../../test/outcomes.ts";
import { builtInRails, type SpendOptions, spend } from "../index.ts";

const again: ScriptedStep = { calls: [{ tool: "again" }], usage: { input: 70, output: 30 } };
const tools = [defineTool({ name: "again", effect: "none", execute: () => "once more" })];
const overloaded = () => Object.assign(new Error("overloaded"), { statusCode: 529 });

describe.each(ENGINES)("on $name", ({ make }) => {
  function run(options: SpendOptions, script: readonly ScriptedStep[], more: { maxTokens?: number } = {}) {
    const model = scriptedModel(script, { loop: true });
    const agent = new Agent({ name: "a", model, tools, maxSteps: 100, rails: [spend(options)], ...more });
    const engine = make({ retry: { retries: 3, baseMs: 1, maxMs: 2 } });
    return { model, ended: agent.run("go", { engine }) };
  }

  test("the ledger holds what was really spent, so the last call that fits is made", async () => {
    // A call is taken to need about 200 tokens and really takes 100: after 18 calls 1,800 are spent, and 200 are left.
    const { model, ended } = run({ tokens: 2_000, outputTokens: 20 }, [again]);
    const { usage, output, stopReason } = await ended;
    expect(stopReason).toBe("skipped");
    expect(output).toMatch(/budget/);
    const spent = model.requests.length * 100;
    expect(usage.input_tokens + usage.output_tokens).toBe(spent);
    expect(spent).toBeLessThanOrEqual(2_000);
    expect(spent).toBeGreaterThan(1_000);
  });

  test("a limit is never overdrawn when max_tokens bounds the answers", async () => {
    for (const tokens of [400, 999, 1_500, 2_222]) {
      const { ended } = run({ tokens }, [again], { maxTokens: 30 });
      const { usage } = await ended;
      expect(usage.input_tokens + usage.output_tokens).toBeLessThanOrEqual(tokens);
    }
  });

  test("a call that may need more than is left is not made, and it is said how much that is", async () => {
    const { model, ended } = run({ tokens: 1_000, onLimit: "abort" }, ["hello"]);
    await expect(ended).rejects.toThrow(
      /may need 4\d\d\d tokens, and of 1000 tokens only 1000 tokens are left/,
    );
    expect(model.requests).toHaveLength(0);
  });

  test("what a failed call had reserved is given back", async () => {
    const flaky: ScriptedStep[] = [{ error: overloaded() }, { error: overloaded() }, again];
    const { model, ended } = run({ tokens: 3_000, outputTokens: 600 }, [
      ...Array(4).fill(flaky).flat(),
      "done",
    ]);
    expect((await ended).output).toBe("done");
    expect(model.requests).toHaveLength(13);
  });

  test("a provider that reports no usage is charged by the estimate", async () => {
    const silent: ScriptedStep = { calls: [{ tool: "again" }], usage: { input: 0, output: 0 } };
    const { model, ended } = run({ tokens: 2_000, outputTokens: 300 }, [silent]);
    await ended;
    expect(model.requests.length).toBeLessThan(6);
    expect(model.requests.length).toBeGreaterThan(2);
  });

  test("money is counted to the billionth of a dollar", async () => {
    const prices = { "scripted:*": { input: 0.1, output: 0.2 } };
    const dear: ScriptedStep = { calls: [{ tool: "again" }], usage: { input: 1_000_000, output: 0 } };
    for (const calls of [1, 3, 10, 30]) {
      // Each costs a dime, and the next is known to cost hardly anything until it is made.
      const { model, ended } = run({ cost: calls / 10, outputTokens: 1, prices, onLimit: "abort" }, [dear]);
      await expect(ended).rejects.toThrow(/only \$0\.0000 are left/);
      expect(model.requests).toHaveLength(calls);
    }
  });

  test("B6 a cost limit on a model without a price is refused at the start, and says what to do", async () => {
    const { model, ended } = run({ cost: 1 }, ["hello"]);
    await expect(ended).rejects.toThrow(/price of scripted:scripted is not known\. Add it to `prices`/);
    await expect(ended).rejects.toThrow(RailAbortError);
    expect(model.requests).toHaveLength(0);
  });

  test("time runs from the start; tools and the model are stopped when it is over", async () => {
    let time = 1_000_000;
    const slow = defineTool({ name: "slow", input: { type: "object" }, execute: () => (time += 4_000) });
    const calls = { calls: [{ tool: "slow" }] };
    const agent = (onLimit: "skip" | "abort") =>
      new Agent({
        name: "a",
        model: scriptedModel([calls], { loop: true }),
        tools: [slow],
        rails: [spend({ seconds: 10, message: "Time is up.", onLimit, now: () => time })],
      });
    const { output, messages } = await agent("skip").run("go", { engine: make() });
    expect(output).toBe("Time is up.");
    expect(results(messages)).toHaveLength(3);
    await expect(agent("abort").run("go", { engine: make() })).rejects.toThrow(
      /time limit of 10 s is reached/,
    );
  });

  test("a call that would start after the time is up does not run", async () => {
    let time = 0;
    const ran: string[] = [];
    const tool = (name: string) =>
      defineTool({
        name,
        exclusive: true,
        execute: () => {
          time += 9_000;
          return ran.push(name);
        },
      });
    const model = scriptedModel([{ calls: ["a", "b", "c"].map((name) => ({ tool: name })) }, "never"]);
    const rails = [spend({ seconds: 10, now: () => time })];
    await new Agent({ name: "a", model, tools: ["a", "b", "c"].map(tool), rails }).run("go", {
      engine: make(),
    });
    expect(ran).toEqual(["a", "b"]);
  });

  test("a serialized agent takes it by name", async () => {
    const json = {
      name: "a",
      model: "openai:gpt-4o",
      max_steps: 100,
      rails: [{ use: "spend", options: { cost: 0.02, outputTokens: 100 } }],
    };
    const agent = Agent.fromJSON(json, { tools, rails: builtInRails });
    const model = scriptedModel([again], { loop: true });
    const { usage, stopReason } = await agent.run("go", {
      engine: make({ models: { "openai:gpt-4o": model } }),
    });
    expect(stopReason).toBe("skipped");
    expect(usage.cost).toBeLessThanOrEqual(0.02);
    expect(usage.cost).toBeGreaterThan(0.01);
  });
});

test("a limit has to be there and above nothing", () => {
  expect(() => spend({})).toThrow(/at least one of tokens, cost and seconds/);
  expect(() => spend({ tokens: 0, cost: -1, secs: 3 } as SpendOptions)).toThrow(/3 problems/);
  expect(() => spend({ cost: 1, prices: { m: { input: 1 } } } as unknown as SpendOptions)).toThrow(
    /prices\.m\.output/,
  );
});
