import { estimateParts, type LogEntry } from "trackside";
import { digestOf, dry, Effect, isCrowded, perform, type RunContext } from "trackside/engine";
import {
  type Asked,
  type BoundaryOut,
  type CommitRow,
  type CompactInput,
  isEvent,
  type JournalHost,
  type ModelInput,
  type ModelOut,
} from "trackside/loop";
import type { CommitEntry, Store, Work } from "../store/store.ts";
import type { Codec, NewArtifact } from "./codec.ts";
import { Fenced } from "./fenced.ts";
import { Parked } from "./park.ts";
import type { CommitBody, StoredMessage, StoredTask } from "./rows.ts";

/** What a run under way needs of its engine. */
export interface HostServices {
  readonly store: Store;
  readonly codec: Codec;
  /** Work to do in the transaction of a row: what the row means for other tables. */
  beside(
    row: CommitRow,
    artifacts: readonly NewArtifact[],
    forgotten: readonly Forgotten[],
  ): Work<void> | undefined;
  /** Messages sent to the run that are not in it yet, and whether it is to stop. */
  boundary(): Promise<BoundaryOut>;
  /** An effect that an earlier process had begun is about to be begun again. Answers why it must not be, if so. */
  again(key: string): Promise<string | undefined>;
  /** A row is in: events up to `seq` can be read. */
  committed(seq: number): void;
}

/** A message whose content does not outlive its run, and the row it is in (H4). */
export interface Forgotten {
  readonly ord: number;
  readonly message: StoredMessage;
}

export interface HostStart {
  readonly fence: number;
  /** The number of the next row and of the last event. */
  readonly ord: number;
  readonly seq: number;
  readonly rows: readonly CommitRow[];
  /** Effects that were under way when an earlier process died, and since when. */
  readonly lost: ReadonlyMap<string, number>;
  /** Whether its rows have work for after the run. */
  readonly deferred: boolean;
  /** Where messages are that may have to be forgotten. */
  readonly savedAt: ReadonlyMap<string, number>;
}

/** Keys of tool calls. */
const TOOL = /\/tool\/\d+$/;

/** One run over the store: its rows, and its effects in this process. */
export class RunHost implements JournalHost {
  readonly rows: CommitRow[];
  readonly #run: RunContext;
  readonly #services: HostServices;
  readonly #fence: number;
  readonly #lost: Map<string, number>;
  readonly #savedAt: Map<string, number>;
  readonly #under = new Map<string, Effect>();
  readonly #ready: { key: string; result: unknown }[] = [];
  #stopped: { prefix: string; reason: string }[] = [];
  #ord: number;
  #seq: number;
  #deferred = 0;
  #anyDeferred: boolean;
  #cancelled: string | undefined;
  #called = false;
  #wake: (() => void) | undefined;
  #draining = false;
  #drained: (() => void) | undefined;
  #broken: { error: unknown } | undefined;

  constructor(run: RunContext, services: HostServices, start: HostStart) {
    this.#run = run;
    this.#services = services;
    this.#fence = start.fence;
    this.#ord = start.ord;
    this.#seq = start.seq;
    this.rows = [...start.rows];
    this.#lost = new Map(start.lost);
    this.#savedAt = new Map(start.savedAt);
    this.#deferred = run.deferred.length;
    this.#anyDeferred = start.deferred;
  }

  /** Whether any of its rows has work for after the run. */
  get deferred(): boolean {
    return this.#anyDeferred;
  }

