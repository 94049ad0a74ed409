import type { Operation } from "../store/store.ts";
import { planBusy } from "./errors.ts";
import { openBefore } from "./graph.ts";
import { entryOf, type Ledger, type LoadedPlan, type StepEntry, stepOf } from "./ledger.ts";
import type { PlannedStep } from "./plan.ts";
import { NEVER_RAN, type StepBody } from "./plan-rows.ts";
import { judgePrompt, stepPrompt } from "./prompts.ts";

/** A run that a step needs: the work itself, or somebody's judgement of it. */
export interface StepJob {
  readonly planId: string;
  readonly stepId: string;
  readonly phase: "work" | "verify";
  readonly attempt: number;
  readonly checks: number;
  /** Null once its run is known. */
  readonly prompt: string | null;
  readonly runId: string | null;
  readonly by: string;
  /** Why it is to be stopped. */
  readonly stopping: string | null;
}

/** What came of such a run. `stopped`: it was broken off because somebody stopped the plan. */
export type JobOutcome =
  | { readonly kind: "done"; readonly output: string }
  | { readonly kind: "judged"; readonly passed: boolean; readonly detail: string }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "stopped"; readonly reason: string };

/** Longer outputs are cut: the run has all of it. */
const MOST_OUTPUT = 64_000;

/** The same job is the same request, whoever makes it and however often (X10). */
export function requestIdOf({ planId, stepId, phase, attempt, checks }: StepJob): string {
  const work = `plan:${planId}:${stepId}:${attempt}`;
  return phase === "work" ? work : `${work}:verify:${checks}`;
}

/** What a running step is at; undefined where it is not running. */
export function jobOf(plan: LoadedPlan, stepId: string): StepJob | undefined {
  const { state, attempt, run_id, body } = entryOf(plan, stepId);
  if (state !== "running" || body.phase === null) return undefined;
  const { phase, checks, prompt, by, stopping, verify_run_id } = body;
  return {
    planId: plan.row.id,
    stepId,
    phase,
    attempt,
    checks,
    prompt,
    runId: phase === "work" ? run_id : verify_run_id,
    by,
    stopping: stopping === null ? null : stoppedBy(stopping),
  };
}

/** Begins a step, or goes on with its verification where that was broken off. */
export function* beginStep(ledger: Ledger, plan: LoadedPlan, id: string, by: string): Operation<LoadedPlan> {
  const step = stepOf(plan, id);
  const entry = entryOf(plan, id);
  if (entry.state === "running") throw planBusy(`The step "${id}" is running already.`);
  const [first] = openBefore(step, (one) => entryOf(plan, one).state);
  if (first !== undefined)
    throw planBusy(
      `The step "${id}" depends on "${first}", which is ${entryOf(plan, first).state}. Run that one first, or skip it.`,
    );
  yield* ledger.refuseOld(plan);
  if (entry.state === "pending" && entry.body.unverified) return yield* beginCheck(ledger, plan, step, by);
  const given = step.depends_on.map((one) => ({
    step: stepOf(plan, one),
    output: entryOf(plan, one).state === "completed" ? entryOf(plan, one).body.output : null,
  }));
  const next = yield* ledger.put(plan, id, {
    state: "running",
    attempt: entry.attempt + 1,
    run_id: null,
    conversation_id: null,
    body: {
      ...NEVER_RAN,
      phase: "work",
      prompt: stepPrompt(plan.body.goal, step, given),
      by,
      started_at: ledger.at,
    },
  });
  return yield* ledger.refresh(next);
}

/** Judges a step's output, again if it was judged before. */
export function* beginVerification(
  ledger: Ledger,
  plan: LoadedPlan,
  id: string,
  by: string,
): Operation<LoadedPlan> {
  const step = stepOf(plan, id);
  const { state, body } = entryOf(plan, id);
  if (state === "running") throw planBusy(`The step "${id}" is running. It is verified when it is done.`);
  if (step.criteria === "")
    throw planBusy(`The step "${id}" has no criteria to be verified by. Edit it and add some.`);
  if (body.output === null) throw planBusy(`The step "${id}" has no output to verify. Run it first.`);
  yield* ledger.refuseOld(plan);
  return yield* beginCheck(ledger, plan, step, by);
}

function* beginCheck(ledger: Ledger, plan: LoadedPlan, step: PlannedStep, by: string): Operation<LoadedPlan> {
  const entry = entryOf(plan, step.id);
  const next = yield* ledger.put(plan, step.id, {
    ...entry,
    state: "running",
    body: checking(plan, step, { ...entry.body, by, started_at: entry.body.started_at ?? ledger.at }),
  });
  return yield* ledger.refresh(next);
}

function checking(plan: LoadedPlan, step: PlannedStep, body: StepBody): StepBody {
  return {
    ...body,
    phase: "verify",
    prompt: judgePrompt(plan.body.goal, step, body.output ?? ""),
    checks: body.checks + 1,
    verify_run_id: null,
    verdict: null,
    verdict_detail: null,
    reason: null,
    ended_at: null,
    stopping: null,
    unverified: false,
  };
}

