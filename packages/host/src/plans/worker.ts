import { type Clock, type JsonObject, TracksideError } from "trackside";
import { systemClock, type Timer } from "trackside/engine";
import { agentBody } from "../agents/agent-rows.ts";
import type { DurableEngine } from "../journal/durable-engine.ts";
import type { Cipher } from "../secrets/index.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import { checkContent } from "./content.ts";
import { readySteps } from "./graph.ts";
import { entryOf, inLedger, type Ledger, type LoadedPlan, loadSteps, runningOf } from "./ledger.ts";
import { type Generation, NO_WORK, planWorkBody, type WorkBody } from "./plan-rows.ts";
import type { PlanRuns } from "./plan-runs.ts";
import {
  beginStep,
  type JobOutcome,
  jobOf,
  noteRun,
  requestIdOf,
  type StepJob,
  settleJob,
  stoppedBy,
} from "./steps.ts";

export interface PlanWorkerInit {
  readonly engine: DurableEngine;
  readonly runs: PlanRuns;
  readonly cipher: Cipher;
  /** How many steps of an agent may run at once. */
  readonly parallel: (tenant: string, agentId: string) => Promise<number>;
  readonly notice: (message: string) => void;
}

/** The agent whose plans are worked on. */
interface Whose {
  readonly tenant: string;
  readonly agentId: string;
}

const POLL_MS = 2_000;
const MOST_AT_ONCE = 1_000;

/**
 * Works plans in the background: begins what is to be begun, and writes down what came of what has ended. It keeps nothing:
 * the truth is in the store, so whoever looks next goes on, and two who look at once do nothing twice.
 */
export class PlanWorker {
  readonly #init: PlanWorkerInit;
  /** Runs of plans that were seen under way: when one of them ends here there is something to do. */
  readonly #watched = new Set<string>();
  #state: "idle" | "running" | "stopped" = "idle";
  #timer: Timer | undefined;
  #unwatch: (() => void)[] = [];
  #looking: Promise<void> | undefined;
  #lookAgain = false;

  constructor(init: PlanWorkerInit) {
    this.#init = init;
  }

