import type { Run, Scope } from "trackside";
import { NO_USAGE } from "trackside/engine";
import { runBody } from "../journal/row-codecs.ts";
import type { RunsTable } from "../store/tables.ts";

/** A run as the host shows it: its record, and what the store knows beside it. */
export interface RunRecord extends Run {
  readonly branch_id: string;
  /** The run at the root of its tree: itself, unless it is a sub-agent's. */
  readonly root_run_id: string;
  readonly steps: number;
  readonly updated_at: number;
  /** Why it is to be cancelled, from the moment somebody asked for it. */
  readonly cancel_reason: string | null;
  /** With `parked`: why, and what to do. */
  readonly parked: string | null;
}

export function runRecord(row: RunsTable): RunRecord {
  const body = runBody.read(row.body, row.id);
  const scope: Scope = body.scope;
  return {
    id: row.id,
    kind: row.kind === "workflow" ? "workflow" : "agent",
    agent: row.agent,
    definition_digest: row.definition_digest || null,
    conversation_id: row.conversation_id,
    branch_id: row.branch_id,
    root_run_id: row.root_run_id,
    turn_ref: row.turn_ref,
    parent_run_id: row.parent_run_id,
    retried_from: row.retried_from,
    scope,
    status: row.status as Run["status"], // as the engine writes it
    outcome: body.outcome,
    usage: body.usage ?? NO_USAGE,
    steps: body.steps,
    created_at: row.created_at,
    updated_at: row.updated_at,
    ended_at: row.ended_at,
    cancel_reason: row.cancel_reason,
    parked: row.status === "parked" ? (body.parked?.message ?? "") : null,
  };
}
