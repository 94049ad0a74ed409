import type { Task } from "../hooks/pipeline-hooks.ts";
import type { DurableEvent } from "../schema/durable-events.ts";
import { deepFreeze, type Json, type JsonObject } from "../schema/json.ts";
import type { LiveEvent } from "../schema/live-events.ts";
import type { Message, UserMessage } from "../schema/message.ts";
import type { HookPoint } from "../schema/points.ts";
import type { Scope } from "../schema/run.ts";
import { expand } from "../turn/expand.ts";
import type { Note } from "../turn/note.ts";
import { Approvals, type Approve } from "./approvals.ts";
import type { BoundAgent } from "./bound-agent.ts";
import type { Clock } from "./clock.ts";
import type { Log } from "./conversation.ts";
import { Counters } from "./counters.ts";
import type { Facts } from "./facts.ts";
import type { Models } from "./models.ts";
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
  keep(message: Message): Message;
  readonly facts: Facts;
}

export interface RetryPolicy {
  /** Extra attempts with each model. */
  readonly retries: number;
  readonly baseMs: number;
  readonly maxMs: number;
}

export type Approver = Approve | "stream" | undefined;

/** A call that waits for a decision. */
export interface HeldCall {
  /** What it runs with if it is approved as it is. */
  readonly arguments: JsonObject;
  awaiting: boolean;
  edited: JsonObject | undefined;
  response: Json | undefined;
}

const NONE: readonly never[] = Object.freeze([]);

/** One run while it is under way: what the effect handlers read and write. The loop never sees it. */
export class RunContext {
  readonly id: string;
  readonly turnRef: string;
  readonly scope: Scope;
  readonly agent: BoundAgent;
  readonly log: Log;
  readonly parts: EngineParts;
  readonly userMessage: UserMessage;
  readonly path: readonly string[] = [];
  /** Who decides: a function, whoever holds the stream, or nobody. */
  readonly approver: Approver;
  /** Work for after the run. */
  deferred: readonly { task: Task; input: unknown }[] = NONE;
  // Most runs need none of these, so they are made when they are.
  #counters: Counters | undefined;
  #approvals: Approvals | undefined;
  #calls: Map<string, HeldCall> | undefined;
  /** Recorded, not yet logged: a few at a time. */
  readonly #recorded: Message[] = [];
  readonly #sink: ((event: RunEvent) => void) | undefined;
  #seq = 0;

  constructor(init: {
    id: string;
    turnRef: string;
    scope: Scope;
    agent: BoundAgent;
    log: Log;
    parts: EngineParts;
    userMessage: UserMessage;
    sink: ((event: RunEvent) => void) | undefined;
    approver: Approver;
  }) {
    this.id = init.id;
    this.turnRef = init.turnRef;
    this.scope = init.scope;
    this.agent = init.agent;
    this.log = init.log;
    this.parts = init.parts;
    this.userMessage = init.userMessage;
    this.#sink = init.sink;
    this.approver = init.approver;
    this.record(init.userMessage);
  }

  /** Counters of the run tree. */
  get counters(): Counters {
    this.#counters ??= new Counters();
    return this.#counters;
  }

  get approvals(): Approvals {
    this.#approvals ??= new Approvals(this.parts.clock);
    return this.#approvals;
  }

  /** Calls that wait for a decision, with what they will run with. */
  get calls(): Map<string, HeldCall> {
    this.#calls ??= new Map();
    return this.#calls;
  }

  get seq(): number {
    return this.#seq;
  }

  /** Whether anybody reads: what nobody reads is not made. */
  get observed(): boolean {
    return this.#sink !== undefined;
  }

  record(message: Message): void {
    const kept = this.parts.keep(message);
    const at = this.#find(message.id);
    if (at < 0) this.#recorded.push(kept);
    else this.#recorded[at] = kept;
  }

  message(id: string): Message | undefined {
    return this.#recorded[this.#find(id)] ?? this.log.find(id);
  }

  /** Commits a note: stamps it, fills in bodies, shows it; or puts recorded messages into the log. */
  note(note: Note): void {
    if (note.type === "logged") {
      for (const id of note.message_ids) this.#logOne(id);
      return;
    }
    this.#seq += 1;
    if (this.#sink === undefined) return;
    const stamp = {
      run_id: this.id,
      turn_ref: this.turnRef,
      seq: this.#seq,
      at: this.parts.clock.now(),
      path: this.path,
    };
    this.#sink(expand(note, stamp, (id) => deepFreeze(this.message(id))));
  }

  live(event: LiveEvent): void {
    this.#sink?.(event);
  }

  listens(point: HookPoint): boolean {
    return this.agent.entries(point).length > 0;
  }

  #logOne(id: string): void {
    const [message] = this.#recorded.splice(this.#find(id), 1);
    if (message?.id !== id) throw new Error(`message ${id} was logged but never recorded`);
    this.log.append(message);
  }

  #find(id: string): number {
    for (let i = this.#recorded.length - 1; i >= 0; i--) if (this.#recorded[i]?.id === id) return i;
    return -1;
  }
}
