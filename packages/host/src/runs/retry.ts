import { type LogEntry, type Plan, TracksideError, type UserMessage } from "trackside";
import { newId, planForExecutor } from "trackside/engine";
import { isEvent, type Note, type TurnState } from "trackside/loop";
import { wake } from "../approvals/records.ts";
import type { DurableEngine } from "../journal/durable-engine.ts";
import { createBranch } from "../journal/open-run.ts";
import type { CommitBody, RunBody } from "../journal/rows.ts";
import { insertRun, type LoadedRun, loadRun, loopRows, messagesOf, planIn } from "../journal/run-records.ts";
import { rows } from "../store/store.ts";
import type { RunsTable } from "../store/tables.ts";
import { againFrom } from "./retry-workflow.ts";

/** Where a run is begun again: at a step of an agent's turn, or at a node of a workflow; without either, where it failed. */
export interface RetryFrom {
  readonly step?: number | undefined;
  readonly node?: string | undefined;
}

/**
 * Makes a run that goes on from a step of another one, on a branch of its own: same definition, same log up to there, and
 * the state the loop was in. Nothing earlier runs again, except pre-hooks when the parts they had added for that turn are
 * gone (X13). Answers the new run's id.
 */
export async function retryRun(engine: DurableEngine, row: RunsTable, from: RetryFrom): Promise<string> {
  const { store, codec, clock } = engine;
  if (row.ended_at === null && row.status !== "parked")
    throw new TracksideError(
      "config_invalid",
      `The run ${row.id} is ${row.status}. Cancel it or wait for its end, then retry it.`,
    );
  if (row.parent_run_id !== null)
    throw new TracksideError(
      "config_invalid",
      `The run ${row.id} is a sub-agent's: it goes on with whoever started it. Retry ${row.root_run_id}.`,
    );
  const loaded = await store.read((db) => loadRun(db, row.id, codec));
  if (loaded === undefined) throw new TracksideError("not_found", `There is no run ${row.id}.`);
  const messages = await store.read((db) => messagesOf(db, loaded.commits, codec));
  const again = loaded.definition.workflow
    ? againFrom(loaded, loaded.definition.workflow, messages, from)
    : againAt(loaded, messages, from);
  const { state, said, kept } = again;
  const id = newId("run");
  const branchId = newId("branch");
  const at = clock.now();
  const body: RunBody = {
    v: 1,
    scope: loaded.scope,
    user: loaded.body.user,
    from: state.log,
    outcome: null,
    usage: null,
    steps: 0,
  };
  const first: CommitBody = {
    v: 1,
    at,
    key: "@retry",
    result: null,
    notes: said,
    begun: [],
    messages: codec.encode(kept).stored,
    state,
    before: { notes: said.length, begun: 0 },
    open: true,
  };
  const seq = said.filter(isEvent).length;
  await store.write(function* (db) {
    yield* createBranch(db, {
      id: branchId,
      conversationId: row.conversation_id,
      tenant: row.tenant,
      parentId: row.branch_id,
      shared: state.log,
      length: state.log,
      runId: id,
      at,
    });
    yield* insertRun(db, {
      ...row,
      id,
      branch_id: branchId,
      turn_ref: newId("turn"),
      root_run_id: id,
      parent_run_id: null,
      retried_from: row.id,
      status: "queued",
      owner: null,
      fence: 1,
      cancel_reason: null,
      created_at: at,
      updated_at: at,
      ended_at: null,
      body: JSON.stringify(body),
    });
    yield* rows(db.insertInto("commits").values({ run_id: id, ord: 0, seq, body: JSON.stringify(first) }));
    yield* wake(db, id, "queued", at);
  });
  return id;
}

type Messages = ReadonlyMap<string, { readonly message: LogEntry }>;

/** What a run is begun again with: the loop's state, what it has to say first, and the messages it goes on from. */
export interface Again {
  readonly state: TurnState;
  readonly said: readonly Note[];
  readonly kept: readonly LogEntry[];
}

/** A turn of an agent, from one of its steps. */
function againAt(loaded: LoadedRun, messages: Messages, { step: fromStep, node }: RetryFrom): Again {
  if (node !== undefined)
    throw new TracksideError("config_invalid", "node: only a workflow's run has nodes; give `fromStep`.");
  const checkpoints = loopRows(loaded.commits).filter((commit) => commit.state !== undefined);
  const steps = checkpoints.map((commit) => (commit.state?.step ?? 0) + 1);
  const step = fromStep ?? steps.at(-1) ?? 0;
  const checkpoint = checkpoints[steps.indexOf(step)];
  if (checkpoint?.state === undefined)
    throw new TracksideError(
      "config_invalid",
      `fromStep: ${steps.length === 0 ? "the run has no step to go on from" : `${steps[0]} to ${steps.at(-1)} expected`}, ${step} given`,
    );
  const { state } = checkpoint;
  const isForgotten = (id: string) => {
    const message = messages.get(id)?.message;
    return message === undefined || (message.role === "user" && message.forgotten !== undefined);
  };
  const isGone = state.tail.some(isForgotten);
  const plan = state.plan === null ? null : planIn(loaded.commits);
  const notes = state.notes.filter((one) => !isForgotten(one));
  const kept = [...state.tail, ...notes, ...(state.redo === null ? [] : [state.redo.message_id])];
  const planned = plan === null || state.plan === null ? [] : [planMessage(state.plan, plan)];
  return {
    state: {
      ...state,
      notes,
      plan: planned[0]?.id ?? null,
      ...(isGone ? { phase: "refreshing" as const, tail: [], redo: null } : {}),
    },
    said: [
      { type: "status", status: "starting" },
      ...(plan === null ? [] : [{ type: "plan" as const, plan }]), // made once; it is this run's, too (P1)
    ],
    kept: [...kept.flatMap((one) => messages.get(one)?.message ?? []), ...planned],
  };
}

/** What the executor is told of a plan: its message is forgotten with its run, the plan is not. */
function planMessage(id: string, plan: Plan): UserMessage {
  return { id, role: "user", parts: [{ type: "text", text: planForExecutor(plan) }], by_hook: "planner" };
}
