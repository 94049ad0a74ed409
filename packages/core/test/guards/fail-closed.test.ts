import {
  Agent,
  defineRail,
  HookError,
  type HookPoint,
  localEngine,
  type Rail,
  type RailContext,
  type RailReturn,
  TracksideError,
} from "trackside";
import { manualClock, type Script, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, expectPaired, failure, play, tracked, verdicts } from "./stage.ts";

const GUARDED: readonly HookPoint[] = [
  ...(["START", "PRE_LLM_CALL", "POST_LLM_CALL", "PRE_TOOL_CALL", "POST_TOOL_CALL"] as const),
  ...(["TOOL_ERROR", "MODEL_ERROR", "FINISHED", "ERROR"] as const),
];

/** A run that passes `point`. */
function passing(point: HookPoint, rails: readonly Rail[]) {
  const { tool, ran } = tracked("t", point === "TOOL_ERROR" ? { fails: true } : {});
  const script: Script =
    point === "MODEL_ERROR" || point === "ERROR"
      ? [{ error: new Error("dead") }]
      : [{ text: "hm", calls: [{ tool: "t" }] }, "done"];
  const model = scriptedModel(script);
  return { agent: new Agent({ name: "a", model, tools: [tool], rails }), ran, model };
}

describe("R10 a rail that fails aborts, naming itself", () => {
  test.each(GUARDED)("R10 at %s, when it throws", async (point) => {
    const { agent, ran, model } = passing(point, [
      defineRail({ name: "shaky", on: [point] }, () => {
        throw new Error("no luck");
      }),
    ]);
    const { error, result, events } = await play(agent, { engine: localEngine({ retry: { retries: 0 } }) });

    expect(error).toMatchObject({
      name: "RailAbortError",
      railName: "shaky",
      point,
      reason: "failed: no luck",
    });
    expect(verdicts(events)).toEqual([`shaky:abort@${point}`]);
    expect(ran).toHaveLength(["POST_TOOL_CALL", "TOOL_ERROR", "FINISHED"].includes(point) ? 1 : 0);
    if (point === "START" || point === "PRE_LLM_CALL") expect(model.requests).toEqual([]);
    expectPaired(result, events);
  });

  test.each(GUARDED)("R10 at %s, when it times out: that is never an allow", async (point) => {
    const clock = manualClock();
    const { agent, ran } = passing(point, [
      defineRail({ name: "stuck", on: [point], timeoutMs: 5000 }, () => new Promise<void>(() => {})),
    ]);
    const begun = clock.now();
    const engine = localEngine({ clock, retry: { retries: 0 } });
    const { error, result, events } = await clock.finish(play(agent, { engine }));

    expect(error).toMatchObject({ railName: "stuck", point, reason: "timed out after 5000 ms" });
    expect(ran).toHaveLength(["POST_TOOL_CALL", "TOOL_ERROR", "FINISHED"].includes(point) ? 1 : 0);
    expect(clock.now() - begun).toBeGreaterThanOrEqual(5000);
    expect(clock.now() - begun).toBeLessThan(8000);
    expectPaired(result, events);
  });

  test("R10 a rail has 30 s unless it says otherwise, and is never cut short", async () => {
    for (const [ms, ok] of [
      [29_900, true],
      [33_000, false],
    ] as const) {
      const clock = manualClock();
      const rails = [
        defineRail(
          { name: "slow", on: ["START"] },
          () => new Promise<void>((resolve) => clock.after(ms, resolve)),
        ),
      ];
      const agent = new Agent({ name: "a", model: scriptedModel(["hi"]), rails });
      const { error } = await clock.finish(play(agent, { engine: localEngine({ clock }) }));
      expect(error === undefined).toBe(ok);
    }
  });

  test("R10 a short timeout does not fire early because another dispatch's clock was running", async () => {
    const clock = manualClock();
    const engine = localEngine({ clock });
    const agent = new Agent({
      name: "a",
      model: scriptedModel(["hi"], { loop: true }),
      rails: [
        defineRail(
          { name: "slow", on: ["START"], timeoutMs: 500 },
          () => new Promise<void>((done) => clock.after(20, done)),
        ),
      ],
    });
    for (let i = 0; i < 60; i++) {
      const { error } = await clock.finish(play(agent, { engine }));
      expect(error).toBeUndefined();
    }
  });

  test("R10 what it changed before it failed is discarded", async () => {
    const seen: unknown[] = [];
    const { agent, ran } = passing("PRE_TOOL_CALL", [
      defineRail({ name: "shaky", on: ["PRE_TOOL_CALL"], priority: 1, onError: "continue" }, (ctx) => {
        ctx.inputs.arguments = { n: 99 };
        ctx.extra["left"] = true;
        ctx.state.set("left", true);
        throw new Error("no luck");
      }),
      defineRail({ name: "next", on: ["PRE_TOOL_CALL"], priority: 2 }, (ctx) => {
        seen.push(ctx.inputs.arguments, ctx.extra["left"], ctx.state.get("left"));
      }),
    ]);
    const { error } = await play(agent);

    expect(error).toBeUndefined();
    expect(seen).toEqual([{}, undefined, undefined]);
    expect(ran).toEqual([0]);
  });

  test("R10 `onError: continue` lets an observer fail, and records it", async () => {
    for (const point of GUARDED) {
      const { agent } = passing(point, [
        defineRail({ name: "observer", on: [point], onError: "continue" }, () => {
          throw new Error("no disk");
        }),
      ]);
      const { error, events } = await play(agent, { engine: localEngine({ retry: { retries: 0 } }) });
      expect(error?.code).not.toBe("rail_aborted");
      expect(new Set(verdicts(events))).toEqual(new Set([`observer:continue@${point}`]));
    }
  });

  test("R10 an observer that hangs is left behind, and what it does later counts for nothing", async () => {
    const clock = manualClock();
    let late: unknown;
    const { tool, ran } = tracked("t");
    const rails = [
      defineRail(
        { name: "observer", on: ["PRE_TOOL_CALL"], priority: 1, onError: "continue", timeoutMs: 1000 },
        async (ctx) => {
          const { inputs } = ctx;
          await new Promise<void>((resolve) => clock.after(60_000, resolve));
          try {
            inputs.arguments = { n: 99 };
          } catch (error) {
            late = error;
          }
          return "abort" as const;
        },
      ),
      defineRail({ name: "next", on: ["PRE_TOOL_CALL"], priority: 2 }, () => {}),
    ];
    const agent = new Agent({
      name: "a",
      model: scriptedModel([{ calls: [{ tool: "t" }] }, "done"]),
      tools: [tool],
      rails,
    });
    const { error } = await clock.finish(play(agent, { engine: localEngine({ clock }) }));
    await clock.advance(120_000);

    expect(error).toBeUndefined();
    expect(ran).toEqual([0]);
    expect(String(late)).toContain('The rail "observer" used ctx at PRE_TOOL_CALL after it had returned');
  });
});

