import { expect, test } from "vitest";
import type { LiveEvent, RunEvent } from "./types.ts";
import { barOf, type Row, Waterfall } from "./waterfall.ts";

const USAGE = {
  input_tokens: 412,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 42,
  reasoning_tokens: 0,
  model_calls: 1,
  cost: null,
};
const METADATA = {
  status: "success",
  started_at: 0,
  completed_at: 0,
  execution_time_ms: 0,
  approval_status: "not_required",
  approval_id: null,
  injected_args: {},
  offloaded_artifact_id: null,
  approval_wait_ms: 0,
  attempts: 1,
  skipped_by: null,
  original_args: null,
};

/** Events of a run, numbered as they are written; each needs only what matters to the test. */
class Script {
  readonly seqs = new Map<string, number>();
  readonly events: RunEvent[] = [];

  say(at: number, type: RunEvent["type"], more: object = {}, run = "r", path: string[] = []): this {
    const seq = (this.seqs.get(run) ?? 0) + 1;
    this.seqs.set(run, seq);
    // Fields beyond those that the waterfall reads are left out.
    this.events.push({ type, run_id: run, turn_ref: "t", seq, at, path, ...more } as never);
    return this;
  }
}

const step = (number: number, state = "started") => ({ step: number, state });
const used = { step: 1, model: "m", call: USAGE, total: USAGE, prefix: { tokens: 0, broken_by: null } };
const result = (call_id: string, started_at: number, completed_at: number, more: object = {}) => ({
  call_id,
  tool: "deploy",
  success: true,
  error: null,
  duration_ms: completed_at - started_at,
  output: { type: "json", value: 1 },
  metadata: { ...METADATA, started_at, completed_at, ...more },
});

function drawn(script: Script): Waterfall {
  const waterfall = new Waterfall("r");
  for (const event of script.events) waterfall.push(event);
  return waterfall;
}

/** The tree as text: kind, title, from–until. */
const told = (waterfall: Waterfall, collapsed: string[] = []) =>
  waterfall
    .visible(({ id }) => collapsed.includes(id))
    .map((row) => `${"  ".repeat(row.depth)}${row.kind} ${row.title} ${row.start}–${row.end ?? ""}`);

const named = (waterfall: Waterfall, title: string): Row => {
  const row = [...waterfall.all()].find((one) => one.title === title);
  if (row === undefined) throw new Error(`no row ${title} among ${told(waterfall).join("\n")}`);
  return row;
};

test("a step holds its model call and its tool calls, and a model call takes the time up to its answer", () => {
  const script = new Script()
    .say(0, "status", { status: "starting" })
    .say(5, "step", step(1))
    .say(905, "usage", used)
    .say(905, "text", { message_id: "m1", text: "I deploy.\nNow." })
    .say(905, "tool_call", { message_id: "m1", call_id: "c", tool: "deploy", arguments: { service: "a" } })
    .say(1500, "tool_result", result("c", 910, 1490))
    .say(1500, "step", { ...step(1, "completed"), passed: 2 })
    .say(1500, "status", { status: "completed", stop_reason: "answered" });
  const waterfall = drawn(script);
  expect(told(waterfall)).toEqual([
    "status Started 0–0",
    "step Step 1 5–1500",
    "  model Model 5–905",
    "  tool deploy 905–1490",
    "status Done 1500–1500",
  ]);
  expect(named(waterfall, "Model").note).toBe("412 in, 42 out tok · I deploy.");
  expect(named(waterfall, "deploy").note).toBe("service a");
  expect(named(waterfall, "Step 1").note).toBe("2 rails passed");
  expect(waterfall.isOpen).toBe(false);
});

test("the planner's calls and its plan are under it", () => {
  const waterfall = drawn(
    new Script()
      .say(0, "status", { status: "starting" })
      .say(1, "step", step(1), "r", ["planner"])
      .say(9, "usage", used, "r", ["planner"])
      .say(9, "step", step(1, "completed"), "r", ["planner"])
      .say(9, "plan", { plan: { steps: [{ title: "Check" }, { title: "Deploy" }] } })
      .say(10, "step", step(1)),
  );
  expect(told(waterfall)).toEqual([
    "status Started 0–0",
    "planner Planner 1–9",
    "  model Model 1–9",
    "  plan Plan 9–9",
    "step Step 1 10–",
  ]);
  expect(named(waterfall, "Plan").note).toBe("1. Check  2. Deploy");
});

