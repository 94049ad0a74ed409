import {
  type AgentBinding,
  type Approval,
  type Clock,
  Conversation,
  type Engine,
  type EngineOptions,
  type Receipt,
  type RunOptions,
  type RunResult,
  type StartedRun,
  TracksideError,
  type UserInput,
  type UserMessage,
} from "trackside";
import {
  askApprover,
  asWritten,
  attachedTo,
  conversationWith,
  type EngineParts,
  engineParts,
  failureFrom,
  type LateOutcome,
  logOf,
  newId,
  type RunContext,
  type RunEvent,
  type RunRequest,
  readMessage,
  readRequest,
  refused,
  refuseUnknown,
  resultOf,
  withClientTools,
} from "trackside/engine";
import { Divergence, driveJournal, type TurnState } from "trackside/loop";
import type { Toolkit } from "../agents/toolkit.ts";
import {
  type ApprovalListener,
  Approvals,
  type ApprovalsInit,
  type DecideInput,
} from "../approvals/approvals.ts";
import type { RunDesk } from "../approvals/desk.ts";
import { wake } from "../approvals/records.ts";
import { artifactsOfBranch } from "../artifacts/attached.ts";
import { type Bus, memoryBus } from "../bus/index.ts";
import { cannotRun } from "../effects/announced.ts";
import { Effects } from "../effects/effects.ts";
import { runEvents } from "../runs/events.ts";
import { rows, type Store, type Work } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import { AgentRegistry, readPinned } from "./agent-registry.ts";
import { BranchLogs } from "./branch-logs.ts";
import { DurableChildren } from "./children.ts";
import { type Claimed, claimRuns, type StoredClaims } from "./claim.ts";
import { Codec, type Sealer } from "./codec.ts";
import { DeferredWork } from "./deferred.ts";
import { Fenced } from "./fenced.ts";
import { Hearing } from "./hearing.ts";
import { sendToRun } from "./inbox.ts";
import { LEASE_MS, Lease, Watch } from "./lease.ts";
import { type NewRun, openRun } from "./open-run.ts";
import { Parked, parkRun } from "./park.ts";
import { patientStore } from "./patient-store.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import type { RunHost } from "./run-host.ts";
import type { LoadedRun } from "./run-records.ts";
import { loadRunning, makeRun, type Running, type RunningFacts, type Surroundings } from "./running.ts";
import { storedResult } from "./stored-result.ts";

export interface DurableOptions extends EngineOptions {
  readonly store: Store;
  readonly bus?: Bus;
  readonly agents?: readonly AgentBinding[];
  /** What stored agents are made with. With it runs of theirs are taken up, too. */
  readonly toolkit?: Toolkit;
  readonly sealer?: () => Sealer;
  readonly listener?: ApprovalListener;
  /** Told what an operator should know: a run that was parked, a store that is away. */
  readonly notice?: (message: string) => void;
  /** Told of every durable event of the runs of this process. */
  readonly observe?: (event: RunEvent) => void;
  /** Told of every run that this process begins or takes up, before its first event. */
  readonly onRunning?: (run: RunningFacts) => void;
  /** Told what came of a tool after its run had been cancelled (X5). */
  readonly onLate?: (tenant: string, runId: string, late: LateOutcome) => void;
  /** Called once for each task that deferred work waits for and `tasks` does not have. */
  readonly onUnregisteredTask?: (task: string) => void;
  /** Whether this process takes up runs that nobody runs. */
  readonly claims?: boolean;
  /** Runs are driven by another engine: this process opens them, and reads and decides what it is asked to (X9). */
  readonly elsewhere?: Elsewhere;
  /** How long a process may show no sign of life before others take its runs: 10 s. The same in all of them. */
  readonly leaseMs?: number;
  /** Identity under which this engine holds a lease. Default: that of the process. Tests simulate a crash with another one. */
  readonly identity?: () => ProcessIdentity;
}

/** How a message is sent to a run under way. */
export interface Steering {
  readonly requestId?: string | undefined;
  /** For the next model call, and no other. */
  readonly once?: boolean;
  /** Whether to wait until it is known what became of it, as long as that takes; else it is `queued`. True unless given. */
  readonly wait?: boolean;
}