describe("R10 a wrong return says what to return", () => {
  test.each([
    ["true", true, "returned true;"],
    ["null", null, "returned null;"],
    ["a misspelt action", "Abort", 'returned "Abort";'],
    ["a plain object", { action: "skip" }, "returned an object;"],
    ["the context", "ctx", "returned a DispatchContext;"],
    ["ask without a reason's function", "ask", 'returned "ask";'],
  ])("R10 %s", async (_what, value, says) => {
    const rails = [
      defineRail(
        { name: "odd", on: ["START"] },
        (ctx) => (value === "ctx" ? ctx : value) as unknown as RailReturn,
      ),
    ];
    const error = await failure(new Agent({ name: "a", model: scriptedModel(["hi"]), rails }).run("Go"));

    expect(error).toMatchObject({ code: "rail_aborted", railName: "odd" });
    expect(error.message).toContain(says);
    expect(error.message).toContain("return nothing, skip(), retry(), abort(), ask() or a RailAction");
  });

  test.each(ENGINES)("R10 on the %s engine too", async (_name, make) => {
    const rails = [defineRail({ name: "odd", on: ["PRE_TOOL_CALL"] }, () => "yes" as never)];
    const { agent, ran } = passing("PRE_TOOL_CALL", rails);
    const { error } = await play(agent, { engine: make() });

    expect(error).toMatchObject({ railName: "odd" });
    expect(ran).toEqual([]);
  });
});

