import {
  Agent,
  type Approve,
  abort,
  cont,
  defineRail,
  type HookPoint,
  localEngine,
  memberHook,
  parallel,
  postHook,
  preHook,
} from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, expectPaired, pause, play, tracked } from "./stage.ts";

const POINTS: readonly HookPoint[] = [
  ...(["START", "PRE_LLM_CALL", "POST_LLM_CALL", "PRE_TOOL_CALL", "POST_TOOL_CALL"] as const),
  ...(["TOOL_ERROR", "MODEL_ERROR", "FINISHED", "ERROR"] as const),
];

function passing(point: HookPoint, answer: () => Promise<never>) {
  const { tool } = tracked("t", point === "TOOL_ERROR" ? { fails: true } : {});
  const dead = point === "MODEL_ERROR" || point === "ERROR";
  const model = scriptedModel(dead ? [{ error: new Error("dead") }] : [{ calls: [{ tool: "t" }] }, "done"]);
  const rails = [defineRail({ name: "r", on: [point], timeoutMs: 5000 }, answer)];
  return new Agent({ name: "a", model, tools: [tool], rails });
}

/** A promise that is rejected long after anybody waits for it. */
const late = (clock: ReturnType<typeof manualClock>) =>
  new Promise<never>((_, reject) => clock.after(300_000, () => reject(new Error("too late"))));

describe.each(ENGINES)("R10 nothing is left behind, on the %s engine", (_name, make) => {
  test.each(POINTS)(
    "R10 a rail at %s that fails long after it was given up is nobody's problem",
    async (point) => {
      const clock = manualClock();
      const agent = passing(point, () => late(clock));
      const { error } = await clock.finish(play(agent, { engine: make({ clock, retry: { retries: 0 } }) }));
      await clock.advance(600_000); // an unhandled rejection would fail this file

      expect(error).toMatchObject({ railName: "r", point });
      expect(clock.pending).toBe(0);
    },
  );

  test("H3 nor is a hook, a member or an approver", async () => {
    const clock = manualClock();
    const hooks = [
      { pre: [preHook({ name: "h", timeoutMs: 100 }, () => late(clock))] },
      { pre: [parallel(memberHook({ name: "h", timeoutMs: 100 }, () => late(clock)))] },
      { post: [postHook({ name: "h", timeoutMs: 100 }, () => late(clock))] },
    ];
    for (const one of hooks) {
      const agent = new Agent({ name: "a", model: scriptedModel(["hi"]), hooks: one });
      await clock.finish(play(agent, { engine: make({ clock }) }));
    }
    const { tool, ran } = tracked("t");
    const model = scriptedModel([{ calls: [{ tool: "t" }] }, "done"]);
    const agent = new Agent({ name: "a", model, tools: [tool], hitlTools: ["t"], hitlTimeoutSeconds: 5 });
    await clock.finish(play(agent, { engine: make({ clock }), approve: () => late(clock) }));
    await clock.advance(600_000);

    expect(ran).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("X5 a cancel does not wait for a rail, a hook or an approver that hangs", async () => {
    const never = () => new Promise<never>(() => {});
    const { tool } = tracked("t");
    const gated = new Agent({
      name: "a",
      model: scriptedModel([{ calls: [{ tool: "t" }] }, "done"]),
      tools: [tool],
      hitlTools: ["t"],
    });
    const agents: [string, Agent<never, never>, Approve?][] = [
      ...POINTS.map((point): [string, Agent<never, never>] => [point, passing(point, never) as never]),
      [
        "pre",
        new Agent({
          name: "a",
          model: scriptedModel(["x"]),
          hooks: { pre: [preHook({ name: "h" }, never)] },
        }) as never,
      ],
      [
        "post",
        new Agent({
          name: "a",
          model: scriptedModel(["x"]),
          hooks: { post: [postHook({ name: "h" }, never)] },
        }) as never,
      ],
      ["approval", gated as never, never],
    ];
    for (const [what, agent, approve] of agents) {
      const stop = new AbortController();
      setTimeout(() => stop.abort("enough"), 15);
      const engine = make({ retry: { retries: 0 } });
      const run = await play(agent, { engine, signal: stop.signal, ...(approve ? { approve } : {}) });

      expect(run.error?.name, what).toBe("RunCancelledError");
      expectPaired(run.result, run.events);
    }
  });

  test("A2 a hundred runs at once of one agent, with one rail, never see each other", async () => {
    const rail = defineRail({ name: "own" }, async (ctx) => {
      const who = String(ctx.scope["who"]);
      if (ctx.event === "START") ctx.state.set("who", who);
      ctx.extra["who"] = who;
      await pause(1);
      expect(ctx.state.get("who")).toBe(who);
      expect(ctx.extra["who"]).toBe(who);
      if (ctx.event === "PRE_TOOL_CALL") expect((await ctx.reserve("calls", 1, 1)).granted).toBe(true);
    });
    const { tool, ran } = tracked("t");
    const calls = { calls: [{ tool: "t" }] };
    const model = scriptedModel(
      (function* () {
        for (;;)
          yield ({ prompt }: { prompt: readonly { role: string }[] }) =>
            prompt.some(({ role }) => role === "tool") ? "done" : calls;
      })(),
    );
    const agent = new Agent({ name: "a", model, tools: [tool], rails: [rail] });
    const engine = make();
    const runs = Array.from({ length: 100 }, (_, who) => agent.run("Go", { engine, scope: { who } }));

    expect((await Promise.all(runs)).every(({ output }) => output === "done")).toBe(true);
    expect(ran).toHaveLength(100);
  });

  test("R9 a conversation is free again after an abort at any point", async () => {
    for (const point of POINTS) {
      const agent = passing(point, async () => abort("no") as never);
      const { result } = await play(agent, { engine: make({ retry: { retries: 0 } }) });
      const next = new Agent({ name: "b", model: scriptedModel(["hello"]) });
      const { output } = await next.run("Next", { engine: make(), conversation: result.conversation });
      expect(output, point).toBe("hello");
    }
  });
});

describe("A2 an agent stays as it was made", () => {
  test("R1 a list of rails that is changed later changes nothing", async () => {
    const rails = [defineRail({ name: "no", on: ["START"] }, () => abort("no"))];
    const pre = [preHook({ name: "p" }, (turn) => cont(turn))];
    const agent = new Agent({ name: "a", model: scriptedModel(["hi"]), rails, hooks: { pre } });
    rails.length = 0;
    pre.length = 0;
    const { error } = await play(agent, { engine: localEngine() });

    expect(error).toMatchObject({ railName: "no" });
    expect(agent.pipeline.pre).toHaveLength(1);
  });
});
