import { Agent, defineTool, type JsonObject, RailAbortError } from "trackside";
import { type ScriptedStep, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES } from "../../test/engines.ts";
import { results } from "../../test/outcomes.ts";
import { builtInRails, type LoopBreakerOptions, loopBreaker } from "../index.ts";

type Call = readonly [tool: string, args?: JsonObject];

/** A step with these calls. */
const step = (...calls: readonly Call[]): ScriptedStep => ({
  calls: calls.map(([tool, args = {}]) => ({ tool, args })),
});
const steps = (n: number, make: (i: number) => ScriptedStep) => Array.from({ length: n }, (_, i) => make(i));
const refused = expect.stringMatching(/^rejected: Not run: loop-breaker/);

describe.each(ENGINES)("on $name", ({ make }) => {
  async function run(
    options: LoopBreakerOptions,
    script: readonly ScriptedStep[],
    answers: Record<string, unknown> = {},
  ) {
    const ran: string[] = [];
    const tools = ["a", "b", "c", "wait"].map((name) =>
      defineTool({
        name,
        input: { type: "object" },
        execute: () => {
          ran.push(name);
          const answer = answers[name] ?? ran.length;
          if (answer instanceof Error) throw answer;
          return answer as number;
        },
      }),
    );
    const agent = new Agent({
      name: "looper",
      model: scriptedModel(script),
      tools,
      maxSteps: 50,
      rails: [loopBreaker(options)],
    });
    const { messages, output } = await agent.run("go", { engine: make() });
    return { ran, output, results: results(messages) };
  }

  test("the same call is refused after so many times, however its arguments are ordered", async () => {
    const orders: JsonObject[] = [
      { x: 1, y: { p: 1, q: 2 } },
      { y: { q: 2, p: 1 }, x: 1 },
    ];
    const script = [...steps(5, (i) => step(["a", orders[i % 2] ?? {}])), step(["a", { x: 2 }]), "done"];
    const got = await run({ repeats: 3 }, script);
    expect(got.results).toEqual([1, 2, 3, refused, refused, 4]);
    expect(got.output).toBe("done");
  });

  test("a batch of the same call is counted one by one and warned of once", async () => {
    const batch = step(...Array.from({ length: 50 }, (): Call => ["a"]));
    const got = await run({ repeats: 10, warnings: 1 }, [batch, "done"]);
    expect(got.ran).toHaveLength(10);
    expect(got.results.filter((one) => typeof one === "string")).toHaveLength(40);
    expect(got.output).toBe("done");
  });

  test("a model that does not listen is stopped", async () => {
    await expect(
      run(
        { repeats: 2, warnings: 2 },
        steps(9, () => step(["a"])),
      ),
    ).rejects.toThrow(/"loop-breaker" aborted .*a has been called 2 times.*2 warnings did not help/);
    await expect(
      run(
        { repeats: 1, warnings: 0 },
        steps(2, () => step(["a"])),
      ),
    ).rejects.toThrow(RailAbortError);
  });

  test("two calls in turn are noticed, one after another or side by side", async () => {
    const turns = steps(7, (i) => step([i % 2 ? "b" : "a"]));
    const got = await run({ pingPong: 3, repeats: 99 }, [...turns, step(["c"]), step(["a"]), "done"]);
    // The seventh would go on with it; after something else the same call is welcome again.
    expect(got.results).toEqual([1, 2, 3, 4, 5, 6, refused, 7, 8]);
    const pairs = await run({ pingPong: 2, repeats: 99 }, [...steps(3, () => step(["a"], ["b"])), "done"]);
    expect(pairs.ran).toHaveLength(4);
  });

  test("calls that bring the same as before are no progress, however they are mixed", async () => {
    const script = [...steps(7, (i) => step([["a", "b", "c"][i % 3] ?? ""])), "done"];
    const got = await run({ noProgress: 4, repeats: 99 }, script, { a: "x", b: "y", c: "z" });
    expect(got.results).toEqual(["x", "y", "z", "x", "y", "z", refused]);
  });

  test("the same error or nothing at all is no progress, whatever the arguments", async () => {
    const tries = [...steps(5, (i) => step(["a", { i }])), "done"];
    const failing = await run({ noProgress: 4 }, tries, { a: new Error("no such table") });
    expect(failing.ran).toHaveLength(4);
    expect(failing.results.at(-1)).toEqual(refused);
    const empty = await run({ noProgress: 4 }, tries, { a: [] });
    expect(empty.ran).toHaveLength(4);
  });

  test("work that looks alike is let through", async () => {
    const writing = await run({}, [...steps(20, (i) => step(["a", { row: i }])), "done"], { a: "ok" });
    expect(writing.ran).toHaveLength(20);
    const polling = await run({ repeats: 20 }, [...steps(15, () => step(["a"])), "done"]);
    expect(polling.ran).toHaveLength(15);
    const waiting = await run({ ignore: "wa*" }, [...steps(15, () => step(["wait"])), "done"], {
      wait: "not yet",
    });
    expect(waiting.ran).toHaveLength(15);
  });

  test("a serialized agent takes it by name, and another turn starts afresh", async () => {
    const ran: number[] = [];
    const tool = defineTool({ name: "a", execute: () => ran.push(1) });
    const json = { name: "a", model: "openai:m", rails: [{ use: "loop-breaker", options: { repeats: 1 } }] };
    const agent = Agent.fromJSON(json, { tools: [tool], rails: builtInRails });
    const models = { "openai:m": scriptedModel([step(["a"]), step(["a"]), "done"], { loop: true }) };
    const engine = make({ models });
    const { conversation } = await agent.run("go", { engine });
    expect(ran).toHaveLength(1);
    await agent.run("again", { engine, conversation });
    expect(ran).toHaveLength(2);
  });
});

test("thresholds that would refuse everything are refused", () => {
  expect(() => loopBreaker({ repeats: 0, pingPong: 1, noProgress: 1 })).toThrow(/3 problems/);
  expect(() => loopBreaker({}, { on: ["PRE_TOOL_CALL"] })).toThrow(
    /works at PRE_LLM_CALL, PRE_TOOL_CALL together/,
  );
});