describe("R10 ctx after handle has returned", () => {
  const uses: [string, (ctx: RailContext) => unknown][] = [
    ["event", (ctx) => ctx.event],
    ["inputs", (ctx) => ctx.inputs],
    ["extra", (ctx) => ctx.extra],
    ["state", (ctx) => ctx.state],
    ["scope", (ctx) => ctx.scope],
    ["signal", (ctx) => ctx.signal],
    ["agent", (ctx) => ctx.agent],
    ["attempt", (ctx) => ctx.attempt],
  ];
  test.each(uses)("R10 ctx.%s fails, naming the rail and what to do", async (_what, use) => {
    let kept: RailContext | undefined;
    const rails = [
      defineRail({ name: "keeper", on: ["START"] }, (ctx) => {
        kept = ctx;
      }),
    ];
    await new Agent({ name: "a", model: scriptedModel(["hi"]), rails }).run("Go");

    const late = () => kept && use(kept);
    expect(late).toThrow(TracksideError);
    expect(late).toThrow(
      'The rail "keeper" used ctx at START after it had returned. Await everything that needs ctx before you return.',
    );
  });

  test("R10 parts of it that were kept fail too", async () => {
    const late: (() => unknown)[] = [];
    const rails = [
      defineRail({ name: "keeper", on: ["START"] }, ({ inputs, extra, state, reserve, model }) => {
        late.push(
          () => inputs.input,
          () => {
            inputs.input = "late";
          },
          () => extra["x"],
          () => {
            extra["x"] = 1;
          },
          () => state.get("x"),
          () => state.set("x", 1),
          () => reserve("x", 1, 1),
          () => model({ prompt: "?" }),
        );
      }),
    ];
    await new Agent({ name: "a", model: scriptedModel(["hi"]), rails }).run("Go");

    for (const use of late) {
      await expect(async () => use()).rejects.toThrow(
        'The rail "keeper" used ctx at START after it had returned',
      );
    }
  });

  test("R10 a promise that was not awaited cannot change what the next rail sees", async () => {
    const seen: string[] = [];
    let failed: unknown;
    const rails = [
      defineRail({ name: "hasty", on: ["START"], priority: 1 }, (ctx) => {
        void Promise.resolve()
          .then(() => {
            ctx.inputs.input = "late";
          })
          .catch((error: unknown) => {
            failed = error;
          });
      }),
      defineRail({ name: "next", on: ["START"], priority: 2 }, async (ctx) => {
        await new Promise((resolve) => setImmediate(resolve));
        seen.push(ctx.inputs.input);
      }),
    ];
    await new Agent({ name: "a", model: scriptedModel(["hi"]), rails }).run("on time");

    expect(seen).toEqual(["on time"]);
    expect(String(failed)).toContain('"hasty" used ctx');
  });
});

describe("R10 a plain hook that fails", () => {
  test("R10 ends the run with a HookError that names point and hook, when it throws or hangs", async () => {
    const clock = manualClock();
    for (const hook of [
      function clumsy() {
        throw new Error("no luck");
      },
      function clumsy() {
        return new Promise<void>(() => {});
      },
    ]) {
      const agent = new Agent({ name: "a", model: scriptedModel(["hi"]) });
      agent.hookManager.add("PRE_LLM_CALL", hook);
      const { error } = await clock.finish(play(agent, { engine: localEngine({ clock }) }));
      expect(error).toBeInstanceOf(HookError);
      expect(error).toMatchObject({ point: "PRE_LLM_CALL", hook: "clumsy" });
    }
  });
});
