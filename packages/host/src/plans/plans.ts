import { type AgentDefinition, TracksideError } from "trackside";
import { newId } from "trackside/engine";
import { agentVersionBody } from "../agents/agent-rows.ts";
import type { AgentRecord } from "../agents/agents.ts";
import { DEFAULT_TENANT } from "../runs/runs.ts";
import type { Cipher } from "../secrets/index.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import type { PlansTable } from "../store/tables.ts";
import { checkContent } from "./content.ts";
import { PlanConflictError, planBusy, unknownPlan } from "./errors.ts";
import { inLedger, type Ledger, type LoadedPlan, loadSteps, refuseRunning, runningOf } from "./ledger.ts";
import type { PlanBoard, PlanContent, PlanInput, PlanRecord, PlanVersion } from "./plan.ts";
import type { Generation } from "./plan-rows.ts";
import { PlanRuns, type PlanRunsInit } from "./plan-runs.ts";
import { generatePrompt } from "./prompts.ts";
import { beginStep, beginVerification, jobOf, skipStep, stopSteps } from "./steps.ts";
import { generationOf, recordOf, runsOf, statusesOf, versionOf, workOf } from "./view.ts";
import { loadWork, PlanWorker } from "./worker.ts";

interface OfTenant {
  readonly tenant?: string;
}

/** Who does it, and why. */
export interface Planner extends OfTenant {
  readonly by: string;
  readonly note?: string | undefined;
}

export interface PlansInit extends PlanRunsInit {
  readonly cipher: Cipher;
  /** Takes secrets out of what leaves the host. */
  readonly redact: <T>(value: T) => T;
  readonly open: () => Promise<void>;
  readonly notice: (message: string) => void;
}

const MOST_LISTED = 1_000;
/** Among how many versions of an agent one looks for who switched its autonomous mode on. */
const LOOKED_BACK = 200;

/**
 * Plans of agents, made and managed by people (W2): a goal, steps that depend on each other, and what came of each. A step is
 * a run of the agent. The planner of a run never writes here (W3).
 *
 * @example
 * const plan = await trackside.plans.create("clerk", { goal: "Close the books", steps }, { by: "ann" });
 * await trackside.plans.run(plan.id, { by: "ann" });
 */
export class Plans {
  readonly #init: PlansInit;
  readonly #runs: PlanRuns;
  readonly #worker: PlanWorker;

