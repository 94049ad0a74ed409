import type { Reducer } from "../context/compaction/reducers.ts";
import type { Task } from "../hooks/pipeline-hooks.ts";
import type { DurableEvent } from "../schema/durable-events.ts";
import { deepFreeze, type JsonObject } from "../schema/json.ts";
import type { LiveEvent } from "../schema/live-events.ts";
import type { Message, UserMessage } from "../schema/message.ts";
import type { Plan } from "../schema/plan.ts";
import type { HookPoint } from "../schema/points.ts";
import type { LogEntry } from "../schema/projection.ts";
import type { Scope } from "../schema/run.ts";
import type { ArtifactDesk } from "../tools/artifact.ts";
import type { Tool } from "../tools/define-tool.ts";
import { READ_ARTIFACT, readArtifactTool } from "../tools/read-artifact.ts";
import type { ToolServers } from "../tools/tool-servers.ts";
import { expand } from "../turn/expand.ts";
import type { Note } from "../turn/note.ts";
import type { InboxEntry } from "../turn/world.ts";
import { type ApprovalDesk, Approvals, type Approve } from "./approvals.ts";
import { MemoryArtifacts } from "./artifacts.ts";
import { hasAttachments } from "./attachments.ts";
import type { BoundAgent } from "./bound-agent.ts";
import type { ChildAnswer, Children } from "./children.ts";
import type { Clock } from "./clock.ts";
import type { Log } from "./conversation.ts";
import { type CounterDesk, Counters } from "./counters.ts";
import type { Facts } from "./facts.ts";
import type { Executed, Flight } from "./handlers/execute.ts";
import type { Maybe } from "./maybe.ts";
import type { Models } from "./models.ts";
import { type PromptCacheRequest, requestOf, type UsageNote } from "./prompt-cache/report.ts";
import type { ResourceDesk } from "./resources.ts";
import { RunSupplies } from "./run-supplies.ts";
import { isSentOnly, SentOnly } from "./sent-only.ts";
import type { TokenCounters } from "./token-counters.ts";
import { ToldArtifacts } from "./told-artifacts.ts";
import type { Watchdog } from "./watchdog.ts";

export type RunEvent = DurableEvent | LiveEvent;

/** What the engine brings to every run. */
export interface EngineParts {
  readonly clock: Clock;
  readonly watchdog: Watchdog;
  readonly models: Models;
  readonly retry: RetryPolicy;
  readonly modelIdleMs: number;
  /** How a message is kept once it is recorded. */
  keep(message: LogEntry): LogEntry;
  readonly facts: Facts;
  readonly children: Children;
  readonly counters: TokenCounters;
  /** What calls of one tree may not use at the same time. */
  readonly resources: ResourceDesk;
  /** Where the tools of `mcp_servers` come from. */
  readonly toolServers: ToolServers | undefined;
  /** Why a task cannot be deferred: a durable engine has to find it again by name (H7). Absent: any task can. */
  taskProblem?(task: Task): string | undefined;
  /** How a log is made smaller; ours unless an engine has others. */
  readonly reducers: readonly Reducer[];
}

export interface RetryPolicy {
  /** Extra attempts with each model. */
  readonly retries: number;
  readonly baseMs: number;
  readonly maxMs: number;
}

/** A function, whoever holds the stream or reaches the host, or nobody. */
export type Approver = Approve | "stream" | "host" | undefined;

/** What a durable engine brings to a run: the same, but it outlives the process. */
export interface RunServices {
  readonly approvals: ApprovalDesk;
  readonly counters: CounterDesk;
  readonly keeper: ToolKeeper;
  readonly artifacts: ArtifactDesk;
  /** Told what came of a tool after its run had been cancelled. */
  late?(outcome: LateOutcome): void;
}

export interface LateOutcome {
  readonly call_id: string;
  readonly tool: string;
  readonly outcome: "returned" | "failed";
}

/** Watches over tools with an effect that must not happen twice (X3, X4). */
export interface ToolKeeper {
  /** What an earlier life of this effect left: a result, nothing, or doubt. */
  found(key: string, tool: Tool): Maybe<Found>;
  /** Whether an earlier life of this effect may have come as far as running the tool. */
  mayHaveRun(key: string, tool: Tool): boolean;
  /** Immediately before a tool runs. Rejects when this process may no longer run it. */
  starting(key: string, tool: Tool, args: JsonObject): Maybe<void>;
  /** It ran: kept before anything else is done with what came of it. */
  ran(key: string, tool: Tool, kept: KeptOutcome): Maybe<void>;
}

export type Found =
  | { readonly kind: "nothing" }
  | { readonly kind: "unknown"; readonly why: string }
  | { readonly kind: "ran"; readonly kept: KeptOutcome };