test("waiting for an approval is a stretch of the call's bar, and a row of its own", () => {
  const script = new Script()
    .say(0, "step", step(1))
    .say(10, "tool_call", { message_id: "m", call_id: "c", tool: "deploy", arguments: {} })
    .say(12, "approval", {
      approval_id: "a",
      kind: "tool_call",
      state: "pending",
      call_id: "c",
      tool: "deploy",
      reasons: ["gated"],
      deadline: null,
    });
  const asked = drawn(script);
  expect(named(asked, "deploy").tone).toBe("attention");
  expect(barOf(named(asked, "deploy"), 100)).toEqual([
    { kind: "work", from: 10, to: 12 },
    { kind: "wait", from: 12, to: 100 },
  ]);
  script.say(50, "approval", {
    approval_id: "a",
    kind: "tool_call",
    state: "approved",
    call_id: "c",
    tool: "deploy",
    reasons: ["gated"],
    deadline: null,
    decided_by: "ada",
  });
  const decided = drawn(script);
  expect(barOf(named(decided, "deploy"), 60).at(-1)).toEqual({ kind: "work", from: 50, to: 60 });
  expect(named(decided, "Approval")).toMatchObject({ note: "approved by ada", start: 12, end: 50 });
  script.say(90, "tool_result", result("c", 51, 90));
  expect(barOf(named(drawn(script), "deploy"), 200).map(({ kind, from, to }) => [kind, from, to])).toEqual([
    ["work", 10, 12],
    ["wait", 12, 50],
    ["work", 51, 90],
  ]);
});

test("sub-agents are lanes under the call that made them, whatever order their events come in", () => {
  const script = new Script()
    .say(0, "step", step(1))
    .say(1, "tool_call", { message_id: "m", call_id: "c", tool: "spawn", arguments: {} })
    .say(2, "subagent", { child_run_id: "k0", call_id: "c", index: 0, state: "started" })
    .say(2, "subagent", { child_run_id: "k1", call_id: "c", index: 1, state: "started" })
    .say(3, "status", { status: "starting" }, "k1", ["1.1[1]"])
    .say(3, "step", step(1), "k1", ["1.1[1]"])
    .say(4, "step", step(1), "k0", ["1.1[0]"])
    .say(8, "subagent", { child_run_id: "k1", call_id: "c", index: 1, state: "completed", status: "error" })
    .say(8, "usage", { step: 1, model: "subagents", call: USAGE, total: USAGE });
  const waterfall = drawn(script);
  expect(told(waterfall).slice(1)).toEqual([
    "  tool spawn 1–",
    "    subagent Sub-agent 1 2–",
    "      step Step 1 4–",
    "    subagent Sub-agent 2 2–8",
    "      step Step 1 3–",
  ]);
  expect(named(waterfall, "Sub-agent 2")).toMatchObject({ tone: "problem", note: "412 in, 42 out tok" });
  expect(waterfall.row("k1:2")?.title).toBe("Step 1");
  expect(told(waterfall, [named(waterfall, "spawn").id])).toHaveLength(2);
});

test("each rail's verdict is a row with what it said, under the call it was about", () => {
  const record = {
    rail: "secrets",
    point: "pre_tool",
    action: "abort",
    reason: "a key",
    attempt: 1,
    duration_ms: 3,
    shadow: false,
  };
  const waterfall = drawn(
    new Script()
      .say(0, "step", step(1))
      .say(1, "tool_call", { message_id: "m", call_id: "c", tool: "deploy", arguments: null })
      .say(9, "rail", {
        point: "pre_tool",
        step: 1,
        call_id: "c",
        records: [record, { ...record, rail: "limits", action: "skip", shadow: true }],
      }),
  );
  expect(named(waterfall, "secrets")).toMatchObject({
    note: "abort: a key",
    tone: "problem",
    start: 6,
    end: 9,
    id: "3.0",
  });
  expect(named(waterfall, "limits")).toMatchObject({
    note: "would skip: a key",
    tone: "quiet",
    depth: 2,
    id: "3.1",
  });
  expect(named(waterfall, "deploy").note).toBe("arguments that do not parse");
});

