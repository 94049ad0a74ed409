import type { DurableEvent } from "trackside/schema";
import { expect, test } from "vitest";
import { nodeRunsOf } from "./node-run.ts";

let seq = 0;
const stamp = (run_id = "run_1") => ({ run_id, turn_ref: "t", seq: ++seq, at: 1_000 * seq, path: [] });
const node = (id: string, state: string, more: object = {}): DurableEvent =>
  ({ type: "node", node: id, kind: "tool", state, ...stamp(), ...more }) as DurableEvent; // as the server writes them

test("W4 what events say of nodes: state, time, tries, cost, and who is asked", () => {
  seq = 0;
  const events = [
    node("check", "started", { attempt: 1 }),
    node("check", "retrying", {
      attempt: 1,
      retry_in_ms: 500,
      failure: { code: "tool_failed", message: "no" },
    }),
    node("check", "started", { attempt: 2 }),
    node("check", "completed", { attempt: 2, output: { passed: true } }),
    node("other", "skipped", { reason: "the condition was true" }),
    node("ask", "started", { kind: "approval" }),
    {
      type: "approval",
      approval_id: "ap_1",
      kind: "workflow_node",
      state: "pending",
      call_id: "ask",
      tool: "ask",
      reasons: [],
      deadline: 99,
      ...stamp(),
    } as DurableEvent,
  ];
  const runs = nodeRunsOf(events, "run_1");
  expect(runs.get("check")).toMatchObject({ state: "done", started: 1_000, ended: 4_000, attempt: 2 });
  expect(runs.get("other")).toMatchObject({ state: "skipped", reason: "the condition was true" });
  expect(runs.get("ask")).toMatchObject({ state: "waiting", approvalId: "ap_1", deadline: 99 });
});

test("a call of a node is its own, with what it was called with; its run is known when it begins", () => {
  seq = 0;
  const call_id = "run_1.ship.1.c0";
  const events = [
    node("ship", "started"),
    { type: "tool_call", call_id, tool: "deploy", arguments: { a: 1 }, message_id: "m", ...stamp() },
    { type: "approval", approval_id: "ap", kind: "tool_call", state: "pending", call_id, ...stamp() },
    node("look", "started"),
    {
      type: "subagent",
      child_run_id: "run_1.look.1",
      call_id: "look",
      index: 0,
      state: "started",
      ...stamp(),
    },
  ] as DurableEvent[]; // as the server writes them
  const runs = nodeRunsOf(events, "run_1");
  expect(runs.get("ship")).toMatchObject({ state: "waiting", approvalId: "ap", given: { a: 1 } });
  expect(runs.get("look")).toMatchObject({ state: "running", childRunId: "run_1.look.1" });
});

test("a question of a child's run is asked by its node; a run that ends leaves nothing under way", () => {
  seq = 0;
  const events = [
    node("work", "started", { kind: "map" }),
    {
      type: "approval",
      approval_id: "ap_2",
      kind: "tool_call",
      state: "pending",
      call_id: "c",
      tool: "deploy",
      reasons: [],
      deadline: null,
      ...stamp("run_1.work.1"),
      path: ["work[3]"],
    } as DurableEvent,
  ];
  expect(nodeRunsOf(events, "run_1").get("work")).toMatchObject({ state: "waiting", approvalId: "ap_2" });
  const decided = { ...events[1], state: "approved", seq: 9 } as DurableEvent;
  expect(nodeRunsOf([...events, decided], "run_1").get("work")?.state).toBe("running");
  const ended = { type: "status", status: "cancelled", ...stamp() } as DurableEvent;
  expect(nodeRunsOf([...events, ended], "run_1").get("work")).toMatchObject({ state: "stopped" });
});