/** What came of a tool, and when. */
export interface KeptOutcome {
  readonly executed: Exclude<Executed, { kind: "cancelled" }>;
  readonly started_at: number;
  readonly completed_at: number;
}

const NONE: readonly never[] = Object.freeze([]);

/** What a run is made of. */
interface RunContextInit {
  id: string;
  turnRef: string;
  scope: Scope;
  agent: BoundAgent;
  log: Log;
  parts: EngineParts;
  userMessage: UserMessage;
  /** Told of durable events, and of live ones unless `live` is. */
  sink: ((event: RunEvent) => void) | undefined;
  live?: (event: LiveEvent) => void;
  approver: Approver;
  /** In place of the engine's. */
  toolServers?: ToolServers | undefined;
  /** Of a child. */
  path?: readonly string[];
  root?: string;
  shared?: {
    readonly approvals: ApprovalDesk;
    readonly counters: CounterDesk;
    readonly artifacts: ArtifactDesk;
  };
  services?: RunServices;
  /** Tools that wait for an answer since an earlier effect, where each has a context of its own. */
  flights?: Map<string, Flight>;
  /** Where an earlier life of this run got to. */
  resumed?: {
    readonly seq: number;
    readonly recorded: readonly LogEntry[];
    readonly aside?: readonly string[];
    readonly plan?: Plan | null;
    readonly usage?: readonly UsageNote[];
  };
}

/** One run while it is under way: what the effect handlers read and write. The loop never sees it. */
export class RunContext {
  readonly id: string;
  readonly turnRef: string;
  readonly scope: Scope;
  readonly log: Log;
  readonly parts: EngineParts;
  readonly userMessage: UserMessage;
  readonly path: readonly string[];
  /** The run at the root of its tree: itself, unless it is a child. */
  readonly root: string;
  readonly approver: Approver;
  /** Work for after the run. */
  deferred: readonly { task: Task; input: unknown }[] = NONE;
  /** What the planner came to; null without one. */
  plan: Plan | null = null;
  /** Its model calls so far, as its result reports them. */
  readonly requests: PromptCacheRequest[] = [];
  // Most runs need none of these, so they are made when they are.
  readonly #services: RunServices | undefined;
  readonly #shared: ArtifactDesk | undefined;
  #counters: CounterDesk | undefined;
  #approvals: ApprovalDesk | undefined;
  #inbox: InboxEntry[] | undefined;
  #receipts: Map<string, (state: "admitted" | "dropped") => void> | undefined;
  /** With a journal: recorded since it was last written. */
  readonly #unsaved: LogEntry[] | undefined;
  /** Recorded, not yet logged: a few at a time. */
  #recorded: LogEntry[] = [];
  readonly #sink: ((event: RunEvent) => void) | undefined;
  readonly #live: ((event: LiveEvent) => void) | undefined;
  #flights: Map<string, Flight> | undefined;
  #answers: Map<string, ChildAnswer> | undefined;
  #first: BoundAgent;
  /** Of those with servers. */
  readonly supplies: RunSupplies | undefined;
  #acting: BoundAgent;
  /** The one who has the turn, able to read artifacts. */
  #told: ToldArtifacts | undefined;
  #reading: { readonly of: BoundAgent; readonly agent: BoundAgent } | undefined;
  #chain: string | null = null;
  /** Kept in the run's record and out of the log: the planner's (P1). */
  #asides: Map<string, LogEntry> | undefined;
  /** The same, of requests that were changed on their way (R4). */
  #sentOnly: SentOnly | undefined;
  #seq = 0;

  constructor(init: RunContextInit) {
    this.id = init.id;
    this.turnRef = init.turnRef;
    this.scope = init.scope;
    this.#acting = init.agent;
    this.#first = init.agent;
    this.supplies = init.agent.pinned.servers ? this.#makeSupplies(init) : undefined;
    this.path = init.path ?? NONE;
    this.root = init.root ?? init.id;
    this.log = init.log;
    this.parts = init.parts;
    this.userMessage = init.userMessage;
    this.#sink = init.sink;
    this.#live = init.live ?? init.sink;
    this.approver = init.approver;
    this.#services = init.services;
    this.#flights = init.flights;
    this.#shared = init.shared?.artifacts;
    this.#counters = init.services?.counters ?? init.shared?.counters;
    this.#approvals = init.services?.approvals ?? init.shared?.approvals;
    this.record(init.userMessage);
    for (const message of init.resumed?.recorded ?? NONE)
      if (isSentOnly(message)) this.#takeSentOnly(message);
      else this.record(message);
    for (const id of init.resumed?.aside ?? []) this.#keepAside(id);
    this.plan = init.resumed?.plan ?? null;
    for (const used of init.resumed?.usage ?? NONE) this.#report(used);
    this.#seq = init.resumed?.seq ?? 0;
    this.#unsaved = init.services === undefined ? undefined : [];
  }