  start(): void {
    if (this.#state !== "idle") return;
    this.#state = "running";
    const { engine } = this.#init;
    this.#unwatch = [
      engine.onRun(({ runId, change }) => {
        if (change !== "started" && this.#watched.has(runId)) this.wake();
      }),
      // Others write all the time: only what is known to be under way is worth a look.
      engine.store.onChange(() => {
        if (this.#watched.size > 0) this.wake();
      }),
    ];
    this.wake();
  }

  async stop(): Promise<void> {
    this.#state = "stopped";
    this.#timer?.stop();
    for (const unwatch of this.#unwatch) unwatch();
    await this.#looking;
  }

  /** There may be something to do: look now rather than at the next poll. Never waits and never throws. */
  wake(): void {
    if (this.#state !== "running") return;
    if (this.#looking !== undefined) {
      this.#lookAgain = true;
      return;
    }
    this.#timer?.stop();
    this.#looking = this.#look()
      .catch((error: unknown) => this.#complain("plans could not be looked at", error))
      .finally(() => this.#looked());
  }

  #looked(): void {
    this.#looking = undefined;
    if (this.#state !== "running") return;
    if (this.#lookAgain) {
      this.#lookAgain = false;
      this.wake();
      return;
    }
    // What others do is a matter of this machine's time, whatever clock runs go by.
    this.#timer = systemClock.after(POLL_MS, () => this.wake());
    this.#timer.hold?.(false);
  }

  get #clock(): Clock {
    return this.#init.engine.clock;
  }

  async #look(): Promise<void> {
    const open = await this.#init.engine.store.read(openWork);
    if (open.length === 0) this.#watched.clear();
    await Promise.all(
      open.map((one) =>
        this.work(one).catch((error: unknown) =>
          this.#complain(`the plan of ${one.agentId} was not worked on`, error),
        ),
      ),
    );
  }

  /** One round for an agent: what ended is written down, and what is ready is begun. */
  async work(whose: Whose): Promise<void> {
    for (let isMore = true; isMore && this.#state !== "stopped"; ) {
      const { work, plan } = await this.#init.engine.store.read((db) => loadWork(db, whose));
      if (work.generation?.state === "running") await this.#generate(whose, work.generation);
      const jobs = plan === undefined ? [] : runningOf(plan).flatMap((id) => jobOf(plan, id) ?? []);
      const seen = await Promise.all(jobs.map((job) => this.see(whose, job)));
      const begun = await this.#begin(whose);
      seen.push(...(await Promise.all(begun.map((job) => this.see(whose, job)))));
      isMore = seen.includes("settled");
    }
  }

  /** Sees to a running step: its run is started, stopped, or over. */
  async see(whose: Whose, job: StepJob): Promise<"open" | "settled"> {
    if (job.runId === null) return this.#start(whose, job);
    this.#watched.add(job.runId);
    const look = await this.#init.runs.look(whose.tenant, job.runId);
    if (look === "open" && job.stopping !== null)
      await this.#init.runs.cancel(whose.tenant, job.runId, job.stopping);
    if (look === "open" || look === "stopping") return "open";
    this.#watched.delete(job.runId);
    const outcome = look === "gone" ? GONE : await this.#outcome(whose, job, job.runId);
    return this.#settle(whose, job, outcome);
  }

  async #start(whose: Whose, job: StepJob): Promise<"open" | "settled"> {
    const { tenant, agentId } = whose;
    const { planId, stepId, phase, by, prompt, stopping } = job;
    try {
      const run = await this.#init.runs.begin({
        tenant,
        agentId,
        role: phase === "work" ? "worker" : "judge",
        prompt: prompt ?? "",
        requestId: requestIdOf(job),
        scope: { user: by, plan: planId, plan_step: stepId },
        isStopped: stopping !== null,
      });
      this.#watched.add(run.runId);
      if (stopping !== null) await this.#init.runs.cancel(tenant, run.runId, stopping);
      await this.#change(whose, function* (ledger) {
        yield* noteRun(ledger, yield* ledger.plan(planId), job, run);
      });
      return "open";
    } catch (error) {
      if (error instanceof StoreError || !(error instanceof TracksideError)) throw error; // tried again
      return this.#settle(whose, job, { kind: "failed", reason: error.message });
    }
  }

  async #settle(whose: Whose, job: StepJob, outcome: JobOutcome): Promise<"settled"> {
    await this.#change(whose, function* (ledger) {
      yield* settleJob(ledger, yield* ledger.plan(job.planId), job, outcome);
    });
    return "settled";
  }

  async #outcome({ tenant }: Whose, job: StepJob, runId: string): Promise<JobOutcome> {
    const end = await this.#init.runs.end(tenant, runId);
    if (end.kind === "cancelled")
      return job.stopping === null
        ? { kind: "failed", reason: end.reason }
        : { kind: "stopped", reason: job.stopping };
    if (end.kind === "failed") return end;
    const { output, text } = end.result;
    if (job.phase === "work")
      return { kind: "done", output: typeof output === "string" ? output : (JSON.stringify(output) ?? text) };
    const { passed, reason } = output as { passed: boolean; reason: string }; // as its schema says
    return { kind: "judged", passed, detail: reason };
  }

  /** Begins the steps that are ready, if somebody wants them done. Where there is nothing to do nothing is written. */
  async #begin(whose: Whose): Promise<readonly StepJob[]> {
    const most = await this.#init.parallel(whose.tenant, whose.agentId);
    const now = await this.#init.engine.store.read((db) => loadWork(db, whose));
    const { isOver, ready } = toBegin(now, most);
    if (!isOver && ready.length === 0) return [];
    return this.#change(whose, function* (ledger) {
      const found = yield* loadWork(ledger.db, whose);
      const { isOver: hasEnded, ready: chosen } = toBegin(found, most);
      const { drive } = found.work;
      if (hasEnded) yield* ledger.setWork({ drive: null });
      if (found.plan === undefined || chosen.length === 0) return [];
      if (drive === null) {
        yield* ledger.setWork({ drive: { mode: "autonomous", by: AUTONOMOUS, at: ledger.at } });
        yield* ledger.tell("plan.started", AUTONOMOUS, found.plan.row);
      }
      let next: LoadedPlan = found.plan;
      for (const id of chosen) next = yield* beginStep(ledger, next, id, drive?.by ?? AUTONOMOUS);
      return chosen.flatMap((id) => jobOf(next, id) ?? []);
    });
  }

  /** Sees to a plan that is being made. */
  async #generate(whose: Whose, generation: Generation): Promise<void> {
    const { tenant } = whose;
    const { run_id, stopping } = generation;
    if (run_id === null) return this.startGeneration(whose, generation);
    this.#watched.add(run_id);
    const look = await this.#init.runs.look(tenant, run_id);
    if (look === "open" && stopping !== null)
      await this.#init.runs.cancel(tenant, run_id, stoppedBy(stopping));
    if (look === "open" || look === "stopping") return;
    this.#watched.delete(run_id);
    const end = look === "gone" ? GONE : await this.#init.runs.end(tenant, run_id);
    if (end.kind !== "answered") return this.#failGeneration(whose, generation, end.reason);
    await this.#becomePlan(whose, generation, end.result.output as JsonObject); // as its schema says
  }

  async startGeneration(whose: Whose, generation: Generation): Promise<void> {
    const { tenant, agentId } = whose;
    const { id, by, prompt, stopping } = generation;
    try {
      const { runId } = await this.#init.runs.begin({
        tenant,
        agentId,
        role: "planner",
        prompt: prompt ?? "",
        requestId: `plan-generation:${id}`,
        scope: { user: by, plan_generation: id },
        isStopped: stopping !== null,
      });
      this.#watched.add(runId);
      if (stopping !== null) await this.#init.runs.cancel(tenant, runId, stoppedBy(stopping));
      await this.#change(whose, (ledger) => setGeneration(ledger, id, { run_id: runId, prompt: null }));
    } catch (error) {
      if (error instanceof StoreError || !(error instanceof TracksideError)) throw error; // tried again
      await this.#failGeneration(whose, generation, error.message);
    }
  }

  async #becomePlan(whose: Whose, generation: Generation, made: JsonObject): Promise<void> {
    const { id, goal, by, note } = generation;
    try {
      const content = checkContent({ goal, steps: made["steps"] }, "the generated plan");
      if (content.steps.length === 0)
        return await this.#failGeneration(whose, generation, "The planner came to no steps.");
      await this.#change(whose, function* (ledger) {
        if (ledger.work.generation?.id !== id || ledger.work.generation.state !== "running") return;
        const { row } = yield* ledger.create(content, { by, note, origin: "generated" });
        yield* setGeneration(ledger, id, { state: "completed", version: row.version });
      });
    } catch (error) {
      if (error instanceof StoreError || !(error instanceof TracksideError)) throw error;
      await this.#failGeneration(whose, generation, error.message);
    }
  }

  async #failGeneration(whose: Whose, { id }: Generation, reason: string): Promise<void> {
    await this.#change(whose, (ledger) => setGeneration(ledger, id, { state: "failed", reason }));
  }

  #change<T>(whose: Whose, work: (ledger: Ledger) => Operation<T>): Promise<T> {
    const { engine, cipher } = this.#init;
    return inLedger(engine.store, cipher, { ...whose, at: this.#clock.now() }, work);
  }

  #complain(what: string, error: unknown): void {
    if (this.#state === "stopped") return;
    this.#init.notice(`${what} and will be again: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Who begins steps when nobody does. */
export const AUTONOMOUS = "autonomous mode";

const GONE = { kind: "failed", reason: "Its run was deleted." } as const;

/** Once it is over it stays as it is. */
export function* setGeneration(ledger: Ledger, id: string, change: Partial<Generation>): Operation<void> {
  const { generation } = ledger.work;
  if (generation?.id !== id || generation.state !== "running") return;
  yield* ledger.setWork({ generation: { ...generation, ...change } });
}

/** Agents whose plans need somebody: a step runs, somebody wants something done, or it works by itself. */
function* openWork(db: Builder): Operation<readonly Whose[]> {
  const found = yield* rows(
    db
      .selectFrom("plan_work")
      .select(["plan_work.tenant as tenant", "plan_work.agent_id as agentId"])
      .leftJoin("plans", (on) =>
        on
          .onRef("plans.tenant", "=", "plan_work.tenant")
          .onRef("plans.agent_id", "=", "plan_work.agent_id")
          .on("plans.state", "=", "active"),
      )
      .leftJoin("agents", "agents.id", "plan_work.agent_id")
      .where((where) =>
        where.or([
          where("plan_work.is_open", "=", 1),
          where.and([
            where("plans.id", "is not", null),
            // How a body says it. Text in a definition may say so too: it is read before anything is begun.
            where("agents.body", "like", '%"autonomous_mode":true%'),
          ]),
          where.exists(
            where
              .selectFrom("plan_steps")
              .select("plan_steps.step_id")
              .whereRef("plan_steps.plan_id", "=", "plans.id")
              .where("plan_steps.state", "=", "running"),
          ),
        ]),
      )
      .limit(MOST_AT_ONCE),
  );
  return found;
}

interface WorkNow {
  readonly work: WorkBody;
  /** The active one. */
  readonly plan: LoadedPlan | undefined;
  /** The agent works by itself. */
  readonly autonomous: boolean;
}

/** What is to be begun now, and whether whoever wanted it has what they wanted. */
function toBegin(
  { work, plan, autonomous }: WorkNow,
  most: number,
): { readonly isOver: boolean; readonly ready: readonly string[] } {
  const { drive, stopped, generation } = work;
  if (drive?.mode === "autonomous" && !autonomous) return { isOver: true, ready: [] };
  const isWanted = stopped === null && generation?.state !== "running" && (drive !== null || autonomous);
  if (!isWanted) return { isOver: false, ready: [] };
  const running = plan === undefined ? 0 : runningOf(plan).length;
  const ready =
    plan === undefined
      ? []
      : readySteps(plan.body.steps, (id) => entryOf(plan, id).state).map(({ id }) => id);
  return {
    isOver: drive !== null && running === 0 && ready.length === 0,
    ready: ready.slice(0, Math.max(0, most - running)),
  };
}

export function* loadWork(db: Builder, { tenant, agentId }: Whose): Operation<WorkNow> {
  const [work] = yield* rows(
    db.selectFrom("plan_work").select("body").where("tenant", "=", tenant).where("agent_id", "=", agentId),
  );
  const [row] = yield* rows(
    db
      .selectFrom("plans")
      .selectAll()
      .where("tenant", "=", tenant)
      .where("agent_id", "=", agentId)
      .where("state", "=", "active"),
  );
  const [agent] = yield* rows(
    db.selectFrom("agents").select("body").where("id", "=", agentId).where("tenant", "=", tenant),
  );
  return {
    work: work === undefined ? NO_WORK : planWorkBody.read(work.body, agentId),
    plan: row && (yield* loadSteps(db, row)),
    autonomous: agent !== undefined && agentBody.read(agent.body, agentId).autonomous_mode,
  };
}
