import { newId } from "trackside/engine";
import { type AuditEvent, appendAudit } from "../audit/index.ts";
import type { Cipher } from "../secrets/index.ts";
import { type Builder, type Operation, rows, type Store } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import type { PlanStepsTable, PlansTable } from "../store/tables.ts";
import { planBusy, unknownPlan, unknownStep } from "./errors.ts";
import { stateBy } from "./graph.ts";
import type { PlanContent, PlannedStep, PlanOrigin, StepState } from "./plan.ts";
import {
  NEVER_RAN,
  NO_WORK,
  type PlanBody,
  planBody,
  planStepBody,
  planVersionBody,
  planWorkBody,
  type StepBody,
  type WorkBody,
} from "./plan-rows.ts";

/** A step's row, or what stands for it before it ever ran. */
export interface StepEntry {
  readonly state: StepState;
  readonly attempt: number;
  readonly run_id: string | null;
  readonly conversation_id: string | null;
  readonly body: StepBody;
}

/** A plan with what came of its steps. */
export interface LoadedPlan {
  readonly row: PlansTable;
  readonly body: PlanBody;
  readonly steps: ReadonlyMap<string, StepEntry>;
}

const NEVER: StepEntry = {
  state: "pending",
  attempt: 0,
  run_id: null,
  conversation_id: null,
  body: NEVER_RAN,
};

const TRIES = 3;

/** Plans of one agent of one tenant, in a transaction that is alone with them. */
export class Ledger {
  readonly db: Builder;
  readonly tenant: string;
  readonly agentId: string;
  readonly at: number;
  readonly #cipher: Cipher;
  #work: WorkBody;

  constructor(db: Builder, of: { tenant: string; agentId: string; at: number }, work: WorkBody, box: Cipher) {
    this.db = db;
    this.tenant = of.tenant;
    this.agentId = of.agentId;
    this.at = of.at;
    this.#work = work;
    this.#cipher = box;
  }

  /** Who works, as this transaction has it. */
  get work(): WorkBody {
    return this.#work;
  }

