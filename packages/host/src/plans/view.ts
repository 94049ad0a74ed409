import type { RunRecord } from "../runs/run-record.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import { entryOf, type LoadedPlan, runningOf } from "./ledger.ts";
import type { PlanGeneration, PlanRecord, PlanState, PlanStep, PlanVersion, PlanWork } from "./plan.ts";
import { planVersionBody, type WorkBody } from "./plan-rows.ts";
import { jobOf } from "./steps.ts";

type Statuses = ReadonlyMap<string, RunRecord["status"]>;

/** How the runs of running steps are. */
export function* statusesOf(db: Builder, tenant: string, ids: readonly string[]): Operation<Statuses> {
  if (ids.length === 0) return new Map();
  const found = yield* rows(
    db
      .selectFrom("runs")
      .select(["id", "status"])
      .where("tenant", "=", tenant)
      .where("id", "in", [...ids]),
  );
  return new Map(found.map(({ id, status }) => [id, status as RunRecord["status"]])); // as the engine writes it
}

/** Runs of a plan that are under way. */
export function runsOf(plan: LoadedPlan): readonly string[] {
  return runningOf(plan).flatMap((id) => jobOf(plan, id)?.runId ?? []);
}

export function recordOf(plan: LoadedPlan, statuses: Statuses): PlanRecord {
  const { row, body } = plan;
  return {
    id: row.id,
    tenant: row.tenant,
    agent_id: row.agent_id,
    version: row.version,
    state: row.state as PlanState, // as the ledger wrote it
    goal: body.goal,
    origin: body.origin,
    note: body.note ?? null,
    steps: body.steps.map((step) => stepRecord(plan, step, statuses)),
    created_at: row.created_at,
    updated_at: row.updated_at,
    updated_by: body.by,
  };
}

function stepRecord(
  plan: LoadedPlan,
  { criteria, ...step }: LoadedPlan["body"]["steps"][number],
  statuses: Statuses,
): PlanStep {
  const { state, attempt, run_id, body } = entryOf(plan, step.id);
  const job = jobOf(plan, step.id);
  return {
    ...step,
    state,
    output: body.output,
    cut: body.cut,
    verification: {
      criteria,
      verdict: body.verdict,
      detail: body.verdict_detail,
      run_id: body.verify_run_id,
    },
    run_id,
    phase: job?.phase ?? null,
    run_status: statuses.get(job?.runId ?? "") ?? null,
    stopping: body.stopping !== null,
    attempt,
    reason: body.reason,
    by: body.by === "" ? null : body.by,
    started_at: body.started_at,
    ended_at: body.ended_at,
  };
}

export function versionOf(
  row: { readonly n: number; readonly plan_id: string; readonly created_at: number; readonly body: string },
  current: { readonly version: number; readonly state: string } | undefined,
): PlanVersion {
  const { goal, steps, origin, note, by } = planVersionBody.read(row.body, `${row.plan_id} ${row.n}`);
  // A plan has the state of its last version; those before it gave way to that one.
  const state = current?.version === row.n ? (current.state as PlanState) : "superseded";
  return {
    plan_id: row.plan_id,
    version: row.n,
    state,
    goal,
    steps,
    origin,
    note: note ?? null,
    by,
    created_at: row.created_at,
  };
}

export function workOf(work: WorkBody, plan: LoadedPlan | undefined, statuses: Statuses): PlanWork {
  const { drive, stopped } = work;
  const running = plan === undefined ? [] : runningOf(plan);
  if (stopped !== null)
    return { state: "stopped", mode: null, by: stopped.by, at: stopped.at, reason: stopped.reason ?? null };
  const isWaiting =
    plan !== undefined &&
    running.length > 0 &&
    running.every((id) => statuses.get(jobOf(plan, id)?.runId ?? "") === "waiting");
  const isBusy = running.length > 0 || drive !== null;
  return {
    state: isWaiting ? "waiting" : isBusy ? "working" : "idle",
    mode: drive?.mode ?? null,
    by: drive?.by ?? null,
    at: drive?.at ?? null,
    reason: null,
  };
}

export function generationOf({ generation }: WorkBody, statuses: Statuses): PlanGeneration | null {
  if (generation === null) return null;
  const { id, goal, state, run_id, version, reason, by, at } = generation;
  const run_status = state === "running" ? (statuses.get(run_id ?? "") ?? null) : null;
  return { id, goal, state, run_id, run_status, version, reason, by, at };
}
