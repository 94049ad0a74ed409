import { defineTool, RunCancelledError } from "trackside";
import { manualClock } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { requestsOf } from "../../src/testing/conformance/cast.ts";
import { ENGINES, eventsOf, failure, play, results } from "../guards/stage.ts";
import { calls, endings, entries, expectSound, parallel, self, tree } from "./stage.ts";

/** A tool that never ends by itself, and notes when it is told to. */
function stuck() {
  const told: string[] = [];
  let inside = 0;
  const arrived: (() => void)[] = [];
  const tool = defineTool({
    name: "stuck",
    execute: (_args, { signal, runId }) =>
      new Promise<string>(() => {
        inside += 1;
        for (const tell of arrived) tell();
        signal.addEventListener("abort", () => told.push(runId));
      }),
  });
  const entered = (n: number) =>
    new Promise<void>((resolve) => {
      const look = () => inside >= n && resolve();
      arrived.push(look);
      look();
    });
  return { tool, told, entered };
}

describe.each(ENGINES)("a cancel of a tree, on the %s engine", (_name, make) => {
  test("X5 ends every run once, pairs every call, and tells every tool", async () => {
    const { tool, told, entered } = stuck();
    const { agent, model } = tree(
      {
        Go: [calls(parallel("a", "b"), "stuck"), "not said"],
        a: [calls(self("c"), "stuck"), "not said"],
        b: [calls("stuck"), "not said"],
        c: [calls("stuck"), "not said"],
      },
      { tools: [tool] },
    );
    const controller = new AbortController();
    const playing = play(agent, { engine: make(), signal: controller.signal });
    await entered(4);
    controller.abort(new Error("enough"));
    const { error, events, result } = await playing;

    expect(error).toBeInstanceOf(RunCancelledError);
    expectSound(events);
    expect(Object.values(endings(events))).toEqual(Array(4).fill("cancelled"));
    expect(told).toHaveLength(4);
    expect(model.requests).toHaveLength(4);
    for (const { metadata, output } of results(result)) {
      expect(output).toMatchObject({ type: "error", failure: { code: "cancelled_unknown" } });
      expect(metadata.status).toBe("error");
    }
    const codes = eventsOf(events, "tool_result").map(({ metadata }) => metadata.status);
    expect(codes).toEqual(Array(6).fill("error"));
    // A parent's end comes after its children's.
    const last = events.at(-1);
    expect(last).toMatchObject({ type: "status", status: "cancelled", path: [] });
  });

  test("X5 while sub-agents' models speak or wait to be asked again, nothing more is asked", async () => {
    const clock = manualClock();
    const { agent, model } = tree({
      Go: [calls(parallel("speaks", "waits"))],
      speaks: [{ text: "one two three", hangAfter: 4 }],
      waits: [{ error: Object.assign(new Error("busy"), { statusCode: 503, isRetryable: true }) }],
    });
    const stream = agent.stream("Go", { engine: make({ clock }) });
    const events: unknown[] = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === "text_delta") stream.cancel("enough");
    }
    const error = await failure(stream.result);

    expect(error).toBeInstanceOf(RunCancelledError);
    expect(requestsOf(model, "waits").length).toBeLessThanOrEqual(1);
    expectSound(events as never);
    expect(clock.pending).toBe(0);
  });

  test("X5 before a sub-agent has begun, none does", async () => {
    const { agent, model } = tree({ Go: [calls(parallel("a", "b"))], a: ["ok"], b: ["ok"] });
    const stream = agent.stream("Go", { engine: make() });
    const events: unknown[] = [];
    for await (const event of stream) {
      events.push(event);
      if (event.type === "tool_call") stream.cancel("enough");
    }
    await failure(stream.result);

    expect(requestsOf(model, "a")).toEqual([]);
    expect(requestsOf(model, "b")).toEqual([]);
    expectSound(events as never);
  });

  test("S5 a sub-agent whose tool takes too long goes on; only its call has failed", async () => {
    const clock = manualClock();
    const slow = defineTool({ name: "slow", timeoutMs: 1000, execute: () => new Promise<never>(() => {}) });
    const { agent } = tree(
      { Go: [calls(parallel("a", "b")), "done"], a: [calls("slow"), "went on"], b: ["ok"] },
      { tools: [slow] },
    );
    const { result } = await clock.finish(play(agent, { engine: make({ clock }) }));

    expect(entries(result).map(({ output }) => output)).toEqual(["went on", "ok"]);
  });

  test("S5 a sub-agent whose model stays silent is one failed entry", async () => {
    const clock = manualClock();
    const { agent } = tree({
      Go: [calls(parallel("silent", "ok")), "done"],
      silent: Array(9).fill({ hang: true }),
      ok: ["ok"],
    });
    const engine = make({ clock, modelIdleMs: 1000, retry: { retries: 0 } });
    const { result } = await clock.finish(play(agent, { engine }));

    const [silent, ok] = entries(result);
    expect(silent?.status).toBe("error");
    expect(ok).toMatchObject({ status: "success", output: "ok" });
    expect(result.output).toBe("done");
  });
});
