import type { AgentDefinition } from "trackside";
import { answerOf, childOut, Effect, isCrowded, NOT_BEGUN, perform, type RunContext } from "trackside/engine";
import type {
  AskInput,
  ChildInput,
  ChildOrder,
  ChildOut,
  CommitRow,
  EffectAnswer,
  EffectOrder,
  ModelInput,
  OpenedTurn,
  PinnedAgent,
  RowsOrder,
  ToolInput,
} from "trackside/loop";
import type { RunDesk } from "../approvals/desk.ts";
import type { AgentRegistry } from "../journal/agent-registry.ts";
import type { BranchLogs } from "../journal/branch-logs.ts";
import { answerFrom, childOf, newChild, openChild } from "../journal/children.ts";
import { Erased, Fenced } from "../journal/fenced.ts";
import { Hearing } from "../journal/hearing.ts";
import { boundaryOf, queuedFor } from "../journal/inbox.ts";
import { Parked, parkRun, recordAgain } from "../journal/park.ts";
import { outcomeBody } from "../journal/row-codecs.ts";
import type { OutcomeBody } from "../journal/rows.ts";
import { lostModel } from "../journal/run-host.ts";
import { type LoadedRun, loadRun, loopRows } from "../journal/run-records.ts";
import { endingOf, lostEffects, makeContext, runningOf, type Surroundings } from "../journal/running.ts";
import { rows } from "../store/store.ts";
import { announce, withdraw } from "./announced.ts";
import { PassingDesk, StillPending } from "./passing-desk.ts";
import { RunFile } from "./run-file.ts";
import { StoredResources } from "./stored-resources.ts";
import { answerAt, writeAnswer, writeRows } from "./write-rows.ts";

export interface EffectsInit {
  readonly around: Surroundings;
  readonly registry: AgentRegistry;
  readonly logs: BranchLogs;
  /** A run is over: its branch may have a next one, and it may have left work. */
  readonly ended: () => void;
  /** Calls back when this process has left something for a run. */
  readonly onWake: (listener: () => void) => () => void;
}

/** What performs effects says who it is, and which try of this one it makes. */
export interface Performer {
  /** The name by which what follows reaches this process. */
  readonly name: string;
  readonly attempt: number;
  /** Given up, not cancelled: whoever does it again does it from the start. */
  readonly signal?: AbortSignal;
  /** Whoever tried before left it in good order: nothing died in it. */
  readonly wasLeft?: boolean;
}

const KEPT = 200;
const HEAR_MS = 1000;

/**
 * Performs effects one at a time for runs whose loop is elsewhere: in a workflow. Everything an effect needs is in the
 * store, everything that came of it is there before the loop hears of it, so the next one may be performed by any process.
 */