  /** An effect is for whoever has the turn: the names of those it was handed to, in order; null for the first. */
  enter(chain: string | null): void {
    if (chain === this.#chain) return;
    this.#chain = chain;
    this.#acting = chain === null ? this.#first : this.#first.handedTo(chain);
  }

  /** A run of its own for a sub-agent: under the same rails, approvals, counters and readers (R14). */
  child(about: {
    id: string;
    label: string;
    agent: BoundAgent;
    userMessage: UserMessage;
    log: Log;
  }): RunContext {
    return new RunContext({
      id: about.id,
      turnRef: this.turnRef,
      scope: this.scope,
      agent: about.agent,
      log: about.log,
      parts: this.parts,
      userMessage: about.userMessage,
      sink: this.#sink,
      ...(this.#live === undefined ? {} : { live: this.#live }),
      approver: this.approver,
      path: [...this.path, about.label],
      root: this.root,
      shared: { approvals: this.approvals, counters: this.counters, artifacts: this.artifacts },
    });
  }

  #makeSupplies({ parts, toolServers, resumed }: RunContextInit): RunSupplies {
    return new RunSupplies({
      runId: this.id,
      scope: this.scope,
      servers: toolServers ?? parts.toolServers,
      isResumed: resumed !== undefined,
      customers: () => this.#first.customers,
      approvals: () => this.approvals,
      equip: (served) => {
        this.#first = this.#first.withServed(served);
        this.#acting = this.#chain === null ? this.#first : this.#first.handedTo(this.#chain);
      },
    });
  }

  /** The agent it was given to, with the tools its servers brought. */
  get first(): BoundAgent {
    return this.#first;
  }

  /** Tools that wait for an answer of the person behind the run, by call. */
  get flights(): Map<string, Flight> {
    this.#flights ??= new Map();
    return this.#flights;
  }

  /** What sub-agents in this process said, by their runs. */
  get answers(): Map<string, ChildAnswer> {
    this.#answers ??= new Map();
    return this.#answers;
  }

  /** Counters of the run tree. */
  get counters(): CounterDesk {
    this.#counters ??= new Counters();
    return this.#counters;
  }

  get approvals(): ApprovalDesk {
    this.#approvals ??= new Approvals(this.parts.clock);
    return this.#approvals;
  }

  /** Where large results and files go (T4). */
  get artifacts(): ArtifactDesk {
    return this.#services?.artifacts ?? this.#shared ?? this.log.artifacts;
  }

  /** Where those of the planner go: into its run's record if there is one, into no conversation (P1). */
  get plannerArtifacts(): ArtifactDesk {
    return this.#services?.artifacts ?? new MemoryArtifacts();
  }

  /**
   * Who has the turn: the agent it was given to, until it is handed over. Once the conversation has artifacts, it can read
   * them (H9).
   */
  get agent(): BoundAgent {
    const acting = this.#acting;
    if (!this.log.hasArtifacts && !this.#isToldOfArtifacts(acting)) return acting;
    if (this.#reading?.of !== acting)
      this.#reading = { of: acting, agent: readsArtifacts(acting, this.artifacts) };
    return this.#reading.agent;
  }

  #isToldOfArtifacts(acting: BoundAgent): boolean {
    const { allow_self_spawn, allow_parallel_subagents } = acting.definition;
    if (!allow_self_spawn && !allow_parallel_subagents) return false;
    this.#told ??= new ToldArtifacts();
    return this.#told.lookAt(this.log.messages, acting);
  }

  get keeper(): ToolKeeper | undefined {
    return this.#services?.keeper;
  }

  get late(): RunServices["late"] {
    return this.#services?.late;
  }

  /** A message that joins the run at its next step boundary (X6). `heard` is told what became of it. */
  steer(
    message: UserMessage,
    { receipt, once }: { receipt: string; once: boolean },
    heard: (state: "admitted" | "dropped") => void,
  ): void {
    this.record(message);
    this.#receipts ??= new Map();
    this.#receipts.set(receipt, heard);
    this.#inbox ??= [];
    this.#inbox.push({ message_id: message.id, receipt, ...(once ? { once } : {}) });
  }

  /** What was sent since it was last asked. */
  takeInbox(): readonly InboxEntry[] {
    const taken = this.#inbox;
    this.#inbox = undefined;
    return taken ?? NONE;
  }

  get hasInbox(): boolean {
    return this.#inbox !== undefined;
  }

  /** What was recorded since it was last asked. */
  takeUnsaved(): readonly LogEntry[] {
    return this.#unsaved?.splice(0) ?? NONE;
  }

  get seq(): number {
    return this.#seq;
  }

  /** Whether anybody reads live events: what nobody reads is not made. */
  get observed(): boolean {
    return this.#live !== undefined;
  }

  record(message: LogEntry): void {
    const kept = this.parts.keep(message);
    this.log.hasAttachments ||= hasAttachments(message); // also of one that is never logged
    this.#unsaved?.push(kept);
    const at = this.#find(message.id);
    if (at >= 0) this.#recorded[at] = kept;
    else if (this.#recorded.length === 0) this.#recorded = [kept];
    else this.#recorded.push(kept);
  }

  message(id: string): Message | undefined {
    const found = this.#recorded[this.#find(id)] ?? this.#asides?.get(id) ?? this.log.find(id);
    return found?.role === "projection" ? undefined : found;
  }

  /** Whether there is a record that what is sent could be rebuilt from. */
  get isKept(): boolean {
    return this.#unsaved !== undefined;
  }

  /** Keeps a message that is sent and in no log, under this id or the one it has been kept under before (R4). */
  recordSent(message: Message, id: string): string {
    this.#sentOnly ??= new SentOnly();
    const { kept, isNew } = this.#sentOnly.add(message, id);
    if (isNew) this.#unsaved?.push(kept);
    return kept.id;
  }

  sentOnly(id: string): Message | undefined {
    return this.#sentOnly?.get(id);
  }

  #takeSentOnly(message: Message): void {
    this.#sentOnly ??= new SentOnly();
    this.#sentOnly.take(message);
  }

  /** Commits a note: stamps it, fills in bodies, shows it; or puts recorded messages into the log. */
  note(note: Note, at?: number): void {
    if (note.type === "logged") {
      for (const id of note.message_ids) this.#logOne(id);
      return;
    }
    if (note.type === "aside") {
      for (const id of note.message_ids) this.#keepAside(id);
      return;
    }
    if (note.type === "dropped") {
      this.#receipts?.get(note.receipt)?.("dropped");
      return;
    }
    if (note.type === "plan") this.plan = note.plan;
    if (note.type === "usage") this.#report(note);
    if (note.type === "message_injected" && note.receipt !== undefined)
      this.#receipts?.get(note.receipt)?.("admitted");
    this.#seq += 1;
    if (this.#sink === undefined) return;
    const stamp = {
      run_id: this.id,
      turn_ref: this.turnRef,
      seq: this.#seq,
      at: at ?? this.parts.clock.now(),
      path: note.path === undefined ? this.path : [...this.path, ...note.path],
    };
    this.#sink(expand(note, stamp, (id) => deepFreeze(this.message(id))));
  }

  live(event: LiveEvent): void {
    this.#live?.(event);
  }

  listens(point: HookPoint): boolean {
    return this.agent.entries(point).length > 0;
  }

  /** A sub-agent in this process leaves no result of its own that could report them. */
  #report(used: UsageNote): void {
    if (this.#shared !== undefined) return;
    const request = requestOf(used);
    if (request !== undefined) this.requests.push(request);
  }

  #logOne(id: string): void {
    const message = this.#take(id);
    if (message === undefined) throw new Error(`message ${id} was logged but never recorded`);
    this.log.append(message);
  }

  #keepAside(id: string): void {
    const message = this.#take(id);
    if (message === undefined) throw new Error(`message ${id} was put aside but never recorded`);
    this.#asides ??= new Map();
    this.#asides.set(id, message);
  }

  /** What was recorded and never logged: transient parts, drafts, and what only a request had. */
  get unlogged(): readonly LogEntry[] {
    return this.#sentOnly === undefined ? this.#recorded : [...this.#recorded, ...this.#sentOnly.all];
  }

  #take(id: string): LogEntry | undefined {
    const at = this.#find(id);
    if (at === this.#recorded.length - 1) return this.#recorded.pop(); // nearly always the one that came last
    return at < 0 ? undefined : this.#recorded.splice(at, 1)[0];
  }

  #find(id: string): number {
    for (let i = this.#recorded.length - 1; i >= 0; i--) if (this.#recorded[i]?.id === id) return i;
    return -1;
  }
}

/** An agent without tools, on a model that perhaps takes none, is left as it is; so is one that has such a tool itself. */
function readsArtifacts(agent: BoundAgent, artifacts: ArtifactDesk): BoundAgent {
  if (agent.tools.length === 0 || agent.toolByName.has(READ_ARTIFACT)) return agent;
  return agent.withTools([readArtifactTool(artifacts, agent.definition.offload_above_bytes)]);
}