  constructor(init: PlansInit) {
    this.#init = init;
    this.#runs = new PlanRuns(init);
    const { engine, cipher, notice } = init;
    this.#worker = new PlanWorker({
      engine,
      runs: this.#runs,
      cipher,
      notice,
      parallel: (tenant, agentId) => this.#parallel(tenant, agentId),
    });
  }

  /** Makes known who has to be before runs are taken up. */
  register(): void {
    this.#runs.register();
  }

  /** Begins to work plans in the background, and goes on with what an earlier process left. */
  start(): void {
    this.#worker.start();
  }

  async stopWorking(): Promise<void> {
    await this.#worker.stop();
  }

  /** Everything about the plans of an agent at one look. */
  async board(agent: string, { tenant = DEFAULT_TENANT }: OfTenant = {}): Promise<PlanBoard> {
    const record = await this.#agent(agent, tenant);
    const { id: agentId, name, source, autonomous_mode } = record;
    const seen = await this.#read(function* (db) {
      const { work, plan: active } = yield* loadWork(db, { tenant, agentId });
      const plan = active ?? (yield* lastPlan(db, tenant, agentId));
      const ids = [...(plan === undefined ? [] : runsOf(plan)), work.generation?.run_id ?? ""];
      const statuses = yield* statusesOf(db, tenant, ids.filter(Boolean));
      const on = autonomous_mode ? yield* switchedOn(db, agentId) : undefined;
      return { work, plan, statuses, on };
    });
    const { work, plan, statuses, on } = seen;
    return this.#init.redact({
      agent: name,
      agent_id: agentId,
      plan: plan === undefined ? null : recordOf(plan, statuses),
      work: workOf(work, plan, statuses),
      generation: generationOf(work, statuses),
      autonomous: {
        on: autonomous_mode,
        available: source === "stored",
        by: on?.by ?? null,
        at: on?.at ?? null,
      },
      parallel: parallelOf(record),
    });
  }

  async get(id: string, { tenant = DEFAULT_TENANT }: OfTenant = {}): Promise<PlanRecord> {
    const found = await this.#read(function* (db) {
      const plan = yield* loadSteps(db, yield* findPlan(db, tenant, id));
      return recordOf(plan, yield* statusesOf(db, tenant, runsOf(plan)));
    });
    return this.#init.redact(found);
  }

  /** Every version of every plan of an agent, the newest first. */
  async versions(
    agent: string,
    {
      tenant = DEFAULT_TENANT,
      before,
      limit = 100,
    }: OfTenant & { readonly before?: number | undefined; readonly limit?: number } = {},
  ): Promise<readonly PlanVersion[]> {
    const { id: agentId } = await this.#agent(agent, tenant);
    return this.#read(function* (db) {
      let query = db
        .selectFrom("plan_versions")
        .leftJoin("plans", "plans.id", "plan_versions.plan_id")
        .select([
          "plan_versions.n as n",
          "plan_versions.plan_id as plan_id",
          "plan_versions.created_at as created_at",
          "plan_versions.body as body",
          "plans.version as version",
          "plans.state as state",
        ])
        .where("plan_versions.tenant", "=", tenant)
        .where("plan_versions.agent_id", "=", agentId)
        .orderBy("plan_versions.n", "desc")
        .limit(Math.max(0, Math.min(limit, MOST_LISTED)));
      if (before !== undefined) query = query.where("plan_versions.n", "<", before);
      return (yield* rows(query)).map(({ version, state, ...row }) =>
        versionOf(row, version === null || state === null ? undefined : { version, state }),
      );
    });
  }

  /** A plan by hand. It supersedes the active one, and is refused while a step of that is running. */
  async create(agent: string, input: PlanInput, author: Planner): Promise<PlanRecord> {
    const { tenant = DEFAULT_TENANT, by, note } = author;
    const content = checkContent(input);
    const { id: agentId } = await this.#agent(agent, tenant);
    const made = await this.#change(tenant, agentId, function* (ledger) {
      if (ledger.work.generation?.state === "running")
        throw planBusy("A plan is being generated for this agent. Stop that first, or wait for it.");
      return yield* ledger.create(content, { by, note, origin: "hand" });
    });
    this.#worker.wake();
    return recordOf(made, new Map());
  }

  /** Saves over the version it was read at, as the next one. What came of its steps stays with them. */
  async save(
    id: string,
    input: PlanInput,
    options: Planner & { readonly version: number },
  ): Promise<PlanRecord> {
    const content = checkContent(input);
    const { by, note, version } = options;
    return this.#on(id, options, function* (ledger, plan) {
      if (plan.row.version !== version) throw new PlanConflictError(plan.row, version);
      const { goal, steps } = plan.body;
      if (JSON.stringify(content) === JSON.stringify(inOrder({ goal, steps }))) return plan; // nothing to remember
      refuseTouched(plan, content);
      return yield* ledger.save(plan, content, { by, note });
    });
  }

  /**
   * Has the agent's planner make a plan, in a run of its own. Answers as soon as that is sure to happen; the plan is there
   * when the run is over, and supersedes the active one.
   */
  async generate(
    agent: string,
    { goal, guidance = "" }: { readonly goal: string; readonly guidance?: string | undefined },
    author: Planner,
  ): Promise<PlanBoard> {
    const { tenant = DEFAULT_TENANT, by } = author;
    const asked = checkContent({ goal, steps: [] }).goal;
    const { id: agentId } = await this.#agent(agent, tenant);
    const generation = await this.#change(tenant, agentId, function* (ledger) {
      if (ledger.work.generation?.state === "running")
        throw planBusy("A plan is being generated for this agent already. Stop that first, or wait for it.");
      const current = yield* ledger.active();
      if (current !== undefined) refuseRunning(current, "A new plan takes the place of this one");
      const next: Generation = {
        id: newId("gen"),
        goal: asked,
        ...(guidance.trim() === "" ? {} : { note: guidance.trim().slice(0, 500) }),
        by,
        at: ledger.at,
        state: "running",
        prompt: generatePrompt(asked, guidance, current?.body),
        run_id: null,
        version: null,
        reason: null,
        stopping: null,
      };
      yield* ledger.setWork({ generation: next });
      return next;
    });
    await this.#worker.startGeneration({ tenant, agentId }, generation);
    this.#worker.wake();
    return this.board(agentId, { tenant });
  }

  /** Runs every step that is left, those that do not depend on each other at the same time. Ends a stop. */
  async run(id: string, author: Planner): Promise<PlanRecord> {
    const { tenant = DEFAULT_TENANT, by } = author;
    const { agentId } = await this.#located(tenant, id, function* (ledger, plan) {
      yield* ledger.refuseOld(plan);
      if (ledger.work.generation?.state === "running")
        throw planBusy("A plan is being generated for this agent, which will take the place of this one.");
      if (plan.row.state !== "active")
        throw planBusy(
          plan.row.state === "failed"
            ? "A step of this plan has failed and nothing is left to run. Retry the step, or skip it."
            : `This plan is ${plan.row.state}: there is nothing left to run.`,
        );
      yield* ledger.setWork({ drive: { mode: "all", by, at: ledger.at }, stopped: null });
      yield* ledger.tell("plan.started", by, plan.row);
      return plan;
    });
    // Whoever asked sees what was begun. That it goes on is in the store already.
    await this.#worker.work({ tenant, agentId }).catch(() => {});
    this.#worker.wake();
    return this.get(id, { tenant });
  }

  /** The same for the active plan of an agent. */
  async runActive(agent: string, author: Planner): Promise<PlanRecord> {
    const { tenant = DEFAULT_TENANT } = author;
    const { plan, agent: name } = await this.board(agent, { tenant });
    if (plan?.state !== "active") throw planBusy(`The agent "${name}" has no active plan. Make one first.`);
    return this.run(plan.id, author);
  }

  /** Runs one step, or again one that is over. Those before it have to be completed or skipped. */
  async runStep(id: string, step: string, author: Planner): Promise<PlanRecord> {
    return this.#begin(id, step, author, beginStep, "plan.step_started");
  }

  /** Has a step's output judged by its criteria, again if it was before. */
  async verifyStep(id: string, step: string, author: Planner): Promise<PlanRecord> {
    return this.#begin(id, step, author, beginVerification, "plan.step_verified");
  }

  async skipStep(id: string, step: string, author: Planner): Promise<PlanRecord> {
    return this.#on(id, author, (ledger, plan) =>
      skipStep(ledger, plan, step, { by: author.by, reason: author.note }),
    );
  }

  /**
   * Stops everything: what runs is cancelled, what is being planned too, and nothing is begun by itself any more until
   * somebody runs the plan again.
   */
  async stop(id: string, author: Planner): Promise<PlanRecord> {
    const { by, note } = author;
    const reason = note === undefined || note.trim() === "" ? {} : { reason: note.trim() };
    return this.#on(id, author, function* (ledger, plan) {
      const { generation } = ledger.work;
      const stopping = { by, at: ledger.at, ...reason };
      yield* ledger.setWork({
        drive: null,
        stopped: stopping,
        ...(generation?.state === "running" ? { generation: { ...generation, stopping } } : {}),
      });
      yield* ledger.tell("plan.stopped", by, plan.row);
      return yield* stopSteps(ledger, plan, { by, ...reason });
    });
  }

  async #begin(
    id: string,
    step: string,
    author: Planner,
    begin: typeof beginStep,
    action: string,
  ): Promise<PlanRecord> {
    const { tenant = DEFAULT_TENANT, by } = author;
    const { agentId, plan } = await this.#located(tenant, id, function* (ledger, found) {
      if (ledger.work.generation?.state === "running")
        throw planBusy("A plan is being generated for this agent, which will take the place of this one.");
      yield* ledger.tell(action, by, found.row, { step });
      return yield* begin(ledger, found, step, by);
    });
    const job = jobOf(plan, step);
    // Whoever asked hears at once which run it is, or why there is none.
    if (job !== undefined) await this.#worker.see({ tenant, agentId }, job);
    this.#worker.wake();
    return this.get(id, { tenant });
  }

  /** Changes a plan, and answers how it then is. */
  async #on(
    id: string,
    { tenant = DEFAULT_TENANT }: OfTenant,
    work: (ledger: Ledger, plan: LoadedPlan) => Operation<LoadedPlan>,
  ): Promise<PlanRecord> {
    await this.#located(tenant, id, work);
    this.#worker.wake();
    return this.get(id, { tenant });
  }

  async #located(
    tenant: string,
    id: string,
    work: (ledger: Ledger, plan: LoadedPlan) => Operation<LoadedPlan>,
  ): Promise<{ readonly agentId: string; readonly plan: LoadedPlan }> {
    const { agent_id: agentId } = await this.#read((db) => findPlan(db, tenant, id));
    const plan = await this.#change(tenant, agentId, function* (ledger) {
      return yield* work(ledger, yield* ledger.plan(id));
    });
    return { agentId, plan };
  }

  #change<T>(tenant: string, agentId: string, work: (ledger: Ledger) => Operation<T>): Promise<T> {
    const { engine, cipher } = this.#init;
    return inLedger(engine.store, cipher, { tenant, agentId, at: engine.clock.now() }, work);
  }

  async #read<T>(work: (db: Builder) => Operation<T>): Promise<T> {
    await this.#init.open();
    return this.#init.engine.store.read(work);
  }

  async #agent(key: string, tenant: string): Promise<AgentRecord> {
    await this.#init.open();
    return this.#init.agents.get(key, { tenant });
  }

  /** One where that cannot be found out: what is begun then says what is wrong. */
  async #parallel(tenant: string, agentId: string): Promise<number> {
    try {
      return parallelOf(await this.#init.agents.get(agentId, { tenant }));
    } catch (error) {
      if (error instanceof TracksideError) return 1;
      throw error;
    }
  }
}