  /** The active plan; undefined where there is none. */
  *active(): Operation<LoadedPlan | undefined> {
    const [row] = yield* rows(this.#plans().where("state", "=", "active"));
    return row && (yield* loadSteps(this.db, row));
  }

  /** The last plan there was. */
  *latest(): Operation<LoadedPlan | undefined> {
    const [row] = yield* rows(this.#plans().orderBy("version", "desc").limit(1));
    return row && (yield* loadSteps(this.db, row));
  }

  #plans() {
    return this.db
      .selectFrom("plans")
      .selectAll()
      .where("tenant", "=", this.tenant)
      .where("agent_id", "=", this.agentId);
  }

  *plan(id: string): Operation<LoadedPlan> {
    const [row] = yield* rows(this.#plans().where("id", "=", id));
    if (row === undefined) throw unknownPlan(id);
    return yield* loadSteps(this.db, row);
  }

  /** A new plan. The active one is superseded; while a step of it runs that is refused. */
  *create(
    content: PlanContent,
    about: { readonly by: string; readonly note?: string | undefined; readonly origin: PlanOrigin },
  ): Operation<LoadedPlan> {
    const before = yield* this.active();
    if (before !== undefined) {
      refuseRunning(before, "A new plan takes the place of this one");
      yield* rows(
        this.db
          .updateTable("plans")
          .set({ state: "superseded", updated_at: this.at })
          .where("id", "=", before.row.id),
      );
    }
    // Whoever wanted all of the other one done did not ask for this one.
    if (this.#work.drive?.mode === "all") yield* this.setWork({ drive: null });
    const body = planBody.write({ v: 1, ...copied(content), ...authored(about) });
    const row: PlansTable = {
      id: newId("plan"),
      tenant: this.tenant,
      agent_id: this.agentId,
      version: yield* this.#nextVersion(),
      state: "active",
      created_at: this.at,
      updated_at: this.at,
      body,
    };
    yield* rows(this.db.insertInto("plans").values(row));
    yield* this.#keepVersion(row);
    yield* this.tell("plan.created", about.by, row, { after: { ...copied(content) } });
    return { row, body: planBody.read(body, row.id), steps: new Map() };
  }

  /** The next version of a plan. What came of its steps stays with them. */
  *save(
    plan: LoadedPlan,
    content: PlanContent,
    about: { readonly by: string; readonly note?: string | undefined },
  ): Operation<LoadedPlan> {
    yield* this.refuseOld(plan);
    const body = planBody.write({ v: 1, ...copied(content), ...authored({ ...about, origin: "hand" }) });
    const version = yield* this.#nextVersion();
    const next = { ...plan, row: { ...plan.row, version, body }, body: planBody.read(body) };
    yield* rows(
      this.db.updateTable("plans").set({ version, body, updated_at: this.at }).where("id", "=", plan.row.id),
    );
    yield* this.#keepVersion({ ...next.row, updated_at: this.at });
    const { goal, steps } = plan.body;
    yield* this.tell("plan.saved", about.by, next.row, {
      before: { ...copied({ goal, steps }) },
      after: { ...copied(content) },
    });
    return yield* this.refresh(next);
  }

  /** Only the last plan of an agent is worked on. */
  *refuseOld({ row }: LoadedPlan): Operation<void> {
    const last = yield* this.latest();
    if (last === undefined || last.row.id === row.id) return;
    throw planBusy(
      `The plan ${row.id} (version ${row.version}) was superseded by version ${last.row.version}. Work on that one, or make a new plan of this.`,
    );
  }

  /** Writes a step. */
  *put(plan: LoadedPlan, id: string, entry: StepEntry): Operation<LoadedPlan> {
    const { state, attempt, run_id, conversation_id } = entry;
    const values = {
      state,
      attempt,
      run_id,
      conversation_id,
      updated_at: this.at,
      body: planStepBody.write(entry.body),
    };
    yield* rows(
      this.db
        .insertInto("plan_steps")
        .values({ plan_id: plan.row.id, step_id: id, ...values })
        .onConflict((on) => on.columns(["plan_id", "step_id"]).doUpdateSet(values)),
    );
    return { ...plan, steps: new Map(plan.steps).set(id, entry) };
  }

  /** Makes the plan what its steps say it is. */
  *refresh(plan: LoadedPlan): Operation<LoadedPlan> {
    const { row, body } = plan;
    const state = stateBy(body.steps, (id) => entryOf(plan, id).state);
    if (state === row.state) return plan;
    yield* rows(this.db.updateTable("plans").set({ state, updated_at: this.at }).where("id", "=", row.id));
    if (state !== "active") yield* this.tell(`plan.${state}`, "engine", row);
    return { ...plan, row: { ...row, state, updated_at: this.at } };
  }

  /** Writes who works. */
  *setWork(change: Partial<Omit<WorkBody, "v">>): Operation<void> {
    const work = { ...this.#work, ...change };
    this.#work = work;
    const is_open = work.drive !== null || work.generation?.state === "running" ? 1 : 0;
    yield* rows(
      this.db
        .updateTable("plan_work")
        .set({ is_open, updated_at: this.at, body: planWorkBody.write(work) })
        .where("tenant", "=", this.tenant)
        .where("agent_id", "=", this.agentId),
    );
  }

  /** In the transaction of what it tells. */
  *tell(
    action: string,
    by: string,
    { id, version, agent_id }: Pick<PlansTable, "id" | "version" | "agent_id">,
    more: Pick<AuditEvent, "before" | "after"> & { readonly step?: string } = {},
  ): Operation<void> {
    const { step, ...content } = more;
    const about = { plan: id, agent: agent_id, version, ...(step === undefined ? {} : { step }) };
    const { tenant, at } = this;
    yield* appendAudit(this.#cipher, { tenant, at, action, by, about, ...content })(this.db);
  }

  *#nextVersion(): Operation<number> {
    const [last] = yield* rows(
      this.db
        .selectFrom("plan_versions")
        .select("n")
        .where("tenant", "=", this.tenant)
        .where("agent_id", "=", this.agentId)
        .orderBy("n", "desc")
        .limit(1),
    );
    return (last?.n ?? 0) + 1;
  }

  *#keepVersion({ id, version, body, tenant, agent_id, updated_at }: PlansTable): Operation<void> {
    const kept = planVersionBody.write(planBody.read(body, id));
    yield* rows(
      this.db
        .insertInto("plan_versions")
        .values({ tenant, agent_id, n: version, plan_id: id, created_at: updated_at, body: kept }),
    );
  }
}

/** Runs work that is alone with the plans of an agent, whatever other processes do. */
export async function inLedger<T>(
  store: Store,
  box: Cipher,
  of: { readonly tenant: string; readonly agentId: string; readonly at: number },
  work: (ledger: Ledger) => Operation<T>,
): Promise<T> {
  for (let left = TRIES; ; left -= 1)
    try {
      return await store.write(function* (db) {
        return yield* work(new Ledger(db, of, yield* hold(db, of), box));
      });
    } catch (error) {
      // Two who write the first row of an agent at once: one of them comes again.
      if (!(error instanceof StoreError) || error.fault !== "conflict" || left === 1) throw error;
    }
}

/** Whoever has written this row is alone until the transaction ends. */
function* hold(
  db: Builder,
  { tenant, agentId, at }: { readonly tenant: string; readonly agentId: string; readonly at: number },
): Operation<WorkBody> {
  const [row] = yield* rows(
    db
      .insertInto("plan_work")
      .values({ tenant, agent_id: agentId, is_open: 0, updated_at: at, body: planWorkBody.write(NO_WORK) })
      .onConflict((on) => on.columns(["tenant", "agent_id"]).doUpdateSet({ updated_at: at }))
      .returning("body"),
  );
  return row === undefined ? NO_WORK : planWorkBody.read(row.body, agentId);
}

/** A plan's row with its steps'. */
export function* loadSteps(db: Builder, row: PlansTable): Operation<LoadedPlan> {
  const found = yield* rows(db.selectFrom("plan_steps").selectAll().where("plan_id", "=", row.id));
  return {
    row,
    body: planBody.read(row.body, row.id),
    steps: new Map(found.map((one) => [one.step_id, readEntry(one)])),
  };
}

function readEntry({ state, attempt, run_id, conversation_id, body, step_id }: PlanStepsTable): StepEntry {
  return {
    state: state as StepState, // as `put` wrote it
    attempt,
    run_id,
    conversation_id,
    body: planStepBody.read(body, step_id),
  };
}

export function entryOf({ steps }: LoadedPlan, id: string): StepEntry {
  return steps.get(id) ?? NEVER;
}

export function stepOf({ body }: LoadedPlan, id: string): PlannedStep {
  const found = body.steps.find((step) => step.id === id);
  if (found !== undefined) return found;
  throw unknownStep(
    id,
    body.steps.map((step) => step.id),
  );
}

/** Steps under way. */
export function runningOf({ body, steps }: LoadedPlan): readonly string[] {
  return body.steps.map(({ id }) => id).filter((id) => steps.get(id)?.state === "running");
}

export function refuseRunning(plan: LoadedPlan, what: string): void {
  const running = runningOf(plan);
  if (running.length === 0) return;
  const which = running.map((id) => `"${id}"`).join(", ");
  throw planBusy(
    `${what}, and ${running.length === 1 ? "its step" : "its steps"} ${which} ${running.length === 1 ? "is" : "are"} running. Stop the plan first, or wait.`,
  );
}

function copied({ goal, steps }: PlanContent) {
  return { goal, steps: steps.map((step) => ({ ...step, depends_on: [...step.depends_on] })) };
}

function authored({
  by,
  note,
  origin,
}: {
  readonly by: string;
  readonly note?: string | undefined;
  readonly origin: PlanOrigin;
}) {
  return { by, origin, ...(note === undefined || note.trim() === "" ? {} : { note: note.trim() }) };
}
