import type { DurableEvent, LiveEvent } from "trackside/schema";
import { describe, expect, test } from "vitest";
import { callState } from "./items.ts";
import { emptyTree, openQuestions, type RunEvent, readEvents, rootOf, type Tree } from "./transcript.ts";

const ROOT = "run_1";
type Omitted = "run_id" | "turn_ref" | "seq" | "at" | "path";
type Body<E> = E extends unknown ? Omit<E, Omitted> & { path?: string[] } : never;
type LiveBody = LiveEvent extends infer E
  ? E extends unknown
    ? Omit<E, "run_id" | "turn_ref" | "path" | "after_seq"> & { path?: string[] }
    : never
  : never;

/** Writes events as an engine would: numbers without gaps, live ones behind the last of the record. */
class Log {
  readonly events: RunEvent[] = [];
  readonly #seqs = new Map<string, number>();

  add(body: Body<DurableEvent>, run = ROOT): this {
    const seq = (this.#seqs.get(run) ?? 0) + 1;
    this.#seqs.set(run, seq);
    // A body with the fields that every event has is an event.
    const stamp = { run_id: run, turn_ref: "turn_1", seq, at: 1000 + this.events.length };
    this.events.push({ path: [], ...stamp, ...body } as RunEvent);
    return this;
  }

  say(body: LiveBody, run = ROOT): this {
    const after_seq = this.#seqs.get(run) ?? 0;
    this.events.push({ path: [], run_id: run, turn_ref: "turn_1", after_seq, ...body } as RunEvent); // as above
    return this;
  }

  words(message_id: string, text: string, { attempt = 1, run = ROOT, path = [] as string[] } = {}): this {
    let offset = 0;
    for (const piece of text.match(/\s*\S+/g) ?? []) {
      this.say({ type: "text_delta", message_id, offset, text: piece, attempt, path }, run);
      offset += piece.length;
    }
    return this;
  }
}

const read = (events: readonly RunEvent[], tree: Tree = emptyTree(ROOT)) => readEvents(tree, events);
const shown = (tree: Tree) => {
  const run = rootOf(tree);
  return [...run.items, ...run.live];
};
const metadata = {
  status: "success" as const,
  started_at: 1,
  completed_at: 2,
  execution_time_ms: 1,
  approval_status: "not_required" as const,
  approval_id: null,
  injected_args: {},
  offloaded_artifact_id: null,
  approval_wait_ms: 0,
  attempts: 1,
  skipped_by: null,
  original_args: null,
};
const result = (call_id: string, more: object = {}) =>
  ({
    type: "tool_result",
    call_id,
    tool: "look",
    success: true,
    error: null,
    duration_ms: 1,
    output: { type: "json", value: { ok: true } },
    metadata: { ...metadata, ...more },
  }) as const;
const usage = (input_tokens: number) => ({
  input_tokens,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 5,
  reasoning_tokens: 0,
  model_calls: 1,
  cost: null,
});

describe("what is live", () => {
  test("E1 deltas are joined, and the text of the record takes their place", () => {
    const log = new Log().add({ type: "status", status: "starting" }).words("m1", "one two three");
    expect(shown(read(log.events))).toMatchObject([{ kind: "text", text: "one two three", live: true }]);
    log.add({ type: "text", message_id: "m1", text: "One, two, three." });
    expect(shown(read(log.events))).toMatchObject([{ text: "One, two, three.", live: false }]);
  });

  test("E4 a delta that comes again, whole or in part, adds nothing twice", () => {
    const log = new Log().words("m1", "one two");
    const [first, second] = log.events;
    expect(shown(read([...log.events, ...log.events]))).toMatchObject([{ text: "one two" }]);
    const overlap = { ...(second as LiveEvent), offset: 0, text: "one two three" } as RunEvent; // the same event, longer
    expect(shown(read([first as RunEvent, second as RunEvent, overlap]))).toMatchObject([
      { text: "one two three" },
    ]);
  });

  test("X3 what was taken back is gone, and what is left of it on the way is not shown again", () => {
    const log = new Log().words("m1", "half an ans").add({
      type: "message_retracted",
      message_id: "m1",
      attempt: 1,
      reason: "the process died",
    });
    const stale = log.events[0] as RunEvent;
    expect(shown(read([...log.events, stale]))).toMatchObject([{ kind: "note", icon: "retracted" }]);
    log.words("m1", "a whole answer", { attempt: 2 });
    expect(shown(read([...log.events, stale])).at(-1)).toMatchObject({ text: "a whole answer" });
  });

  test("a new attempt begins anew, even when nobody took the old one back", () => {
    const log = new Log().words("m1", "old words").words("m1", "new", { attempt: 2 }).words("m1", "old");
    expect(shown(read(log.events))).toMatchObject([{ text: "new" }]);
  });

  test("arguments show while they are written; the call takes their place", () => {
    const log = new Log();
    log.say({
      type: "tool_input_delta",
      message_id: "m1",
      call_id: "c1",
      tool: "look",
      offset: 0,
      text: '{"a"',
      attempt: 1,
    });
    expect(shown(read(log.events))).toMatchObject([{ kind: "call", input: '{"a"', live: true }]);
    log.add({ type: "tool_call", message_id: "m1", call_id: "c1", tool: "look", arguments: { a: 1 } });
    expect(shown(read(log.events))).toMatchObject([{ kind: "call", arguments: { a: 1 }, live: false }]);
  });

  test("M2 progress moves forward only, keeps fractions, and ends with the result", () => {
    const progress = (offset: number, value: number) =>
      ({
        type: "mcp_progress",
        call_id: "c1",
        offset,
        server: null,
        progress: value,
        total: 4,
        message: "x",
        attempt: 1,
      }) as const;
    const log = new Log().add({
      type: "tool_call",
      message_id: "m1",
      call_id: "c1",
      tool: "look",
      arguments: {},
    });
    log.say(progress(0, 1)).say(progress(1, 2.5)).say(progress(0, 1));
    expect(shown(read(log.events))).toMatchObject([{ progress: { done: 2.5, total: 4 } }]);
    log.add(result("c1")).say(progress(2, 3));
    expect(shown(read(log.events))).toMatchObject([{ progress: null, result: { success: true } }]);
  });

  test("a note that comes while text streams stands where it will stand afterwards", () => {
    const log = new Log().words("m1", "one");
    log.add({ type: "handoff", from: "a", to: "b", reason: "" });
    expect(shown(read(log.events)).map(({ kind }) => kind)).toEqual(["note", "text"]);
    log.add({ type: "text", message_id: "m1", text: "one" });
    expect(shown(read(log.events)).map(({ kind }) => kind)).toEqual(["note", "text"]);
  });
});

describe("the record", () => {
  test("P6 nothing of the planner is in the transcript; its plan and what it used are beside it", () => {
    const path = ["planner"];
    const log = new Log()
      .add({ type: "step", step: 1, state: "started", path })
      .words("p1", "1. Look", { path });
    expect(rootOf(read(log.events)).isPlanning).toBe(true);
    log
      .add({ type: "tool_call", message_id: "p1", call_id: "pc", tool: "look", arguments: {}, path })
      .add({ ...result("pc"), path })
      .add({ type: "text", message_id: "p1", text: "1. Look", path })
      .add({ type: "usage", step: 1, model: "m", call: usage(7), total: usage(7), path })
      .add({ type: "plan", plan: { steps: [{ title: "Look" }] } });
    const run = rootOf(read(log.events));
    expect(shown(read(log.events))).toEqual([]);
    expect(run).toMatchObject({
      isPlanning: false,
      plan: { steps: [{ title: "Look" }] },
      contextTokens: null,
    });
    expect(run.usage?.input_tokens).toBe(7);
  });

  test("L1 a call waits with its question, and goes on once it is decided", () => {
    const asked = (state: "pending" | "approved") =>
      ({
        type: "approval",
        approval_id: "a1",
        kind: "tool_call",
        state,
        call_id: "c1",
        tool: "look",
        reasons: ["gated"],
        deadline: null,
      }) satisfies Body<DurableEvent>;
    const log = new Log().add({
      type: "tool_call",
      message_id: "m1",
      call_id: "c1",
      tool: "look",
      arguments: {},
    });
    log.add(asked("pending"));
    const waiting = read(log.events);
    expect(rootOf(waiting).state).toBe("waiting");
    expect(openQuestions(waiting)).toMatchObject([{ id: "a1" }]);
    const [call] = shown(waiting);
    expect(call?.kind === "call" && callState(call, false)).toBe("waiting");
    const decided = read([...log.add(asked("approved")).events]);
    expect(openQuestions(decided)).toEqual([]);
    expect(rootOf(decided).state).toBe("running");
  });

  test.each([
    ["done", {}, true],
    ["rejected", { status: "rejected" }, false],
    ["timed out", { status: "timed_out" }, false],
    ["failed", { status: "error" }, false],
    ["skipped", { skipped_by: "call-limits" }, false],
  ])("a call reads as %s", (word, more, success) => {
    const log = new Log().add({
      type: "tool_call",
      message_id: "m1",
      call_id: "c1",
      tool: "look",
      arguments: {},
    });
    log.add({ ...result("c1", more), success });
    const [call] = shown(read(log.events));
    expect(call?.kind === "call" && callState(call, true)).toBe(word);
  });

  test("sub-agents are lanes of the call that started them, each a run of its own", () => {
    const log = new Log().add({
      type: "tool_call",
      message_id: "m1",
      call_id: "c1",
      tool: "spawn_parallel",
      arguments: {},
    });
    for (const index of [1, 0])
      log.add({ type: "subagent", child_run_id: `kid${index}`, call_id: "c1", index, state: "started" });
    log.words("k1", "from the child", { run: "kid1", path: ["1.1[1]"] });
    const tree = read(log.events);
    expect(shown(tree)).toMatchObject([{ lanes: [{ runId: "kid0" }, { runId: "kid1" }] }]);
    expect(tree.runs.get("kid1")?.live).toMatchObject([{ text: "from the child" }]);
  });

  test("compaction marks the meter, and a line says it", () => {
    const log = new Log()
      .add({
        type: "usage",
        step: 1,
        model: "m",
        call: usage(900),
        total: usage(900),
        prefix: { tokens: 0, broken_by: null },
      })
      .add({
        type: "context",
        action: "summarised",
        tokens_before: 900,
        tokens_after: 300,
        detail: "3 turns",
      });
    const run = rootOf(read(log.events));
    expect(run).toMatchObject({ contextTokens: 300, compactions: [{ before: 900, after: 300 }] });
    expect(run.items).toMatchObject([{ kind: "note", icon: "compacted", detail: "3 turns" }]);
  });
});

/** The same numbers for the same seed, so that a failure can be looked at again. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return state % below;
  };
}

/** A run with everything in it: plans, texts, calls, questions, progress, sub-agents, retries, retractions, rails. */
function randomRun(pick: (below: number) => number): RunEvent[] {
  const log = new Log().add({ type: "status", status: "starting" });
  if (pick(2)) {
    log
      .add({ type: "step", step: 1, state: "started", path: ["planner"] })
      .words("p", "a plan", { path: ["planner"] });
    log.add({ type: "plan", plan: { steps: [{ title: "go" }] } });
  }
  const steps = 1 + pick(4);
  for (let step = 1; step <= steps; step += 1) writeStep(log, step, pick);
  const ends = [
    { type: "status", status: "completed", stop_reason: "answered" },
    { type: "status", status: "cancelled", reason: "stopped" },
    { type: "status", status: "error", failure: { code: "internal", message: "broke" } },
  ] as const;
  return log.add(ends[pick(3)] ?? ends[0]).events;
}

function writeStep(log: Log, step: number, pick: (below: number) => number, run = ROOT): void {
  log.add({ type: "step", step, state: "started" }, run);
  const message_id = `${run}.m${step}`;
  const text = "words of one answer that goes on for a while".slice(0, 5 + pick(40));
  let attempt = 1;
  if (pick(3) === 0) {
    log.words(message_id, text.slice(0, pick(text.length)), { run });
    log.add({ type: "message_retracted", message_id, attempt, reason: "lost" }, run);
    attempt = 2;
  }
  if (pick(3) === 0) log.say({ type: "reasoning_delta", message_id, offset: 0, text: "hm", attempt }, run);
  log.words(message_id, text, { attempt, run });
  const calls = Array.from({ length: pick(3) }, (_, at) => `${run}.${step}.${at}`);
  for (const call_id of calls)
    log.say(
      { type: "tool_input_delta", message_id, call_id, tool: "look", offset: 0, text: "{}", attempt },
      run,
    );
  if (pick(3) === 0) {
    const record = {
      rail: "r",
      point: "POST_LLM_CALL",
      action: "retry",
      reason: "no",
      attempt: 1,
      duration_ms: 1,
      shadow: true,
    } as const;
    log.add({ type: "rail", point: "POST_LLM_CALL", step, call_id: null, records: [record] }, run);
  }
  log.add(
    {
      type: "usage",
      step,
      model: "m",
      call: usage(step),
      total: usage(step),
      prefix: { tokens: 0, broken_by: null },
    },
    run,
  );
  log.add({ type: "text", message_id, text }, run);
  for (const call_id of calls)
    log.add({ type: "tool_call", message_id, call_id, tool: "look", arguments: {} }, run);
  for (const call_id of calls) {
    if (run === ROOT && pick(2)) {
      const child_run_id = `${call_id}.job0`;
      log.add({ type: "subagent", child_run_id, call_id, index: 0, state: "started" }, run);
      writeStep(log, 1, pick, child_run_id);
      log.add({ type: "status", status: "completed", stop_reason: "answered" }, child_run_id);
      log.add(
        { type: "subagent", child_run_id, call_id, index: 0, state: "completed", status: "success" },
        run,
      );
    }
    for (let at = 0; at < pick(4); at += 1)
      log.say(
        {
          type: "mcp_progress",
          call_id,
          offset: at,
          server: null,
          progress: at,
          total: 4,
          message: null,
          attempt: 1,
        },
        run,
      );
    log.add(result(call_id), run);
  }
  log.add({ type: "step", step, state: "completed" }, run);
}

test("E4 however the stream is cut, batched, repeated or thinned, the transcript ends the same", () => {
  for (let seed = 1; seed <= 150; seed += 1) {
    const pick = numbers(seed);
    const events = randomRun(pick);
    const whole = read(events);
    const cut = pick(events.length + 1);
    const from = pick(cut + 1);
    const resumed = read(events.slice(from), read(events.slice(0, cut)));
    let batched = emptyTree(ROOT);
    for (let at = 0; at < events.length; ) {
      const size = 1 + pick(6);
      batched = read(events.slice(at, at + size), batched);
      at += size;
    }
    const thinned = read(events.filter((event) => "seq" in event || pick(2) === 0));
    const recorded = read(events.filter((event) => "seq" in event));
    for (const [how, tree] of Object.entries({ resumed, batched, thinned, recorded }))
      expect({ how, seed, cut, from, tree }).toEqual({ how, seed, cut, from, tree: whole });
    expect(rootOf(whole).live).toEqual([]);
  }
});

test("a batch changes only what it is about", () => {
  const log = new Log().add({ type: "text", message_id: "m1", text: "done" });
  const before = read(log.events);
  expect(read(log.events, before)).toBe(before);
  const after = read(log.words("m2", "more").events, before);
  expect(rootOf(after).items[0]).toBe(rootOf(before).items[0]);
});
