import type { LogEntry, ToolMessage } from "trackside";
import { isEvent, type Note } from "trackside/loop";
import type { DurableEngine } from "../journal/durable-engine.ts";
import { releaseBranch } from "../journal/end-run.ts";
import { ASIDE, type CommitBody, type RunBody } from "../journal/rows.ts";
import { loadRun, messagesOf } from "../journal/run-records.ts";
import { openBelow } from "../journal/tree.ts";
import { rows } from "../store/store.ts";
import type { RunsTable } from "../store/tables.ts";

/** Ends a parked run with everything below it, the deepest first. */
export async function endParkedTree(engine: DurableEngine, row: RunsTable, reason: string): Promise<void> {
  const { store, clock, approvals } = engine;
  const tree = await store.write(function* (db) {
    const all = [row, ...(yield* openBelow(db, row))];
    const taken: RunsTable[] = [];
    // Whoever still has one of them can write no more.
    for (const { id, fence } of all) {
      const [one] = yield* rows(
        db
          .updateTable("runs")
          .set({ owner: null, fence: fence + 1, updated_at: clock.now() })
          .where("id", "=", id)
          .where("fence", "=", fence)
          .where("ended_at", "is", null)
          .returningAll(),
      );
      if (one !== undefined) taken.unshift(one);
    }
    return taken;
  });
  for (const one of tree) {
    for (const { id } of await approvals.list({
      tenant: row.tenant,
      runId: one.id,
      state: "pending",
      limit: 1000,
    }))
      await approvals.cancel(id, reason);
    await endParked(engine, one, reason);
  }
}

/**
 * Ends a parked run that is not to go on. Its loop cannot be asked, so what the loop would have done last is done here:
 * every open call gets a result, then the terminal status (X5).
 */
async function endParked(engine: DurableEngine, row: RunsTable, reason: string): Promise<void> {
  const { store, codec, clock } = engine;
  const loaded = await store.read((db) => loadRun(db, row.id, codec));
  if (loaded === undefined) return;
  const messages = await store.read((db) => messagesOf(db, loaded.commits, codec));
  const logged = loaded.commits.flatMap(({ body }) =>
    body.notes.flatMap((note) => (note.type === "logged" ? note.message_ids : [])),
  );
  const results = openCalls(logged.flatMap((id) => messages.get(id)?.message ?? [])).map((call) =>
    unknownResult(call, clock.now()),
  );
  const at = clock.now();
  const children = openChildren(loaded.commits.flatMap(({ body }) => body.notes));
  const notes: Note[] = [
    ...children,
    ...results.map(({ id }): Note => ({ type: "tool_result", message_id: id })),
    ...(results.length > 0 ? [{ type: "logged" as const, message_ids: results.map(({ id }) => id) }] : []),
    { type: "status", status: "cancelled", reason },
  ];
  const last = loaded.commits.at(-1);
  const commit: CommitBody = { v: 1, at, key: ASIDE, result: null, messages: results, notes, begun: [] };
  const entry = {
    run_id: row.id,
    ord: (last?.ord ?? -1) + 1,
    seq: (last?.seq ?? 0) + notes.filter(isEvent).length,
    body: JSON.stringify(commit),
    fence: row.fence,
  };
  const length = loaded.body.from + logged.length + results.length;
  const body: RunBody = { ...loaded.body, outcome: { status: "cancelled", reason } };
  const landed = await store.append(entry, function* (db) {
    yield* rows(
      db
        .updateTable("runs")
        .set({ status: "cancelled", ended_at: at, updated_at: at, owner: null, body: JSON.stringify(body) })
        .where("id", "=", row.id),
    );
    const run = {
      runId: row.id,
      branchId: row.branch_id,
      tenant: row.tenant,
      scope: loaded.scope,
      conversationId: row.conversation_id,
    };
    yield* releaseBranch(db, run, length, at);
  });
  if (landed) engine.bus.publish(row.id, { type: "committed", run_id: row.id, seq: entry.seq });
}

/** Sub-agents of which nobody has said yet that they are over: they are now. */
function openChildren(notes: readonly Note[]): readonly Note[] {
  const open = new Map<string, Note>();
  for (const note of notes) {
    if (note.type !== "subagent") continue;
    if (note.state === "started")
      open.set(note.child_run_id, { ...note, state: "completed", status: "error" });
    else open.delete(note.child_run_id);
  }
  return [...open.values()];
}

interface OpenCall {
  readonly call_id: string;
  readonly wire_id: string;
  readonly tool: string;
}

function openCalls(messages: readonly LogEntry[]): readonly OpenCall[] {
  const done = new Set(messages.flatMap((message) => (message.role === "tool" ? [message.call_id] : [])));
  return messages.flatMap((message) =>
    message.role === "assistant"
      ? message.parts.flatMap((part) => (part.type === "tool_call" && !done.has(part.call_id) ? [part] : []))
      : [],
  );
}

function unknownResult({ call_id, wire_id, tool }: OpenCall, at: number): ToolMessage {
  const message = "The run was cancelled while it was parked; whether this call took effect is unknown.";
  return {
    id: `${call_id}.result`,
    role: "tool",
    call_id,
    wire_id,
    tool,
    output: { type: "error", failure: { code: "cancelled_unknown", message } },
    metadata: {
      status: "error",
      started_at: at,
      completed_at: at,
      execution_time_ms: 0,
      approval_status: "not_required",
      approval_id: null,
      injected_args: {},
      offloaded_artifact_id: null,
      approval_wait_ms: 0,
      attempts: 0,
      skipped_by: null,
      original_args: null,
    },
  };
}