test("attempts that failed wait for the next, and drafts that were taken back say why", () => {
  const failure = { code: "model_failed", message: "503" };
  const waterfall = drawn(
    new Script()
      .say(0, "step", step(1))
      .say(10, "error", { failure, attempt: 1, retry_in_ms: 200 })
      .say(400, "usage", used)
      .say(400, "message_retracted", { message_id: "m", attempt: 2, reason: "its process died" })
      .say(700, "usage", used)
      .say(701, "error", { failure }),
  );
  expect(told(waterfall)).toEqual([
    "step Step 1 0–",
    "  error Attempt 1 failed 10–210",
    "  model Model 210–400",
    "  retracted Attempt 2 taken back 400–400",
    "  model Model 400–700",
    "  error Error 701–701",
  ]);
  expect(named(waterfall, "Attempt 1 failed").note).toBe("again in 200 ms: 503");
  expect(named(waterfall, "Error").tone).toBe("problem");
});

test("nothing of a run that was stopped lasts", () => {
  const waterfall = drawn(
    new Script()
      .say(0, "step", step(1))
      .say(1, "tool_call", { message_id: "m", call_id: "c", tool: "deploy", arguments: {} })
      .say(7, "status", { status: "cancelled", reason: "wrong service" }),
  );
  expect(waterfall.isOpen).toBe(false);
  expect(told(waterfall)).toEqual(["step Step 1 0–7", "  tool deploy 1–7", "status Stopped 7–7"]);
});

test("events that were there already change nothing", () => {
  const script = new Script().say(0, "step", step(1)).say(5, "usage", used);
  const waterfall = drawn(script);
  const before = [waterfall.version, told(waterfall)];
  for (const event of script.events) expect(waterfall.push(event)).toBe(false);
  expect([waterfall.version, told(waterfall)]).toEqual(before);
  expect(waterfall.seq).toBe(2);
});

test("what is live shows until its durable event is there: the same row, then with what it used", () => {
  const script = new Script().say(0, "step", step(1));
  const waterfall = drawn(script);
  const live = { run_id: "r", turn_ref: "t", path: [], after_seq: 1, attempt: 1 };
  const delta: LiveEvent = { type: "text_delta", ...live, message_id: "m", offset: 0, text: "I" };
  waterfall.pushLive(delta);
  waterfall.pushLive({ ...delta, offset: 1 });
  expect(told(waterfall)).toEqual(["step Step 1 0–", "  model Model 0–"]);
  script
    .say(5, "usage", used)
    .say(5, "tool_call", { message_id: "m", call_id: "c", tool: "deploy", arguments: {} });
  for (const event of script.events) waterfall.push(event);
  expect(told(waterfall)).toEqual(["step Step 1 0–", "  model Model 0–5", "  tool deploy 5–"]);
  expect(waterfall.row("2")?.title).toBe("Model");
  waterfall.pushLive({
    type: "mcp_progress",
    ...live,
    call_id: "c",
    offset: 0,
    server: null,
    progress: 1,
    total: 4,
    message: "tests",
  });
  expect(named(waterfall, "deploy").progress).toEqual({ done: 1, total: 4, message: "tests" });
});

test("ten thousand events are as many rows as they should be", () => {
  const script = new Script().say(0, "status", { status: "starting" });
  for (let n = 1; n <= 2000; n += 1)
    script
      .say(n, "step", step(n))
      .say(n, "usage", used)
      .say(n, "tool_call", { message_id: `m${n}`, call_id: `c${n}`, tool: "add", arguments: { n } })
      .say(n, "tool_result", result(`c${n}`, n, n))
      .say(n, "step", step(n, "completed"));
  const waterfall = drawn(script);
  expect(script.events).toHaveLength(10_001);
  expect(waterfall.visible(() => false)).toHaveLength(6_001);
});