export class Effects {
  readonly #init: EffectsInit;
  readonly #files = new Map<string, Promise<RunFile>>();
  readonly #flights = new Map<string, RunContext["flights"]>();
  /** Effects under way here, by run and by root: a cancel of either stops them. */
  readonly #under = new Map<string, Under>();
  readonly #hearing: Hearing;
  #unlisten: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(init: EffectsInit, woken?: (runIds: ReadonlySet<string>) => void) {
    const { parts, patient } = init.around;
    const resources = new StoredResources(patient, () => parts.clock.now());
    this.#init = { ...init, around: { ...init.around, parts: { ...parts, resources } } };
    this.#hearing = new Hearing({
      store: init.around.store,
      runs: this.#under,
      queued: () => {},
      ...(woken === undefined ? {} : { woken }),
    });
  }

  /** Hears of cancels and decisions from now on. */
  listen(): void {
    const hear = () => this.#hearing.hear("some");
    const unlisten = [this.#init.around.store.onChange(hear), this.#init.onWake(hear)];
    this.#unlisten = () => {
      for (const stop of unlisten) stop();
    };
    this.#timer = setInterval(() => this.#hearing.hear("all"), HEAR_MS);
    this.#timer.unref();
    this.#hearing.hear("all");
  }

  /** Says which agents this process has, for those who submit runs to the engine. */
  async announce(engine: string, id: string): Promise<void> {
    const { registry, around } = this.#init;
    const agents = registry.names.flatMap((name) => {
      const agent = registry.get(name);
      return agent === undefined ? [] : [[name, registry.pinned(agent)] as const];
    });
    const announced = { engine, id, agents: Object.fromEntries(agents), toolkit: registry.toolkit?.names };
    await around.store.write(announce(announced, around.parts.clock.now()));
  }

  async withdraw(engine: string, id: string): Promise<void> {
    await this.#init.around.store.write(withdraw({ engine, id }));
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#unlisten?.();
    await this.#hearing.close();
    for (const file of this.#files.values()) file.then((one) => one.close()).catch(() => {});
    this.#files.clear();
  }

  /** A turn, for a loop that is about to begin it or to go on with it. Undefined when it is over. */
  async open(runId: string): Promise<OpenedTurn | undefined> {
    const { store, parts } = this.#init.around;
    this.#drop(runId);
    const file = await this.#file(runId);
    const { given, base } = file;
    const { loaded } = given;
    if (loaded === undefined || loaded.row.ended_at !== null) return undefined;
    const at = parts.clock.now();
    const waiting = await store.write(function* (db) {
      yield* rows(
        db
          .updateTable("runs")
          .set({ status: "running", updated_at: at })
          .where("id", "=", runId)
          .where("status", "=", "queued"),
      );
      return yield* queuedFor(db, runId);
    });
    return {
      agent: light(base.agent.pinned),
      turn: { run_id: runId, turn_ref: given.turnRef, log: given.from, message_id: given.user.id },
      ...journalOf(loaded),
      crowded: isCrowded(base, opening(given.from)),
      called: waiting.length > 0,
      ...(loaded.row.cancel_reason === null ? {} : { cancelled: loaded.row.cancel_reason }),
    };
  }

  /** The same of a sub-agent, which is made when it is not there yet. Answers what it came to when it is over. */
  async openChild({ parent: told, input }: ChildOrder): Promise<OpenedTurn | ChildOut> {
    const { around } = this.#init;
    const parent = await this.#current(told);
    const { loaded } = parent.given;
    const context = await this.#contextOf(parent, input.agent);
    const made = newChild(context, parent.given, input);
    const engine = loaded?.row.engine ?? null;
    const at = around.parts.clock.now();
    await around.patient.write(function* (db) {
      const known = yield* rows(db.selectFrom("runs").select("id").where("id", "=", input.run_id));
      if (known.length === 0)
        yield* openChild(db, around.codec, { ...made, job: input, engine, owner: null, at });
    });
    const opened = await this.open(input.run_id);
    return opened ?? this.#childOut(input.run_id);
  }

  /** Performs an effect. What it answers is written down. */
  async perform(order: EffectOrder, by: Performer): Promise<EffectAnswer> {
    const { asked, run_id } = order;
    const file = await this.#current(order);
    const isAgain = by.attempt > 1 || order.lost === true;
    if (isAgain) {
      const known = await this.#known(file, order);
      if (known !== undefined) return known;
    }
    const effect = new Effect(asked.key);
    const { root } = file.base;
    // What is begun again may have been cancelled while nobody was there to hear it.
    const cancelled = order.cancelled ?? (isAgain ? await this.cancelOf(root) : null);
    if (cancelled !== null) effect.cancel(cancelled);
    const leave = () => effect.abort("the effect is performed elsewhere");
    by.signal?.addEventListener("abort", leave);
    this.#enter(run_id, file.desk, effect);
    if (root !== run_id) this.#enter(root, file.desk, effect);
    try {
      return await this.#perform(file, order, by, effect, isAgain);
    } finally {
      by.signal?.removeEventListener("abort", leave);
      this.#exit(run_id, effect);
      if (root !== run_id) this.#exit(root, effect);
    }
  }

  async #perform(
    file: RunFile,
    order: EffectOrder,
    by: Performer,
    effect: Effect,
    isAgain: boolean,
  ): Promise<EffectAnswer> {
    const { around } = this.#init;
    const { asked } = order;
    const { kind, key } = asked;
    const { runId, fence } = file.given;
    if (kind === "equip")
      return this.#keep(file, order, by, file.base, await perform(file.base, asked, effect));
    await this.#equip(file);
    const desk = kind === "ask" ? this.#passing(file) : file.desk;
    for (const id of approvalsIn(asked.input)) await desk.look(id);
    if (isAgain && kind !== "ask") {
      const refusal = by.wasLeft ? undefined : await recordAgain(around.patient, { runId, fence }, key);
      if (refusal !== undefined) throw new Parked(refusal);
      if (kind === "model")
        return this.#keep(file, order, by, undefined, lostModel(runId, asked.input as ModelInput));
    }
    const run = makeContext(around, file.given, {
      bound: file.base.first,
      desk,
      lost: new Set(isAgain ? [key] : []),
      outcomes: isAgain ? await this.#outcomes(runId, key) : new Map(),
      resumed: file.resumed,
      attempt: order.lost ? by.attempt + 1 : by.attempt,
      flights: this.#flightsOf(runId),
    });
    try {
      const result =
        kind === "boundary" ? await this.#boundary(run, order) : await perform(run, asked, effect);
      // What a tool or a model says to its signal here is no answer: nobody stopped the effect.
      if (by.signal?.aborted && effect.cancelled === undefined)
        throw new Error(`${key} of ${runId} was given up here: whoever is next performs it`);
      return await this.#keep(file, order, by, run, result);
    } catch (error) {
      if (error instanceof StillPending) return { result: null, pending: { deadline: error.deadline } };
      throw error;
    }
  }

  async #boundary(run: RunContext, { cancelled }: EffectOrder): Promise<unknown> {
    const out = await boundaryOf(this.#init.around.store, run);
    return cancelled === undefined ? out : { ...out, cancelled };
  }

  async #keep(
    file: RunFile,
    order: EffectOrder,
    { attempt, name }: Performer,
    run: RunContext | undefined,
    result: unknown,
  ): Promise<EffectAnswer> {
    const callId = (order.asked.input as Partial<ToolInput>).call?.id; // of a tool
    const isHeld = callId !== undefined && run?.flights.has(callId) === true;
    const held = isHeld ? { held_by: name } : {};
    const deferred = (run?.deferred ?? []).map(({ task, input }) => ({
      task: task.name,
      input: input ?? null,
    }));
    await writeAnswer(this.#init.around, file, order, {
      result,
      messages: run?.takeUnsaved() ?? [],
      deferred,
      attempt: order.lost ? attempt + 1 : attempt,
      ...held,
    });
    return { result, ...held };
  }

  /** Writes the loop's rows down. When the turn is over, answers what it came to for whoever started it. */
  async write(order: RowsOrder): Promise<ChildOut | undefined> {
    const file = await this.#current(order);
    const ended = order.rows.find((row) => row.ended !== undefined)?.ended;
    if (ended === undefined) return undefined;
    const { runId, child } = file.given;
    const run = file.base;
    const out =
      child === undefined ? undefined : childOut(runId, ended, await answerOf(run, ended), undefined);
    this.#drop(runId);
    this.#flights.delete(runId);
    this.#init.around.bus.finish(runId);
    this.#init.ended();
    return out;
  }

  /** Stops a run until somebody looks at it. */
  async park(runId: string, why: { readonly message: string; readonly code: Parked["code"] }): Promise<void> {
    const { store, parts } = this.#init.around;
    const { fence } = await this.#mark(runId);
    await parkRun(store, { runId, fence, at: parts.clock.now() }, new Parked(why.message, why.code, true));
    this.#drop(runId);
  }

  /** Runs that are ready to be begun by this engine, and those that have something to hear. */
  async calls(
    engine: string,
  ): Promise<{ readonly ready: readonly string[]; readonly called: readonly string[] }> {
    return this.#init.around.store.read(function* (db) {
      const ready = yield* rows(
        db
          .selectFrom("runs")
          .innerJoin("branches", "branches.id", "runs.branch_id")
          .select("runs.id")
          .where("runs.engine", "=", engine)
          .where("runs.status", "=", "queued")
          .where("runs.parent_run_id", "is", null)
          .whereRef("branches.active_run_id", "=", "runs.id")
          .limit(CALLS_AT_ONCE),
      );
      const open = db
        .selectFrom("runs")
        .where("runs.engine", "=", engine)
        .where("runs.ended_at", "is", null)
        .where("runs.status", "in", ["running", "waiting"]);
      const cancelled = yield* rows(
        open.select("runs.id").where("runs.cancel_reason", "is not", null).limit(CALLS_AT_ONCE),
      );
      const sent = yield* rows(
        open
          .innerJoin("inbox", "inbox.run_id", "runs.id")
          .where("inbox.state", "=", "queued")
          .select("runs.id")
          .distinct()
          .limit(CALLS_AT_ONCE),
      );
      return { ready: ready.map(({ id }) => id), called: [...cancelled, ...sent].map(({ id }) => id) };
    });
  }

  /** Of these runs, those of an engine that something was left for and that nobody else tells of it. */
  async toTell(
    engine: string,
    runIds: readonly string[],
  ): Promise<readonly { readonly id: string; readonly status: string }[]> {
    const { store } = this.#init.around;
    const driven = await store.read(function* (db) {
      return yield* rows(
        db
          .selectFrom("runs")
          .select(["id", "status"])
          .where("id", "in", [...runIds])
          .where("engine", "=", engine)
          .where("ended_at", "is", null),
      );
    });
    if (driven.length === 0) return [];
    const ids = driven.map(({ id }) => id);
    // Whoever takes the words away passes them on: one worker does, not each of them.
    const taken = await store.write(function* (db) {
      return yield* rows(db.deleteFrom("wakes").where("run_id", "in", ids).returning("run_id"));
    });
    const mine = new Set(taken.map(({ run_id }) => run_id));
    return driven.filter(({ id }) => mine.has(id));
  }

  /** Why a run is to stop; null while it is not. */
  async cancelOf(runId: string): Promise<string | null> {
    return (await this.#mark(runId)).cancel_reason;
  }

  /** What others may have changed of a run meanwhile: two columns, not the run. */
  async #mark(runId: string): Promise<{ readonly fence: number; readonly cancel_reason: string | null }> {
    const [row] = await this.#init.around.patient.read((db) =>
      rows(db.selectFrom("runs").select(["fence", "cancel_reason"]).where("id", "=", runId)),
    );
    if (row === undefined) throw new Erased(runId);
    return row;
  }

  async #childOut(runId: string): Promise<ChildOut> {
    const { patient, codec } = this.#init.around;
    const loaded = await this.#load(runId);
    const { outcome, usage } = loaded.body;
    const answer = await answerFrom(patient, codec, loaded);
    return childOut(runId, { outcome, usage: usage ?? NOT_BEGUN.usage }, answer, undefined);
  }

  /** The run's file with everything in it that the loop knows of, its rows written down. */
  async #current(order: RowsOrder | EffectOrder): Promise<RunFile> {
    try {
      return await this.#brought(order);
    } catch (error) {
      if (error instanceof Fenced) this.#drop(order.run_id); // it may be gone: whoever tries again looks
      throw error;
    }
  }

  async #brought(order: RowsOrder | EffectOrder): Promise<RunFile> {
    const { around } = this.#init;
    const file = await this.#file(order.run_id);
    await file.catchUp(order);
    await writeRows(around, file, order.rows, (logged) => {
      const ending = endingOf(around, file.given, { deferred: () => file.hasDeferred, followed: () => {} });
      return { ...ending, length: () => ending.length() + logged() };
    });
    return file;
  }

  async #known(file: RunFile, { ord, run_id }: EffectOrder): Promise<EffectAnswer | undefined> {
    const found = await this.#init.around.patient.read((db) => answerAt(db, run_id, ord));
    if (found?.body.answer === undefined) return undefined;
    await file.read();
    const { held_by } = found.body.answer;
    return { result: found.body.result, ...(held_by === undefined ? {} : { held_by }) };
  }

  async #outcomes(runId: string, key: string): Promise<ReadonlyMap<string, OutcomeBody>> {
    const [row] = await this.#init.around.patient.read((db) =>
      rows(db.selectFrom("outcomes").select("body").where("run_id", "=", runId).where("key", "=", key)),
    );
    return new Map(row === undefined ? [] : [[key, outcomeBody.read(row.body, runId)]]);
  }

  #passing({ given, desk }: RunFile): RunDesk {
    const { approvals, parts } = this.#init.around;
    return new PassingDesk(approvals, parts.clock, given.request.scope.tenant, desk.pending);
  }

  #flightsOf(runId: string): RunContext["flights"] {
    const known = this.#flights.get(runId) ?? new Map();
    this.#flights.set(runId, known);
    return known;
  }

  async #equip({ base: { supplies } }: RunFile): Promise<void> {
    if (supplies?.isConnected === false) await supplies.connect(); // begun elsewhere
  }

  /** A context of the run with whoever has the turn in it. */
  async #contextOf(file: RunFile, chain: string | null): Promise<RunContext> {
    await this.#equip(file);
    const run = makeContext(this.#init.around, file.given, {
      bound: file.base.first,
      desk: file.desk,
      lost: new Set(),
      outcomes: new Map(),
      resumed: file.resumed,
      attempt: 1,
    });
    run.enter(chain);
    return run;
  }

  #file(runId: string): Promise<RunFile> {
    const known = this.#files.get(runId);
    if (known !== undefined) {
      this.#files.delete(runId); // the last used are kept
      this.#files.set(runId, known);
      return known;
    }
    const made = this.#make(runId);
    this.#files.set(runId, made);
    made.catch(() => this.#files.delete(runId));
    for (const [oldest] of this.#files) {
      if (this.#files.size <= KEPT) break;
      if (!this.#under.has(oldest)) this.#drop(oldest);
      else break;
    }
    return made;
  }

  async #make(runId: string): Promise<RunFile> {
    const { around, registry, logs } = this.#init;
    const loaded = await this.#load(runId);
    const { row, body } = loaded;
    const from = { store: around.patient, codec: around.codec, logs };
    if (row.parent_run_id !== null && body.job !== undefined) {
      const parent = await this.#file(row.parent_run_id);
      const { agent } = parent.given;
      const running = await runningOf(from, loaded, agent);
      const { child } = await this.#childOf(parent, body.job);
      return new RunFile(around, { ...running, child });
    }
    const found = registry.bind(row.agent, loaded, row.definition_digest, {
      isStored: row.agent_id !== null,
    });
    if ("problem" in found) throw new Parked(found.problem, "diverged", true);
    return new RunFile(around, await runningOf(from, loaded, found.binding));
  }

  async #childOf(parent: RunFile, input: ChildInput) {
    const context = await this.#contextOf(parent, input.agent);
    return { child: childOf(context, input) };
  }

  async #load(runId: string): Promise<LoadedRun> {
    const { patient, codec } = this.#init.around;
    const loaded = await patient.read((db) => loadRun(db, runId, codec));
    if (loaded === undefined) throw new Erased(runId);
    return loaded;
  }

  #drop(runId: string): void {
    this.#files
      .get(runId)
      ?.then((file) => file.close())
      .catch(() => {});
    this.#files.delete(runId);
    if (this.#flights.get(runId)?.size === 0) this.#flights.delete(runId);
  }

  #enter(id: string, desk: RunDesk, effect: Effect): void {
    const under = this.#under.get(id) ?? new Under(desk);
    this.#under.set(id, under);
    under.effects.add(effect);
  }

  #exit(id: string, effect: Effect): void {
    const under = this.#under.get(id);
    under?.effects.delete(effect);
    if (under?.effects.size === 0) this.#under.delete(id);
  }

  /** Stops effects of a run that are under way here. */
  cancel(runId: string, prefix: string, reason: string): void {
    for (const effect of this.#under.get(runId)?.effects ?? [])
      if (effect.key.startsWith(prefix)) effect.cancel(reason);
  }
}