function parallelOf({ definition }: AgentRecord): number {
  const most = (definition as Partial<AgentDefinition>).max_parallel_subagents; // as `toJSON` writes it
  return most ?? 3;
}

/** What runs is what was asked for: it can be edited when it is done. */
function refuseTouched(plan: LoadedPlan, next: PlanContent): void {
  for (const id of runningOf(plan)) {
    const at = next.steps.findIndex((step) => step.id === id);
    const before = inOrder(plan.body).steps.find((step) => step.id === id);
    if (JSON.stringify(next.steps[at]) === JSON.stringify(before)) continue;
    const where = at < 0 ? "steps" : `steps[${at}]`;
    throw planBusy(
      `${where}: the step "${id}" is running and can neither be changed nor removed. Stop the plan first, or wait.`,
    );
  }
}

/** With its keys in the order in which they are compared. */
function inOrder({ goal, steps }: PlanContent): PlanContent {
  return {
    goal,
    steps: steps.map(({ id, title, detail, depends_on, criteria }) => ({
      id,
      title,
      detail,
      depends_on,
      criteria,
    })),
  };
}

function* findPlan(db: Builder, tenant: string, id: string): Operation<PlansTable> {
  const [row] = yield* rows(
    db.selectFrom("plans").selectAll().where("id", "=", id).where("tenant", "=", tenant),
  );
  if (row === undefined) throw unknownPlan(id);
  return row;
}

function* lastPlan(db: Builder, tenant: string, agentId: string): Operation<LoadedPlan | undefined> {
  const [row] = yield* rows(
    db
      .selectFrom("plans")
      .selectAll()
      .where("tenant", "=", tenant)
      .where("agent_id", "=", agentId)
      .orderBy("version", "desc")
      .limit(1),
  );
  return row && (yield* loadSteps(db, row));
}

/** Who switched the autonomous mode of a stored agent on, as it is now. */
function* switchedOn(
  db: Builder,
  agentId: string,
): Operation<{ readonly by: string; readonly at: number } | undefined> {
  const found = yield* rows(
    db
      .selectFrom("agent_versions")
      .select(["n", "created_at", "body"])
      .where("agent_id", "=", agentId)
      .orderBy("n", "desc")
      .limit(LOOKED_BACK),
  );
  let on: { readonly by: string; readonly at: number } | undefined;
  for (const { n, created_at, body } of found) {
    const { autonomous_mode, by } = agentVersionBody.read(body, `${agentId} ${n}`);
    if (!autonomous_mode) break;
    on = { by, at: created_at };
  }
  return on;
}
