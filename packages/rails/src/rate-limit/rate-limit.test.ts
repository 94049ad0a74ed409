import { Agent, defineTool, type Engine, RailAbortError } from "trackside";
import { type ManualClock, manualClock, type ScriptedStep, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES } from "../../test/engines.ts";
import { results } from "../../test/outcomes.ts";
import { builtInRails, type RateLimitOptions, rateLimit } from "../index.ts";
import { Buckets } from "./bucket.ts";

let pools = 0;
/** Rates are shared by the process, so every test has its own. */
const pool = () => `test-${pools++}`;
const times = (n: number) => Array.from({ length: n }, () => ({ tool: "search" }));

function searcher(
  clock: ManualClock,
  at: number[],
  options: RateLimitOptions,
  script: readonly ScriptedStep[],
) {
  const search = defineTool({ name: "search", effect: "none", execute: () => at.push(clock.now()) });
  const rails = [rateLimit({ now: clock.now, ...options })];
  return new Agent({ name: "a", model: scriptedModel(script), tools: [search], rails });
}

describe.each(ENGINES)("on $name", ({ make }) => {
  const seconds = (at: readonly number[], start: number) =>
    at.map((time) => (time - start) / 1000).toSorted((a, b) => a - b);

  test("calls that come too early wait for their turn", async () => {
    const clock = manualClock();
    const start = clock.now();
    const at: number[] = [];
    const limits = [{ tools: "search", calls: 10, seconds: 10 }];
    const agent = searcher(clock, at, { limits, pool: pool() }, [{ calls: times(30) }, "done"]);
    const { output } = await clock.finish(agent.run("go", { engine: make({ clock }) }));
    expect(output).toBe("done");
    // Ten at once, then one for each second; a slow engine may be late, never early.
    const got = seconds(at, start);
    expect(got).toHaveLength(30);
    expect(got.slice(0, 11)).toEqual([...Array(10).fill(0), expect.any(Number)]);
    for (const [i, time] of got.entries()) expect(time).toBeGreaterThanOrEqual(Math.max(0, i - 9));
  });

  test("two limits hold together", async () => {
    const clock = manualClock();
    const start = clock.now();
    const at: number[] = [];
    const limits = [
      { tools: "search", calls: 2, seconds: 1 },
      { tools: "*", calls: 4, seconds: 100 },
    ];
    const agent = searcher(clock, at, { limits, pool: pool(), maxWaitSeconds: 30 }, [
      { calls: times(6) },
      "done",
    ]);
    const { messages } = await clock.finish(agent.run("go", { engine: make({ clock }) }));
    const got = seconds(at, start);
    for (const [i, earliest] of [0, 0, 0.5, 1, 25].entries()) expect(got[i]).toBeGreaterThanOrEqual(earliest);
    expect(got).toHaveLength(5);
    expect(results(messages).filter((one) => String(one).includes("4 calls in 100 s"))).toHaveLength(1);
  });

  test("where waiting is not wanted the call is refused, or the run aborted", async () => {
    const clock = manualClock();
    const at: number[] = [];
    const run = (onLimit: "skip" | "abort") => {
      const options = { limits: [{ tools: "search", calls: 10, seconds: 60 }], pool: pool(), onLimit };
      return searcher(clock, at, options, [{ calls: times(50) }, "done"]).run("go", {
        engine: make({ clock }),
      });
    };
    const { messages } = await clock.finish(run("skip"));
    expect(at).toHaveLength(10);
    expect(
      results(messages).filter((one) => /^rejected: .*rate of 10 calls in 60 s/.test(String(one))),
    ).toHaveLength(40);
    await expect(clock.finish(run("abort"))).rejects.toThrow(RailAbortError);
  });

  test("requests to the model wait too, and in another run of the same tenant", async () => {
    const clock = manualClock();
    const start = clock.now();
    const shared = pool();
    const asked: number[] = [];
    const model = scriptedModel(
      [
        () => {
          asked.push(clock.now());
          return "hello";
        },
      ],
      { loop: true },
    );
    const engine: Engine = make({ clock });
    const run = (tenant: string) => {
      const rails = [
        rateLimit({ limits: [{ model: true, calls: 1, seconds: 5 }], pool: shared, now: clock.now }),
      ];
      return new Agent({ name: `agent of ${tenant}`, model, rails }).run("hi", { engine, scope: { tenant } });
    };
    await clock.finish(Promise.all([run("a"), run("a"), run("b"), run("a")]));
    const got = seconds(asked, start);
    for (const [i, earliest] of [0, 0, 5, 10].entries()) expect(got[i]).toBeGreaterThanOrEqual(earliest);
    expect(got.slice(0, 2)).toEqual([0, 0]);
  });

  test("the scope says who shares a rate", async () => {
    const clock = manualClock();
    const at: number[] = [];
    const options = { limits: [{ tools: "*", calls: 1, seconds: 60 }], onLimit: "skip" as const };
    const total = async (by: readonly string[]) => {
      at.length = 0;
      const shared = pool();
      for (const user of ["ann", "bob", "ann"]) {
        const agent = searcher(clock, at, { ...options, by, pool: shared }, [{ calls: times(1) }, "done"]);
        await clock.finish(agent.run("go", { engine: make({ clock }), scope: { user } }));
      }
      return at.length;
    };
    expect(await total(["tenant", "user"])).toBe(2);
    expect(await total(["tenant"])).toBe(1);
    expect(await total([])).toBe(1);
    expect(await total(["session"])).toBe(1);
  });

  test("a serialized agent takes it by name", async () => {
    const options = { limits: [{ tools: "search", calls: 1, seconds: 3600 }], pool: pool(), onLimit: "skip" };
    const json = { name: "a", model: "openai:m", rails: [{ use: "rate-limit", options }] };
    const search = defineTool({ name: "search", execute: () => "found" });
    const agent = Agent.fromJSON(json, { tools: [search], rails: builtInRails });
    const models = { "openai:m": scriptedModel([{ calls: times(3) }, "done"]) };
    const { messages } = await agent.run("go", { engine: make({ models }) });
    expect(results(messages).filter((one) => one === "found")).toHaveLength(1);
  });
});

test("a bucket that nobody uses is forgotten", () => {
  const buckets = new Buckets();
  const rate = { calls: 1, perMs: 1_000, burst: 1 };
  const take = (key: string, now: number) => buckets.take([{ key, rate }], key, now, 0);
  for (let i = 0; i < 2_000; i++) expect(take(`k${i}`, i)).toBe(0);
  expect(take("k1999", 2_100)).toBeUndefined();
  expect(take("k1999", 3_000)).toBe(0);
});

test("a limit is for tools or for the model, and above nothing", () => {
  const wrong = (options: unknown) => () => rateLimit(options as RateLimitOptions);
  expect(wrong({ limits: [{ calls: 1, seconds: 1 }] })).toThrow(/either `tools` or `model: true`/);
  expect(wrong({ limits: [{ tools: "a", model: true, calls: 1, seconds: 1 }] })).toThrow(/either/);
  expect(wrong({ limits: [] })).toThrow(/at least one limit/);
  expect(wrong({ limits: [{ tools: "a", calls: 0, seconds: 0 }], per: 1 })).toThrow(/3 problems/);
});
