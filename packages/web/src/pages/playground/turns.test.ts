import type { Message, ToolResultMetadata } from "trackside/schema";
import { describe, expect, test } from "vitest";
import { branchPointsOf, type RunFacts, runOfMessage, titleOf, turnsOf } from "./turns.ts";

const run = (id: string, more: Partial<RunFacts> = {}): RunFacts => ({
  id,
  branch_id: "b",
  parent_run_id: null,
  retried_from: null,
  created_at: 1,
  outcome: null,
  ...more,
});
const user = (id: string, text: string): Message => ({ id, role: "user", parts: [{ type: "text", text }] });
const says = (id: string, text: string, calls: string[] = []): Message => ({
  id,
  role: "assistant",
  parts: [
    { type: "text", text },
    ...calls.map((call_id) => ({
      type: "tool_call" as const,
      call_id,
      wire_id: call_id,
      tool: "look",
      arguments: {},
    })),
  ],
});
const metadata: ToolResultMetadata = {
  status: "success",
  started_at: 1,
  completed_at: 2,
  execution_time_ms: 1,
  approval_status: "not_required",
  approval_id: null,
  injected_args: {},
  offloaded_artifact_id: null,
  approval_wait_ms: 0,
  attempts: 1,
  skipped_by: null,
  original_args: null,
};
const result = (call_id: string): Message => ({
  id: `${call_id}.result`,
  role: "tool",
  call_id,
  wire_id: call_id,
  tool: "look",
  output: { type: "json", value: 1 },
  metadata,
});

describe("turns", () => {
  const log = [
    user("run_1.user", "first"),
    says("run_1.main.1.m1", "I look.", ["run_1.main.1.0"]),
    result("run_1.main.1.0"),
    user("msg_1", "and quickly"),
    says("run_1.main.2.m1", "Done."),
    user("run_2.user", "second"),
  ];

  test("the log is cut where somebody begins a turn; what is said in between belongs to it", () => {
    const turns = turnsOf(log, [run("run_1"), run("run_2")], "b");
    expect(turns.map(({ runId, user: said }) => [runId, said?.parts[0]])).toEqual([
      ["run_1", { type: "text", text: "first" }],
      ["run_2", { type: "text", text: "second" }],
    ]);
    expect(turns[0]?.items.map(({ kind }) => kind)).toEqual(["text", "call", "said", "text"]);
    expect(turns[0]?.items[1]).toMatchObject({ result: { success: true } });
  });

  test("X6 what came too late for a run is what the next one begins with", () => {
    const late = [
      user("run_1.user", "first"),
      says("run_1.main.1.m1", "Done."),
      user("msg_1", "one more thing"),
    ];
    const runs = [run("run_1"), run("run_2", { created_at: 2 })];
    for (const messages of [late, [...late, says("run_2.main.1.m1", "That too.")]])
      expect(turnsOf(messages, runs, "b").map(({ runId, user: told }) => [runId, told?.id])).toEqual([
        ["run_1", "run_1.user"],
        ["run_2", "msg_1"],
      ]);
    expect(turnsOf(late, [run("run_1")], "b")).toHaveLength(1);
  });

  test("a run of another branch is whole here only with its last message", () => {
    const other = run("run_1", {
      branch_id: "main",
      outcome: { status: "completed", message_id: "run_1.main.2.m1" },
    });
    expect(turnsOf(log, [other], "b")[0]?.isWhole).toBe(true);
    expect(turnsOf(log.slice(0, 3), [other], "b")[0]?.isWhole).toBe(false);
  });

  test("a run that has said nothing yet is there, one of a sub-agent or of another branch is not", () => {
    const runs = [
      run("run_9"),
      run("run_9.main.1.0.job0", { parent_run_id: "run_9" }),
      run("run_8", { branch_id: "x" }),
    ];
    expect(turnsOf([], runs, "b").map(({ runId }) => runId)).toEqual(["run_9"]);
  });

  test("what was imported has no run, and is shown as the log has it", () => {
    const turns = turnsOf([user("m-1", "hello"), says("m-2", "hi")], [], "b");
    expect(runOfMessage("m-1")).toBeNull();
    expect(turns).toMatchObject([{ runId: null, isWhole: false, items: [{ kind: "text", text: "hi" }] }]);
    const longer = [
      user("m-1", "hello"),
      says("m-2", "hi"),
      user("m-3", "and?"),
      says("m-4", "well"),
      user("run_1.user", "x"),
    ];
    expect(turnsOf(longer, [run("run_1")], "b").map(({ user: said }) => said?.id)).toEqual([
      "m-1",
      "m-3",
      "run_1.user",
    ]);
  });
});

describe("branches", () => {
  test("X7 a branch begins at a message, or behind the results of its calls", () => {
    const log = [
      user("run_1.user", "first"),
      says("m1", "I look twice.", ["c1", "c2"]),
      result("c1"),
      result("c2"),
      says("m2", "Once more.", ["c3"]),
    ];
    expect([...branchPointsOf(log)]).toEqual([
      ["run_1.user", "run_1.user"],
      ["m1", "c2.result"],
    ]);
  });
});

test("a conversation is called what was said first, in one line", () => {
  expect(titleOf([{ type: "text", text: "  Release\ncheckout  2.14 " }])).toBe("Release checkout 2.14");
  expect(titleOf([{ type: "text", text: "x".repeat(200) }])).toHaveLength(80);
});
