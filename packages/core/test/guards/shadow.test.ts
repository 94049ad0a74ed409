import {
  Agent,
  abort,
  ask,
  defineRail,
  type HookPoint,
  localEngine,
  Rail,
  type RailReturn,
  retry,
  skip,
} from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, eventsOf, play, tracked, verdicts } from "./stage.ts";

const POINTS: readonly HookPoint[] = [
  "START",
  "PRE_LLM_CALL",
  "POST_LLM_CALL",
  "PRE_TOOL_CALL",
  "POST_TOOL_CALL",
  "FINISHED",
];
const ANSWERS: [string, () => RailReturn][] = [
  ["skip", () => skip("no", { replacement: "other" })],
  ["retry", () => retry({ maxRetries: 5 })],
  ["abort", () => abort("no")],
  ["ask", () => ask("may I?")],
];

function agentOf(rails: readonly Rail[]) {
  const { tool, ran } = tracked("t");
  const model = scriptedModel([{ text: "hm", calls: [{ tool: "t", args: { n: 1 } }] }, "done"]);
  return { agent: new Agent({ name: "a", model, tools: [tool], rails }), ran, model };
}

/** What a run is to everybody but whoever reads its rail events. */
function outcome(run: Awaited<ReturnType<typeof play>>): unknown {
  const { messages, output, stopReason, usage, steps } = run.result;
  const plain = JSON.stringify({
    messages,
    output,
    stopReason,
    usage,
    steps,
    events: run.events.filter(({ type }) => type !== "rail" && type !== "tool_input_delta"),
  });
  return plain
    .replaceAll(run.stream.runId, "run")
    .replaceAll(run.stream.turnRef, "turn")
    .replaceAll(
      /"(at|seq|after_seq|started_at|completed_at|execution_time_ms|duration_ms|passed)":\d+,?/g,
      "",
    );
}

describe.each(ENGINES)("R13 a rail in shadow, on the %s engine", (_name, make) => {
  test("R13 changes nothing, whatever it says at whatever point, and is recorded", async () => {
    const without = outcome(await play(agentOf([]).agent, { engine: make() }));
    for (const point of POINTS) {
      for (const [action, answer] of ANSWERS) {
        const wrong =
          (action === "ask" && point !== "PRE_TOOL_CALL") || (action === "retry" && point === "FINISHED");
        const rail = defineRail({ name: "ghost", on: [point], mode: "shadow" }, answer);
        const { agent, ran } = agentOf([rail]);
        const run = await play(agent, { engine: make() });

        expect(outcome(run), `${action} at ${point}`).toBe(without);
        expect(ran).toEqual([1]);
        const expected = `ghost:${wrong ? "abort" : action}@${point} (shadow)`;
        expect(new Set(verdicts(run.events)), `${action} at ${point}`).toEqual(new Set([expected]));
      }
    }
  });

  test("R13 runs on a copy: inputs, extra, state and counters of the others stay as they are", async () => {
    const found: unknown[] = [];
    const ghost = defineRail(
      { name: "ghost", on: ["PRE_TOOL_CALL"], priority: 1, mode: "shadow" },
      async (ctx) => {
        ctx.inputs.arguments = { n: 99 };
        expect(ctx.inputs.arguments).toEqual({ n: 99 });
        ctx.extra["x"] = "ghost";
        ctx.state.set("x", "ghost");
        expect(ctx.state.get("x")).toBe("ghost");
        expect((await ctx.reserve("calls", 1, 1)).granted).toBe(true);
      },
    );
    const real = defineRail({ name: "real", on: ["PRE_TOOL_CALL"], priority: 2 }, async (ctx) => {
      found.push(
        ctx.inputs.arguments,
        ctx.extra["x"],
        ctx.state.get("x"),
        (await ctx.reserve("calls", 1, 1)).granted,
      );
    });
    const { agent, ran } = agentOf([ghost, real]);
    const { events } = await play(agent, { engine: make() });

    expect(found).toEqual([{ n: 1 }, undefined, undefined, true]);
    expect(ran).toEqual([1]);
    expect(eventsOf(events, "rail")[0]?.records).toMatchObject([
      { rail: "ghost", action: "continue", reason: "would have changed the inputs or state", shadow: true },
    ]);
  });

  test("R13 sees what the rails before it changed", async () => {
    const found: unknown[] = [];
    const real = defineRail({ name: "real", on: ["PRE_TOOL_CALL"], priority: 1 }, (ctx) => {
      ctx.inputs.arguments = { n: 5 };
      ctx.extra["x"] = "real";
    });
    const ghost = defineRail({ name: "ghost", on: ["PRE_TOOL_CALL"], priority: 2, mode: "shadow" }, (ctx) => {
      found.push(ctx.inputs.arguments, ctx.extra["x"]);
    });
    await play(agentOf([real, ghost]).agent, { engine: make() });

    expect(found).toEqual([{ n: 5 }, "real"]);
  });
});

describe("R13 a rail in shadow that fails", () => {
  test("R13 that throws, hangs or returns rubbish is recorded with what it would have done", async () => {
    const clock = manualClock();
    const failing: [string, () => unknown][] = [
      ["failed: no luck", () => Promise.reject(new Error("no luck"))],
      ["timed out after 1000 ms", () => new Promise(() => {})],
      ['returned "yes"; return nothing', () => "yes"],
    ];
    for (const [says, answer] of failing) {
      const rail = defineRail(
        { name: "ghost", on: ["PRE_TOOL_CALL"], mode: "shadow", timeoutMs: 1000 },
        answer as () => undefined,
      );
      const { agent, ran } = agentOf([rail]);
      const { events, error } = await clock.finish(play(agent, { engine: localEngine({ clock }) }));

      expect(error).toBeUndefined();
      expect(ran).toEqual([1]);
      const [record] = eventsOf(events, "rail")[0]?.records ?? [];
      expect(record).toMatchObject({ action: "abort", shadow: true });
      expect(record?.reason).toContain(says);
    }
  });

  test("R13 is not why a run without an approver is refused", async () => {
    class Asker extends Rail {
      override handle() {
        return ask("may I?");
      }
    }
    const { agent, ran } = agentOf([
      new Asker("asker", { on: ["PRE_TOOL_CALL"], asks: true, mode: "shadow" }),
    ]);
    await agent.run("Go");

    expect(ran).toEqual([1]);
  });
});