/** The effects of a run, or of a tree, that are under way here. */
class Under {
  readonly effects = new Set<Effect>();
  readonly desk: RunDesk;
  readonly host = {
    cancelRun: (reason: string) => {
      for (const effect of [...this.effects]) effect.cancel(reason);
    },
    call: () => {},
  };

  constructor(desk: RunDesk) {
    this.desk = desk;
  }
}

const CALLS_AT_ONCE = 500;

/** What the loop of a turn is started with: where its journal got to. */
function journalOf(loaded: LoadedRun): Pick<OpenedTurn, "rows" | "ord" | "seq" | "lost"> {
  const { commits } = loaded;
  const all = loopRows(commits).map(
    ({ v: _, at: __, messages: ___, deferred: ____, answer: _____, ...row }) => row,
  );
  const from = Math.max(
    0,
    all.findLastIndex((row: CommitRow) => row.state !== undefined),
  );
  const last = commits.at(-1);
  return {
    rows: all.slice(from),
    ord: (last?.ord ?? -1) + 1,
    seq: last?.seq ?? 0,
    lost: [...lostEffects(loaded).keys()],
  };
}

/** The request with which a turn would begin, as far as it is known before it does. */
function opening(from: number): Parameters<typeof isCrowded>[1] {
  return {
    step: 0,
    attempt: 1,
    why: "opening",
    up_to: from,
    turn_at: from,
    tail_at: from,
    tail: [],
    plan: null,
    notes: [],
    redo: null,
    anchor: null,
    rails: {},
    agent: null,
  };
}

/** What the loop reads of an agent. The rest stays where effects are performed: it may be large. */
function light(agent: PinnedAgent): PinnedAgent {
  const definition: AgentDefinition = {
    ...agent.definition,
    instructions: "",
    planning_instructions: "",
    output_schema: null,
    tools: null,
    rails: [],
    hooks: {},
    mcp_servers: [],
    injected_tool_args: {},
  };
  // Whoever works for a workflow's nodes has a turn of its own.
  if (agent.graph) {
    const { workflow: _, ...rest } = definition;
    return { ...agent, definition: rest, team: {} };
  }
  const team = Object.entries(agent.team).map(([name, member]) => [name, light(member)] as const);
  return { ...agent, definition, team: Object.fromEntries(team) };
}

/** Records that what an effect is given speaks of: somebody else may have opened or decided them. */
function approvalsIn(input: unknown): readonly string[] {
  if (typeof input !== "object" || input === null) return [];
  const { approval_id } = input as Partial<AskInput>;
  const { decided, answered } = input as Partial<ToolInput>;
  return [approval_id, decided?.approval_id, answered?.approval_id].filter((id) => id !== undefined);
}