/** Writes down which run does a job. Its words are no longer needed: the run has them. */
export function* noteRun(
  ledger: Ledger,
  plan: LoadedPlan,
  job: StepJob,
  run: { readonly runId: string; readonly conversationId: string },
): Operation<LoadedPlan> {
  if (!isCurrent(plan, job)) return plan;
  const entry = entryOf(plan, job.stepId);
  const body = { ...entry.body, prompt: null };
  return yield* ledger.put(
    plan,
    job.stepId,
    job.phase === "work"
      ? { ...entry, run_id: run.runId, conversation_id: run.conversationId, body }
      : { ...entry, body: { ...body, verify_run_id: run.runId } },
  );
}

/** Whether the step is still at this job: somebody else may have seen to it. */
function isCurrent(plan: LoadedPlan, job: StepJob): boolean {
  const now = jobOf(plan, job.stepId);
  return now?.attempt === job.attempt && now.phase === job.phase && now.checks === job.checks;
}

/** Writes down what came of a job, once. */
export function* settleJob(
  ledger: Ledger,
  plan: LoadedPlan,
  job: StepJob,
  outcome: JobOutcome,
): Operation<LoadedPlan> {
  if (!isCurrent(plan, job)) return plan;
  const entry = entryOf(plan, job.stepId);
  const next = settled(plan, stepOf(plan, job.stepId), entry, outcome, ledger.at);
  const after = yield* ledger.refresh(yield* ledger.put(plan, job.stepId, next));
  if (after.row.state !== "active" && ledger.work.drive !== null) yield* ledger.setWork({ drive: null });
  return after;
}

function settled(
  plan: LoadedPlan,
  step: PlannedStep,
  entry: StepEntry,
  outcome: JobOutcome,
  at: number,
): StepEntry {
  const isStopped = entry.body.stopping !== null;
  const over = { ...entry.body, phase: null, prompt: null, ended_at: at, stopping: null };
  const isWork = entry.body.phase === "work";
  switch (outcome.kind) {
    case "done": {
      const cut = outcome.output.length > MOST_OUTPUT;
      const done = { ...over, output: cut ? outcome.output.slice(0, MOST_OUTPUT) : outcome.output, cut };
      if (step.criteria === "") return { ...entry, state: "completed", body: done };
      // Who stopped it before its verification finds it there.
      if (isStopped) return { ...entry, state: "pending", body: { ...done, unverified: true } };
      return { ...entry, state: "running", body: checking(plan, step, done) };
    }
    case "judged": {
      const verdict = outcome.passed ? ("passed" as const) : ("failed" as const);
      const reason = outcome.passed ? null : "Its verification failed.";
      const body = { ...over, verdict, verdict_detail: outcome.detail, reason };
      return { ...entry, state: outcome.passed ? "completed" : "failed", body };
    }
    case "failed":
      return isWork
        ? { ...entry, state: "failed", body: { ...over, reason: outcome.reason } }
        : {
            ...entry,
            state: "failed",
            body: { ...over, reason: "It could not be verified.", verdict_detail: outcome.reason },
          };
    case "stopped":
      return {
        ...entry,
        state: "pending",
        body: { ...over, reason: outcome.reason, unverified: !isWork },
      };
  }
}

/** Leaves a step out. Those that depend on it may run, and are told that it gave nothing. */
export function* skipStep(
  ledger: Ledger,
  plan: LoadedPlan,
  id: string,
  { by, reason }: { readonly by: string; readonly reason?: string | undefined },
): Operation<LoadedPlan> {
  stepOf(plan, id);
  const entry = entryOf(plan, id);
  if (entry.state === "running") throw planBusy(`The step "${id}" is running. Stop the plan first.`);
  if (entry.state === "completed") throw planBusy(`The step "${id}" is completed: there is nothing to skip.`);
  yield* ledger.refuseOld(plan);
  const body = { ...entry.body, by, reason: reason?.trim() || null, ended_at: ledger.at, unverified: false };
  const next = yield* ledger.put(plan, id, { ...entry, state: "skipped", body });
  yield* ledger.tell("plan.step_skipped", by, plan.row, { step: id });
  return yield* ledger.refresh(next);
}

/** Marks what runs as stopped; its runs are cancelled by whoever sees the mark. */
export function* stopSteps(
  ledger: Ledger,
  plan: LoadedPlan,
  by: { readonly by: string; readonly reason?: string | undefined },
): Operation<LoadedPlan> {
  let next = plan;
  const stopping = { by: by.by, at: ledger.at, ...(by.reason === undefined ? {} : { reason: by.reason }) };
  for (const [id, entry] of plan.steps)
    if (entry.state === "running" && entry.body.stopping === null)
      next = yield* ledger.put(next, id, { ...entry, body: { ...entry.body, stopping } });
  return next;
}

export function stoppedBy({ by, reason }: { readonly by: string; readonly reason?: string | undefined }) {
  return `Stopped by ${by}${reason === undefined ? "." : `: ${reason}`}`;
}