  async commit(row: CommitRow): Promise<void> {
    const run = this.#run;
    const at = run.parts.clock.now();
    const { store, codec } = this.#services;
    const unsaved = run.takeUnsaved();
    const { stored, artifacts: made } = unsaved.length === 0 ? NOTHING : codec.encode(unsaved);
    const forgotten = row.ended === undefined ? [] : forget(run, run.unlogged, row, stored, this.#savedAt);
    // Content that ends with its run in the very row it came with is not kept beside it either.
    const artifacts = row.ended === undefined ? made : made.filter(({ id }) => stored.some(isIn(id)));
    const deferred = this.#takeDeferred();
    const body: CommitBody = {
      v: 1,
      at,
      ...row,
      ...(stored.length > 0 ? { messages: stored } : {}),
      ...(deferred.length > 0 ? { deferred } : {}),
    };
    let seq = this.#seq;
    for (const note of row.notes) if (isEvent(note)) seq += 1;
    const entry: CommitEntry = {
      run_id: run.id,
      ord: this.#ord,
      seq,
      body: JSON.stringify(body),
      fence: this.#fence,
    };
    const landed = await store.append(entry, this.#services.beside(row, artifacts, forgotten));
    if (!landed) throw new Fenced(run.id);
    for (const { id } of stored) this.#savedAt.set(id, this.#ord);
    this.#ord += 1;
    this.#seq = seq;
    if (row.state !== undefined) this.rows.length = 0; // a life of the loop begins at the last checkpoint
    this.rows.push(row);
    for (const note of row.notes) run.note(note, at);
    this.#services.committed(seq);
  }

  restart(): boolean {
    return false;
  }

  dry(): Promise<void> {
    return dry();
  }

  get called(): boolean {
    return this.#called || this.#cancelled !== undefined;
  }

  isCrowded(input: CompactInput): boolean {
    return isCrowded(this.#run, input);
  }

  /** Something came in that the next step boundary should hear of. */
  call(): void {
    this.#called = true;
  }

  begin(asked: Asked): void {
    if (this.#under.has(asked.key)) return;
    if (this.#draining && !TOOL.test(asked.key)) return; // whoever takes the run up begins it
    const effect = new Effect(asked.key);
    this.#under.set(asked.key, effect);
    if (this.#cancelled !== undefined) effect.cancel(this.#cancelled);
    for (const { prefix, reason } of this.#stopped) if (asked.key.startsWith(prefix)) effect.cancel(reason);
    this.#perform(asked, effect).then(
      (result) => {
        this.#ready.push({ key: asked.key, result });
        this.#wake?.();
      },
      (error: unknown) => this.give(error),
    );
  }

  async next(): Promise<{ key: string; result: unknown }> {
    for (;;) {
      if (this.#broken) throw this.#broken.error;
      // While it drains only tools are delivered: anything else would begin something new.
      const at = this.#draining ? this.#ready.findIndex(({ key }) => TOOL.test(key)) : 0;
      const [next] = at < 0 ? [] : this.#ready.splice(at, 1);
      if (next !== undefined) {
        this.#under.delete(next.key);
        return next;
      }
      this.#drained?.();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  cancel(prefix: string, reason: string): void {
    this.#stopped.push({ prefix, reason });
    for (const [key, effect] of this.#under) if (key.startsWith(prefix)) effect.cancel(reason);
  }

  cancelRun(reason: string): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = reason;
    for (const effect of this.#under.values()) effect.cancel(reason);
  }

  /**
   * Lets tools that are running finish and starts nothing new: what is known about them when this process leaves, nobody has
   * to be asked. Resolves when none is left.
   */
  async drain(): Promise<void> {
    this.#draining = true;
    while (this.#broken === undefined && [...this.#under.keys()].some((key) => TOOL.test(key)))
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
  }

  /** Gives this life of the run up: nothing more is delivered. Tools and models under way are told to stop. */
  give(error: unknown): void {
    this.#broken ??= { error };
    this.#drained?.();
    for (const effect of this.#under.values()) effect.abort("the run goes on elsewhere");
    this.#wake?.();
  }

  async #perform(asked: Asked, effect: Effect): Promise<unknown> {
    if (asked.kind === "boundary") {
      this.#called = false;
      const out = await this.#services.boundary();
      return this.#cancelled === undefined ? out : { ...out, cancelled: this.#cancelled };
    }
    const { supplies } = this.#run;
    if (supplies?.isConnected === false && asked.kind !== "equip") await supplies.connect(); // begun elsewhere
    const since = this.#lost.get(asked.key);
    if (since === undefined) return perform(this.#run, asked, effect);
    this.#lost.delete(asked.key);
    // Waiting is not what kills a process.
    if (asked.kind === "ask" || asked.kind === "child") return perform(this.#run, asked, effect);
    if (asked.kind === "sleep")
      return perform(this.#run, { ...asked, input: this.#left(asked, since) }, effect);
    const refusal = await this.#services.again(asked.key);
    if (refusal !== undefined) throw new Parked(refusal);
    if (asked.kind === "model") return lostModel(this.#run.id, asked.input as ModelInput);
    return perform(this.#run, asked, effect);
  }

  /** How much of a wait is left: the time its process was gone counts. */
  #left({ input }: Asked, since: number): number {
    return Math.max(0, Number(input) - (this.#run.parts.clock.now() - since));
  }

  #takeDeferred(): StoredTask[] {
    if (this.#run.deferred.length === this.#deferred) return [];
    const added = this.#run.deferred.slice(this.#deferred);
    this.#deferred = this.#run.deferred.length;
    this.#anyDeferred = true;
    return added.map(({ task, input }) => ({ task: task.name, input: input ?? null }));
  }
}

/** At the end transient parts and drafts become digest and token count, unless the agent wants them kept (H4). */
export function forget(
  { agent }: Pick<RunContext, "agent">,
  unlogged: readonly LogEntry[],
  row: CommitRow,
  stored: StoredMessage[],
  savedAt: ReadonlyMap<string, number>,
): Forgotten[] {
  if (agent.definition.audit_transient) return [];
  const logged = new Set(
    row.notes.flatMap((note) => (note.type === "logged" || note.type === "aside" ? note.message_ids : [])),
  );
  const forgotten: Forgotten[] = [];
  for (const message of unlogged) {
    if (logged.has(message.id)) continue;
    const stub = withoutContent(message);
    const here = stored.findIndex(({ id }) => id === message.id);
    if (here >= 0) stored[here] = stub;
    const ord = savedAt.get(message.id);
    if (ord !== undefined) forgotten.push({ ord, message: stub });
  }
  return forgotten;
}

const isIn = (artifact: string) => (message: StoredMessage) =>
  "artifact" in message && message.artifact === artifact;

const NOTHING: ReturnType<Codec["encode"]> = { stored: [], artifacts: [] };

function withoutContent(message: LogEntry): LogEntry {
  if (message.role === "projection") return { ...message, cuts: [] };
  if (message.role === "tool") return { ...message, output: { type: "text", value: "" } };
  const { parts } = message;
  const tokens = estimateParts(
    parts.flatMap((part) => (part.type === "text" || part.type === "file" ? [part] : [])),
  );
  return {
    ...message,
    parts: [],
    forgotten: { digest: digestOf(JSON.parse(JSON.stringify(parts))), tokens },
  };
}

/** A model call lost with its process is made again as a new attempt; what it had shown no longer stands (X3). */
export function lostModel(runId: string, { step, attempt, choice, tries, planner }: ModelInput): ModelOut {
  return {
    message_id: `${runId}.${planner ? "planner" : "main"}.${step}.m${attempt}`,
    retract: "the process that was calling the model is gone",
    again: { choice, tries, in_ms: 0 },
  };
}