/** An engine on other machines that drives runs over the same store. */
export interface Elsewhere {
  /** What its runs are marked with in the store. */
  readonly name: string;
  /** Begins a run that is in the store. Twice is once. Where it fails, whoever looks after the runs begins it later. */
  start(runId: string): Promise<void>;
}

/** What a process does with a run: `left` is where another one, or this one again, goes on. */
export interface RunChange {
  readonly runId: string;
  readonly tenant: string;
  readonly agent: string;
  readonly change: "started" | "taken_up" | "ended" | "parked" | "left";
}

/** One run under way in this process. */
export interface Active {
  readonly given: Running;
  /** Rejects when it is given up here, once it was seen to that it can go on or is parked. */
  readonly driven: Promise<TurnState>;
  readonly run: RunContext;
  readonly host: RunHost;
  readonly desk: RunDesk;
  readonly ended: Promise<RunResult<unknown>>;
}

const TICK_MS = 1000;
const CLAIM_AT_ONCE = 100;
const RESUME_AT_ONCE = 10;
const TELL_AGAIN_MS = 60_000;
const LEFT_TO_OTHERS_MS = 10_000;
const MOST_PASSED_OVER = 1000;
const YES = () => true;
const NO = () => false;
const NO_SEALER = (): Sealer => {
  throw new TracksideError("config_invalid", "signed reasoning has to be encrypted, and there is no key");
};

/**
 * Runs agents over a store: every delivery is a row, written before what follows from it starts. Several processes may
 * share the store; what one leaves behind, another goes on with.
 */
export class DurableEngine implements Engine {
  readonly hosted = true;
  readonly store: Store;
  readonly bus: Bus;
  readonly approvals: Approvals;
  readonly registry: AgentRegistry;
  readonly codec: Codec;
  readonly clock: Clock;
  readonly #options: DurableOptions;
  readonly #parts: EngineParts;
  readonly #active = new Map<string, Active>();
  /** Runs that are being opened or loaded: not yet active, but ours. */
  readonly #loading = new Set<string>();
  readonly #pinned = new Set<string>();
  /** Runs of stored agents that this process cannot run, and since when it knows of them. */
  readonly #passedOver = new Map<string, number>();
  /** What waits for a decision in runs that are driven elsewhere and shown here. */
  readonly #shownPending = new Map<string, Map<string, Approval>>();
  readonly #logs: BranchLogs;
  readonly #watch: Watch;
  readonly #deferred: DeferredWork;
  readonly #hearing: Hearing;
  /** The store and its approvals for runs under way: they wait where a caller is told. */
  readonly #patient: Store;
  readonly #ofRuns: Approvals;
  #waitingSince = Number.NEGATIVE_INFINITY;
  #lease: Lease;
  #opening: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #unlisten: (() => void) | undefined;
  #claiming: Promise<void> | undefined;
  #claimAgain = false;
  #claims: boolean;
  #elsewhere: Elsewhere | undefined;
  #closed = false;
  readonly #watchers = new Set<(change: RunChange) => void>();
  readonly #wakeListeners = new Set<() => void>();

