import { Agent, abort, alert, defineRail, localEngine, type Rail, retry, skip } from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES, eventsOf, play, tracked } from "./stage.ts";

const CALL = { calls: [{ tool: "t", args: { n: 1 } }] };
const plain = (name: string) => defineRail({ name }, () => {});

function agentOf(rails: readonly Rail[]) {
  const { tool } = tracked("t", { effect: "idempotent" });
  return new Agent({ name: "a", model: scriptedModel([CALL, "done"], { loop: true }), tools: [tool], rails });
}

describe.each(ENGINES)("R12 what is recorded, on the %s engine", (_name, make) => {
  test("R12 plain continues make no event; they are counted in the step's record", async () => {
    const { events } = await play(agentOf([plain("p"), plain("q"), plain("r")]), { engine: make() });

    expect(eventsOf(events, "rail")).toEqual([]);
    const counts = eventsOf(events, "step").flatMap(({ state, step, passed }) =>
      state === "completed" ? [[step, passed]] : [],
    );
    // Three rails at PRE_LLM, POST_LLM, PRE_TOOL, POST_TOOL, then at PRE_LLM, POST_LLM.
    expect(counts).toEqual([
      [1, 12],
      [2, 6],
    ]);
  });

  test("R12 without rails a step has no count", async () => {
    const { events } = await play(agentOf([]), { engine: make() });

    expect(eventsOf(events, "step").every(({ passed }) => passed === undefined)).toBe(true);
  });

  test("R12 every dispatch in which something else happened is one event, with all who spoke, and no other is", async () => {
    const noisy = defineRail({ name: "noisy", priority: 1, on: ["PRE_TOOL_CALL", "FINISHED"] }, (ctx) =>
      alert(ctx.event),
    );
    const no = defineRail({ name: "no", priority: 2, on: ["PRE_TOOL_CALL"] }, () => skip("not now"));
    const { events, stream } = await play(agentOf([plain("p"), noisy, no]), { engine: make() });

    const [tool, finished, ...more] = eventsOf(events, "rail");
    expect(more).toEqual([]);
    expect(tool).toMatchObject({ point: "PRE_TOOL_CALL", step: 1, call_id: `${stream.runId}.main.1.0` });
    expect(tool?.records).toMatchObject([
      {
        rail: "noisy",
        point: "PRE_TOOL_CALL",
        action: "continue",
        reason: "",
        alert: "PRE_TOOL_CALL",
        attempt: 1,
        shadow: false,
      },
      { rail: "no", point: "PRE_TOOL_CALL", action: "skip", reason: "not now", attempt: 1, shadow: false },
    ]);
    expect(finished).toMatchObject({ point: "FINISHED", call_id: null, records: [{ rail: "noisy" }] });
  });

  test("R12 a rail that let it pass but changed something is recorded with what it changed", async () => {
    const edit = defineRail({ name: "edit", on: ["PRE_TOOL_CALL"] }, (ctx) => {
      ctx.inputs.arguments = { n: 7 };
    });
    const { events } = await play(agentOf([edit]), { engine: make() });

    expect(eventsOf(events, "rail").flatMap(({ records }) => records)).toMatchObject([
      { rail: "edit", action: "continue", reason: "changed arguments" },
    ]);
  });

  test("R12 each attempt is recorded with its number", async () => {
    const again = defineRail({ name: "again", on: ["POST_TOOL_CALL"] }, (ctx) =>
      ctx.attempt < 3 ? retry({ maxRetries: 5, reason: "not yet" }) : undefined,
    );
    const { events } = await play(agentOf([again]), { engine: make() });

    expect(
      eventsOf(events, "rail").map(({ records }) =>
        records.map(({ action, attempt }) => `${action} ${attempt}`),
      ),
    ).toEqual([["retry 1"], ["retry 2"]]);
  });

  test("R12 the verdict that ends a run is recorded before its error", async () => {
    const { events } = await play(
      agentOf([defineRail({ name: "no", on: ["PRE_LLM_CALL"] }, () => abort("no"))]),
      {
        engine: make(),
      },
    );

    expect(events.filter((event) => "seq" in event).map(({ type }) => type)).toEqual([
      "status",
      "step",
      "rail",
      "error",
      "status",
    ]);
  });
});

describe("R12 details of a record", () => {
  test("R12 what a rail said is kept when a plain hook then fails", async () => {
    const agent = agentOf([defineRail({ name: "noisy", on: ["START"] }, () => alert("odd"))]);
    agent.hookManager.add("START", () => {
      throw new Error("no luck");
    });
    const { events, error } = await play(agent);

    expect(error?.name).toBe("HookError");
    expect(eventsOf(events, "rail").flatMap(({ records }) => records)).toMatchObject([
      { rail: "noisy", alert: "odd" },
    ]);
  });

  test("R12 the duration is that of the rail", async () => {
    const clock = manualClock();
    const slow = defineRail({ name: "slow", on: ["START"] }, async () => {
      await new Promise<void>((resolve) => clock.after(250, resolve));
      return alert("done");
    });
    const { events } = await clock.finish(play(agentOf([slow]), { engine: localEngine({ clock }) }));

    expect(eventsOf(events, "rail")[0]?.records[0]?.duration_ms).toBe(250);
  });
});