  constructor(options: DurableOptions) {
    this.#options = options;
    this.#claims = options.claims !== false;
    this.#elsewhere = options.elsewhere;
    this.store = options.store;
    this.bus = options.bus ?? memoryBus();
    this.codec = new Codec(options.sealer ?? NO_SEALER);
    this.registry = new AgentRegistry(options.agents ?? [], options.toolkit);
    this.#logs = new BranchLogs(this.store, this.codec);
    this.#patient = patientStore(this.store, (why) => this.#waits(why));
    const children = new DurableChildren({
      store: this.#patient,
      codec: this.codec,
      logs: this.#logs,
      owner: () => this.#lease.process.id,
      now: () => this.clock.now(),
      under: (runId) => this.#active.get(runId),
      run: (given) => this.#run(given),
    });
    const { tasks = [] } = options;
    this.#parts = engineParts({ ...options, tasks }, children);
    this.clock = this.#parts.clock;
    this.#watch = new Watch(options.leaseMs);
    this.#lease = this.#newLease();
    const approvals: ApprovalsInit = {
      store: this.store,
      clock: this.clock,
      listener: options.listener ?? {},
      checkTool: (approval, decision) => this.registry.checkDecision(approval, decision),
      onClosed: (approval) => void this.#active.get(approval.run_id)?.desk.look(approval.id),
    };
    this.approvals = new Approvals(approvals);
    this.#ofRuns = new Approvals({ ...approvals, store: this.#patient });
    this.#hearing = new Hearing({
      store: this.store,
      runs: this.#active,
      queued: () => this.claim(),
    });
    this.#deferred = new DeferredWork({
      store: this.store,
      tasks,
      owner: () => this.#lease.process.id,
      onError: options.onDeferredError ?? (() => {}),
      onUnregistered: options.onUnregisteredTask ?? (() => {}),
    });
  }

  /** Opens the store and takes up what was left, unless told not to. Everything that needs it waits for it. */
  open({ claims }: { readonly claims?: boolean } = {}): Promise<void> {
    if (claims !== undefined) this.#claims = claims;
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<void> {
    await this.store.open();
    await this.#lease.take();
    this.#unlisten = this.store.onChange(() => this.#hearing.hear("some"));
    // A lease is watched several times within its length.
    const tick = Math.min(TICK_MS, (this.#options.leaseMs ?? LEASE_MS) / 5);
    this.#timer = setInterval(() => this.#tick(), tick);
    this.#timer.unref();
    this.claim();
    if (this.#claims) this.#deferred.kick();
  }

  /** Tells of each run that this process takes up or starts, and of what becomes of it here. Returns the way to stop. */
  onRun(watcher: (change: RunChange) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /**
   * Leaves every run where it is: another process, or the next one, goes on with it. With `graceMs` tools that are running
   * may finish first, for that long.
   */
  async close({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    if (this.#closed) return;
    this.#claims = false;
    if (graceMs > 0) await this.#drain(graceMs);
    this.#closed = true;
    clearInterval(this.#timer);
    this.#unlisten?.();
    if (this.#opening === undefined) return;
    await this.#opening.catch(() => {});
    for (const [id, { host, desk }] of this.#active) {
      host.give(new Fenced(id));
      desk.close();
    }
    await this.#claiming;
    await this.#hearing.close();
    await this.#deferred.close();
    await this.#lease.release().catch(() => {});
    await this.bus.close();
    await this.store.close();
  }

  async #drain(graceMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const over = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs);
    });
    await Promise.race([over, Promise.all([...this.#active.values()].map(({ host }) => host.drain()))]);
    clearTimeout(timer);
  }

  start(
    agent: AgentBinding,
    input: UserInput,
    options: RunOptions,
    sink?: (event: RunEvent) => void,
  ): StartedRun {
    const runId = newId("run");
    const turnRef = newId("turn");
    let request: RunRequest;
    try {
      request = this.read(agent, input, options, sink !== undefined);
      this.registry.refuse(agent);
    } catch (error) {
      return refused(error, runId, turnRef, this.clock, sink);
    }
    this.registry.add(agent);
    const { scope, signal } = request;
    return this.#started({
      runId,
      turnRef,
      sink,
      signal,
      tenant: async () => scope.tenant,
      begin: (cancelled) => this.begin(agent, request, { runId, turnRef, sink, cancelled }),
    });
  }

  /** The same for an agent that has to be looked for first: what is wrong then is told as all refusals are (E3). */
  startFound(
    find: () => Promise<{ readonly id?: string; readonly binding: AgentBinding }>,
    input: UserInput,
    options: RunOptions,
    sink?: (event: RunEvent) => void,
  ): StartedRun {
    const runId = newId("run");
    const turnRef = newId("turn");
    const found = find().then(({ id, binding }) => {
      const request = this.read(binding, input, options, sink !== undefined);
      return { id, binding, request };
    });
    const signal = options?.signal instanceof AbortSignal ? options.signal : undefined; // not checked yet
    return this.#started({
      runId,
      turnRef,
      sink,
      signal,
      tenant: async () => (await found).request.scope.tenant,
      begin: async (cancelled) => {
        const { id, binding, request } = await found;
        return this.begin(binding, request, { runId, turnRef, sink, cancelled, agentId: id });
      },
    });
  }

  #started(given: {
    readonly runId: string;
    readonly turnRef: string;
    readonly sink: ((event: RunEvent) => void) | undefined;
    readonly signal: AbortSignal | undefined;
    tenant(): Promise<string>;
    begin(cancelled: () => string | undefined): ReturnType<DurableEngine["begin"]>;
  }): StartedRun {
    const { runId, turnRef, sink, signal, tenant } = given;
    let early: string | undefined;
    const begun = given.begin(() => early);
    const id = begun.then((started) => started.runId);
    id.catch(() => {}); // `result` tells
    const result = begun.then(
      (started) => started.result(),
      (error: unknown) => {
        const told = refused(error, runId, turnRef, this.clock, sink);
        return told.result;
      },
    );
    const cancel = (reason: string) => {
      early ??= reason;
      id.then((known) => this.cancel(known, reason)).catch(() => {}); // refused: there is nothing to cancel
    };
    const unlisten = signal ? onAbort(signal, cancel) : () => {};
    result.then(unlisten, unlisten);
    const pending = () => this.#pending(runId);
    return {
      runId,
      turnRef,
      result,
      cancel,
      get pending() {
        return pending();
      },
      decide: async (approvalId, decision) => this.decide(await tenant(), approvalId, decision),
      steer: async (message) => this.steer(await tenant(), await id, message),
      inject: async (note) => this.steer(await tenant(), await id, note, { once: true }),
    };
  }

  /** Checks what was asked for. */
  read(agent: AgentBinding, input: UserInput, options: RunOptions, streamed: boolean): RunRequest {
    return readRequest(agent, input, options, streamed, {
      stores: true,
      approver: "host",
      facts: this.#parts.facts,
      find: (name) => this.registry.get(name),
    });
  }

  /** Opens a run in the store and, unless it waits in line, starts it here. */
  async begin(
    agent: AgentBinding,
    request: RunRequest,
    given: {
      runId: string;
      turnRef: string;
      sink?: ((event: RunEvent) => void) | undefined;
      whenBusy?: "refuse" | "queue";
      owned?: boolean;
      /** The stored agent's id, where it is not in code. */
      agentId?: string | undefined;
      /** Why it is to be stopped, if that was said before it began. */
      cancelled?: () => string | undefined;
    },
  ): Promise<{
    runId: string;
    turnRef: string;
    conversationId: string;
    result: () => Promise<RunResult<unknown>>;
  }> {
    await this.open();
    const { runId, turnRef, whenBusy = "refuse", owned = true } = given;
    const { sink, shown } = counted(given.sink);
    const { conversation, scope } = request;
    await this.#refuseUnknown(request);
    const user: UserMessage = { id: `${runId}.user`, role: "user", parts: request.parts };
    const { clientTools } = request;
    const pinned = this.registry.pinned(agent, clientTools);
    const elsewhere = this.#elsewhere;
    const refusal =
      elsewhere &&
      (await this.store.read(
        cannotRun(elsewhere.name, agent.definition, pinned, {
          at: this.clock.now(),
          isStored: given.agentId !== undefined,
        }),
      ));
    if (refusal !== undefined) throw new TracksideError("not_available", refusal);
    const isPinned = this.#pinned.has(pinned.digest);
    const asked: NewRun = {
      id: runId,
      turnRef,
      tenant: scope.tenant,
      agent: agent.definition.name,
      kind: agent.definition.workflow === undefined ? "agent" : "workflow",
      agentId: given.agentId,
      scope,
      user,
      definition: { ...pinned, isPinned },
      conversation:
        conversation === undefined || typeof conversation === "string"
          ? conversation
          : { id: conversation.id, log: logOf(conversation) },
      requestId: request.requestId,
      clientTools: clientTools.map(asWritten),
      engine: elsewhere?.name ?? null,
      owner: owned && elsewhere === undefined ? this.#lease.process.id : null,
      whenBusy,
      at: this.clock.now(),
    };
    this.#loading.add(runId);
    try {
      const opened = await this.#once(request.requestId, (db) => openRun(db, asked, this.codec));
      this.#pinned.add(pinned.digest);
      const about = { runId: opened.runId, turnRef: opened.turnRef, conversationId: opened.conversationId };
      if (opened.state !== "running") {
        const { approver } = request;
        const isFollowed = sink !== undefined || typeof approver === "function";
        const follow = { runId: opened.runId, sink, shown, approver, tenant: scope.tenant };
        const shows = isFollowed ? this.#showOn(follow, 0) : undefined; // from its very beginning
        if (opened.state === "ready") await this.#startElsewhere(opened.runId, given.cancelled?.());
        return {
          ...about,
          result: async () => {
            await shows; // a stream is over with its result
            return this.result(scope.tenant, opened.runId);
          },
        };
      }
      const log = await this.#logs.take(opened.branchId, opened.from);
      const active = this.#run({
        runId,
        turnRef,
        agent: withClientTools(agent, clientTools),
        request,
        user,
        log,
        from: opened.from,
        conversationId: opened.conversationId,
        branchId: opened.branchId,
        fence: 1,
        sink,
        shown,
        loaded: undefined,
        cancelled: given.cancelled?.(),
      });
      return { ...about, result: () => active.ended };
    } finally {
      this.#loading.delete(runId);
    }
  }

  async #startElsewhere(runId: string, cancelled: string | undefined): Promise<void> {
    if (cancelled !== undefined) await this.cancel(runId, cancelled);
    await this.#elsewhere?.start(runId).catch((error: unknown) => {
      this.#notice(`the run ${runId} is queued and could not be started yet: ${failureFrom(error).message}`);
    });
  }

  /** Has another engine drive the runs that are started from now on, unless one does already: for its workers. */
  drivenBy(elsewhere: Elsewhere): void {
    this.#elsewhere ??= elsewhere;
  }

  /** Performs effects for runs whose loop is elsewhere. `woken` is told which runs somebody left something for. */
  effects(woken?: (runIds: ReadonlySet<string>) => void): Effects {
    return new Effects(
      {
        around: this.#around(),
        registry: this.registry,
        logs: this.#logs,
        ended: () => {
          this.#deferred.kick();
          this.#woke();
        },
        onWake: (listener) => this.onWake(listener),
      },
      woken,
    );
  }

  #around(): Surroundings {
    return {
      options: this.#options,
      store: this.store,
      patient: this.#patient,
      approvals: this.#ofRuns,
      parts: this.#parts,
      bus: this.bus,
      codec: this.codec,
      lease: this.#lease,
      teamOf: (agent) => this.registry.teamOf(agent),
    };
  }

  /** Settles as the run does, wherever it runs. */
  async result(tenant: string, runId: string): Promise<RunResult<unknown>> {
    const active = this.#active.get(runId);
    // A sub-agent that is given up here goes on with its parent.
    const isHere = active?.given.child === undefined || (await active.driven.then(YES, NO));
    if (active !== undefined && isHere) return active.ended;
    return storedResult(
      { store: this.store, codec: this.codec, registry: this.registry, parts: this.#parts },
      tenant,
      runId,
    );
  }

  /** What waits for a decision in a tree of runs (L7). */
  #pending(root: string): readonly Approval[] {
    const here = [...this.#active.values()]
      .filter(({ run }) => run.root === root)
      .flatMap(({ desk }) => desk.pending);
    return [...here, ...(this.#shownPending.get(root)?.values() ?? [])];
  }

  /** A reader of a run that is driven elsewhere is about to see this: what it then asks for has to be there. */
  async #notePending(
    root: string,
    event: RunEvent,
    tenant: string,
    approver: Followed["approver"],
  ): Promise<void> {
    if (event.type !== "approval") return;
    const pending = this.#shownPending.get(root) ?? new Map<string, Approval>();
    this.#shownPending.set(root, pending);
    const approval = event.state === "pending" ? await this.approvals.current(event.approval_id) : undefined;
    if (approval?.state === "pending") pending.set(approval.id, approval);
    else pending.delete(event.approval_id);
    if (pending.size === 0) this.#shownPending.delete(root);
    if (approval === undefined || typeof approver !== "function") return;
    const decide = (id: string, decision: DecideInput) => this.decide(tenant, id, decision);
    void askApprover({ pending: [approval], decide }, approver, event);
  }

  async decide(tenant: string, id: string, decision: DecideInput): Promise<Approval> {
    await this.open();
    const decided = await this.approvals.decide(tenant, id, decision);
    this.#woke();
    return decided;
  }

  /** Calls back when this process has left something for a run, as `store.onChange` does for others. */
  onWake(listener: () => void): () => void {
    this.#wakeListeners.add(listener);
    return () => this.#wakeListeners.delete(listener);
  }

  #woke(): void {
    for (const listener of this.#wakeListeners) listener();
  }

  /** Stops a run, wherever it is. It ends with its paired results and a terminal status. */
  async cancel(runId: string, reason: string): Promise<void> {
    this.#active.get(runId)?.host.cancelRun(reason);
    const at = this.clock.now();
    await this.store.write(function* (db) {
      const marked = yield* rows(
        db
          .updateTable("runs")
          .set({ cancel_reason: reason, updated_at: at })
          .where("id", "=", runId)
          .where("ended_at", "is", null)
          .where("cancel_reason", "is", null)
          .returning("status"),
      );
      if (marked.length > 0) yield* wake(db, runId, "cancel", at);
    });
    // It may have been claimed or loaded between the two.
    this.#active.get(runId)?.host.cancelRun(reason);
    this.claim();
    this.#woke();
  }

  /** Queues a message for a run under way; it joins at the next step boundary (X6). */
  async steer(
    tenant: string,
    runId: string,
    input: UserInput,
    { requestId, once = false, wait = true }: Steering = {},
  ): Promise<Receipt> {
    const parts = readMessage(input);
    const sent = await this.#once(requestId, (db) =>
      sendToRun(db, { tenant, runId, parts, requestId, once, at: this.clock.now() }),
    );
    this.#active.get(runId)?.host.call();
    this.#woke();
    if (sent.isNew) this.bus.publish(runId, { type: "wake", run_id: runId, what: "inbox" });
    return sent.receipt(this.store, this.clock, wait);
  }

  /** A message may have artifacts attached that its conversation has. */
  async #refuseUnknown({ parts, conversation, scope }: RunRequest): Promise<void> {
    const ids = attachedTo(parts);
    if (ids.length === 0) return;
    const branch = typeof conversation === "string" ? conversation : (conversation?.id ?? "");
    const known = await this.store.read((db) => artifactsOfBranch(db, scope.tenant, branch, ids));
    const inMemory = conversation instanceof Conversation ? logOf(conversation).artifacts : undefined;
    refuseUnknown(parts, (id) => known.has(id) || inMemory?.find(id) !== undefined);
  }

  /** Another process may write the same request at the same moment: looked at again, it is a known one (X10). */
  async #once<T>(requestId: string | undefined, work: Work<T>): Promise<T> {
    try {
      return await this.store.write(work);
    } catch (error) {
      if (requestId === undefined || !(error instanceof StoreError) || error.fault !== "conflict")
        throw error;
      return this.store.write(work);
    }
  }

  /** Takes up runs that nobody runs. */
  claim(): void {
    if (this.#closed || !this.#claims) return;
    if (this.#claiming !== undefined) {
      this.#claimAgain = true;
      return;
    }
    this.#claiming = this.#claimAll()
      .catch((error: unknown) => this.#notice(`runs could not be taken up: ${String(error)}`))
      .finally(() => {
        this.#claiming = undefined;
        if (!this.#claimAgain) return;
        this.#claimAgain = false;
        this.claim();
      });
  }

  /** Runs whose conversation is gone: nothing of them counts any more. */
  forget(runIds: readonly string[]): void {
    for (const id of runIds) this.#active.get(id)?.host.give(new Fenced(id));
    this.#logs.clear();
  }

  get activeRuns(): number {
    return this.#active.size;
  }

  async #claimAll(): Promise<void> {
    await this.#opening;
    for (;;) {
      if (this.#closed || !this.#lease.valid) return;
      const { claimed, isMore } = await this.store.write((db) =>
        claimRuns(db, {
          me: this.#lease.process.id,
          ...this.registry.called,
          stored: this.#options.toolkit && this.#storedClaims,
          limit: CLAIM_AT_ONCE,
          isActive: (id) => this.#active.has(id) || this.#loading.has(id),
          lapsed: (other) => this.#watch.lapsed(other),
          at: this.clock.now(),
        }),
      );
      for (let at = 0; at < claimed.length && !this.#closed; at += RESUME_AT_ONCE) {
        // A few at a time: they share a transaction, and the event loop is never held for long.
        await Promise.all(claimed.slice(at, at + RESUME_AT_ONCE).map((one) => this.#resume(one)));
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (!isMore) return;
    }
  }

  /** Runs of stored agents: one that cannot go on here is left for a while to others, who may have what it needs. */
  readonly #storedClaims: StoredClaims = {
    canRun: (digest) => this.registry.canRun(digest),
    judge: (digest, body) =>
      "binding" in this.registry.bind("", readPinned(body), digest, { isStored: true }),
    isLeft: (runId, others) => {
      const now = this.clock.now();
      const since = this.#passedOver.get(runId) ?? now;
      this.#passedOver.set(runId, since);
      const [oldest] = this.#passedOver.keys();
      if (this.#passedOver.size > MOST_PASSED_OVER && oldest !== undefined) this.#passedOver.delete(oldest);
      const isLeft = others === 0 || now - since >= LEFT_TO_OTHERS_MS;
      if (isLeft) this.#passedOver.delete(runId);
      return isLeft;
    },
  };

  /** Goes on with a run that an earlier process left. */
  async #resume({ runId, wasLeft }: Claimed): Promise<void> {
    this.#loading.add(runId);
    try {
      const found = await loadRunning(
        { store: this.store, codec: this.codec, registry: this.registry, logs: this.#logs },
        runId,
      );
      if (found === undefined) return;
      if ("problem" in found) await this.#park(found.loaded, new Parked(found.problem, "diverged"));
      else this.#run({ ...found, wasLeft });
    } catch (error) {
      this.#notice(
        `the run ${runId} could not be loaded: ${error instanceof Error ? error.message : String(error)}`,
      );
    } finally {
      this.#loading.delete(runId);
    }
  }

  #run(given: Running): Active {
    const { run, host, desk, after } = makeRun(this.#around(), given);
    const { runId, turnRef, loaded, user, from } = given;
    const turn = { run_id: runId, turn_ref: turnRef, log: from, message_id: user.id };
    const driven = driveJournal(run.agent.pinned, turn, host).catch((error: unknown) =>
      this.#giveUp(active, error),
    );
    const active: Active = { given, driven, run, host, desk, ended: this.#settle(given, run, driven, after) };
    active.ended.catch(() => {}); // whoever holds the run hears of it
    this.#active.set(runId, active);
    this.#hold();
    this.#tell(given, loaded === undefined || loaded.commits.length === 0 ? "started" : "taken_up");
    return active;
  }

  /** A run that stops here before its end: it is parked, or left to whoever takes it up. */
  async #giveUp(active: Active, error: unknown): Promise<never> {
    const { given } = active;
    this.#leave(active);
    this.#logs.drop(given.branchId);
    if (error instanceof Divergence) await this.#parkActive(given, new Parked(error.message, "diverged"));
    else if (error instanceof Parked) await this.#parkActive(given, error);
    else this.#tell(given, "left");
    throw error;
  }

  async #settle(
    given: Running,
    run: RunContext,
    driven: Promise<TurnState>,
    after: { readonly isFollowed: boolean },
  ): Promise<RunResult<unknown>> {
    const { runId, request, branchId, conversationId, log, from } = given;
    let state: TurnState;
    try {
      state = await driven;
    } catch (error) {
      if (given.child !== undefined) throw error; // its parent hears of it
      if (
        !(error instanceof Divergence || error instanceof Parked || error instanceof Fenced || this.#closed)
      ) {
        const { message } = failureFrom(error);
        this.#notice(`the run ${runId} stopped here and is taken up again: ${message}`);
        setTimeout(() => this.claim(), TICK_MS).unref();
      }
      if (this.#closed)
        throw new TracksideError(
          "not_available",
          `The run ${runId} goes on when Trackside is started again.`,
        );
      // A stream is over with its result.
      if (given.sink !== undefined)
        await this.#showOn({ runId, sink: given.sink, shown: given.shown }, run.seq);
      return this.result(request.scope.tenant, runId);
    }
    const active = this.#active.get(runId);
    if (active?.run === run) this.#leave(active);
    this.bus.finish(runId);
    if (given.child === undefined) this.#logs.keep(branchId, log); // nobody adds to a sub-agent's
    if (run.deferred.length > 0) this.#deferred.kick();
    this.#tell(given, "ended");
    if (after.isFollowed) this.claim(); // a message that came too late, or a run that waited in line
    return resultOf(run, state, conversationWith(conversationId, log), from);
  }

  /** The run goes on elsewhere, or here again: whoever reads it here sees the rest of it. */
  async #showOn({ runId, sink, shown, approver, tenant }: Followed, seq: number): Promise<void> {
    const children = [...(shown ?? [])].filter(([id]) => id !== runId);
    const after = { seq, children: Object.fromEntries(children.map(([id, last]) => [id, { seq: last }])) };
    try {
      const { store, bus, codec } = this;
      for await (const { event } of runEvents({ store, bus, codec }, runId, after)) {
        if (tenant !== undefined) await this.#notePending(runId, event, tenant, approver);
        sink?.(event);
      }
    } catch (error) {
      this.#notice(`the run ${runId} can no longer be followed here: ${String(error)}`);
    } finally {
      this.#shownPending.delete(runId);
    }
  }

  #leave({ given: { runId }, desk, run }: Active): void {
    desk.close();
    run.supplies?.release();
    this.#active.delete(runId);
    this.#hold();
  }

  /** Runs under way keep the process alive; waiting for more does not. */
  #hold(): void {
    if (this.#active.size > 0) this.#timer?.ref();
    else this.#timer?.unref();
  }

  /** Others took this process's runs: it was frozen, or its store was away for too long. It starts anew. */
  async #overtaken(): Promise<void> {
    for (const [id, { host }] of this.#active) host.give(new Fenced(id));
    this.#notice(
      "this process was silent for too long and others have taken its runs; it goes on with new ones",
    );
    this.#lease = this.#newLease();
    this.#opening = this.#retake(this.#lease); // new runs wait for it: nobody may own one without a lease
    await this.#opening;
  }

  async #retake(lease: Lease): Promise<void> {
    while (!this.#closed) {
      try {
        return await lease.take();
      } catch {
        await new Promise((resolve) => setTimeout(resolve, TICK_MS)); // the store is away
      }
    }
  }

  #newLease(): Lease {
    const { leaseMs, identity } = this.#options;
    return new Lease(this.store, () => void this.#overtaken(), leaseMs, identity?.());
  }

  #tick(): void {
    this.claim();
    if (this.#claims) this.#deferred.kick();
    this.#hearing.hear("all");
  }

  async #park(loaded: LoadedRun, why: Parked): Promise<void> {
    const { id, fence } = loaded.row;
    await parkRun(this.store, { runId: id, fence, at: this.clock.now() }, why);
    this.#notice(`the run ${id} is parked: ${why.message}`);
    const { id: runId, tenant, agent } = loaded.row;
    for (const watcher of this.#watchers) watcher({ runId, tenant, agent, change: "parked" });
  }

  async #parkActive(given: Running, why: Parked): Promise<void> {
    const { runId, fence } = given;
    try {
      await parkRun(this.store, { runId, fence, at: this.clock.now() }, why);
      this.#notice(`the run ${runId} is parked: ${why.message}`);
      this.#tell(given, "parked");
    } catch (error) {
      this.#notice(`the run ${runId} could not be parked: ${String(error)}`);
    }
  }

  #tell({ runId, request, agent, child }: Running, change: RunChange["change"]): void {
    const { name } = (child?.bound ?? agent).definition;
    const told = { runId, tenant: request.scope.tenant, agent: name, change };
    for (const watcher of this.#watchers) watcher(told);
  }

  /** Runs wait for the store to take their writes. All of them do, so it is told once in a while. */
  #waits(why: string): boolean {
    const now = performance.now();
    if (now - this.#waitingSince > TELL_AGAIN_MS) {
      this.#waitingSince = now;
      this.#notice(`runs wait until the store takes what they write, and then go on by themselves: ${why}`);
    }
    return !this.#closed;
  }

  #notice(message: string): void {
    this.#options.notice?.(message);
  }
}

/** A run that is read here while it goes on elsewhere, and who decides for it in this process. */
interface Followed extends Pick<Running, "runId" | "sink" | "shown"> {
  readonly tenant?: string;
  readonly approver?: RunRequest["approver"];
}

/** How much of each run of a tree a reader was shown: it goes on from there when the tree does so elsewhere. */
function counted(sink: ((event: RunEvent) => void) | undefined): Pick<Running, "sink" | "shown"> {
  if (sink === undefined) return { sink };
  const shown = new Map<string, number>();
  return {
    shown,
    sink: (event) => {
      if ("seq" in event) shown.set(event.run_id, event.seq);
      sink(event);
    },
  };
}

function onAbort(signal: AbortSignal, cancel: (reason: string) => void): () => void {
  const abort = () => cancel(signal.reason instanceof Error ? signal.reason.message : String(signal.reason));
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  return () => signal.removeEventListener("abort", abort);
}
