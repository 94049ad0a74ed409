import { ActivityFailure, CancellationScope, condition, isCancellation, sleep } from "@temporalio/workflow";
import type {
  Asked,
  AskOut,
  CommitRow,
  EffectAnswer,
  EffectOrder,
  JournalHost,
  OpenedTurn,
  PlacedRow,
  RowsOrder,
} from "trackside/loop";
import { isEvent } from "trackside/loop";
import type { PerformedKind } from "../common/wire.ts";

/** What the host asks of Temporal. */
export interface Performing {
  perform(kind: PerformedKind, order: EffectOrder, at: string | undefined): Promise<EffectAnswer>;
  /** Runs a sub-agent. `cancelled` says why it is to stop, once it is. */
  child(asked: Asked, told: RowsOrder, cancelled: () => string | undefined): Promise<unknown>;
  /** Writes rows down while nothing else does. */
  write(told: RowsOrder): Promise<unknown>;
  /** Whether the history has become so long that the loop should move on. */
  readonly isLong: boolean;
}

/** The loop came to a step boundary and its history is long: it goes on from there in a new one. */
export class MovesOn extends Error {
  override readonly name = "MovesOn";
  readonly row: CommitRow;

  constructor(row: CommitRow) {
    super("the turn goes on in a new history");
    this.row = row;
  }
}

interface Under {
  readonly asked: Asked;
  readonly ord: number;
  readonly scope: CancellationScope;
  cancelled: string | undefined;
  /** It has its answer, which is not delivered yet. */
  isDone: boolean;
}

/** Decisions are looked for at least this often, even if nobody says that there is one: from a minute to an hour. */
const FIRST_LOOK_MS = 60_000;
const SHORTEST_MS = 250; // a worker's clock may be behind the server's
const LAST_LOOK_MS = 3_600_000;

/**
 * The journal of a turn inside a workflow. Temporal's history is what is replayed; the rows are for everybody else: each
 * goes along with the effects that follow it, which write it down before they begin.
 */
export class WorkflowHost implements JournalHost {
  readonly rows: CommitRow[];
  readonly #runId: string;
  readonly #opened: OpenedTurn;
  readonly #performing: Performing;
  readonly #lost: Set<string>;
  readonly #under = new Map<string, Under>();
  readonly #ready: { key: string; result: unknown }[] = [];
  readonly #stopped: { prefix: string; reason: string }[] = [];
  /** Workers that hold a tool under way, by the key its call begins with. */
  readonly #holders = new Map<string, string>();
  /** Rows that nobody has confirmed to be written down. */
  #unwritten: PlacedRow[] = [];
  #ord: number;
  #seq: number;
  #called: boolean;
  #calls = 0;
  #cancelled: string | undefined;
  #broken: { error: unknown } | undefined;
  #wake = () => {};

  constructor(runId: string, opened: OpenedTurn, performing: Performing) {
    this.#runId = runId;
    this.#opened = opened;
    this.#performing = performing;
    this.rows = [...opened.rows];
    this.#ord = opened.ord;
    this.#seq = opened.seq;
    this.#lost = new Set(opened.lost);
    this.#called = opened.called;
    this.#cancelled = opened.cancelled;
  }

  commit(row: CommitRow): void {
    if (this.#mayMoveOn(row)) throw new MovesOn(row);
    this.#place(row);
    this.rows.length = 0; // a replay is Temporal's affair
    if (row.begun.length === 0 && row.ended === undefined && this.#under.size > 0) this.#writeDown();
  }

  /** Numbers a row and its events. */
  #place(row: CommitRow): void {
    for (const note of row.notes) if (isEvent(note)) this.#seq += 1;
    this.#unwritten.push({ ...row, ord: this.#next(), seq: this.#seq });
  }

  /** Nothing begins that would take the rows along, and a reader should not have to wait for what is under way. */
  #writeDown(): void {
    const told = this.unwritten;
    if (told.rows.length > 0)
      void this.#performing.write(told).then(
        () => this.#written(told.rows),
        () => {}, // the next effect takes them along
      );
  }

  /** At a step boundary, with nothing open, the loop can be started again from its state. */
  #mayMoveOn(row: CommitRow): boolean {
    return (
      row.state !== undefined && row.ended === undefined && this.#under.size === 0 && this.#performing.isLong
    );
  }

  begin(asked: Asked): void {
    if (this.#under.has(asked.key)) return;
    const scope = new CancellationScope({ cancellable: true });
    const ord = asked.kind === "child" || asked.kind === "sleep" ? NOWHERE : this.#next();
    const under: Under = { asked, ord, scope, cancelled: this.#cancelled, isDone: false };
    for (const { prefix, reason } of this.#stopped)
      if (asked.key.startsWith(prefix)) under.cancelled ??= reason;
    this.#under.set(asked.key, under);
    this.#perform(under).then(
      (result) => {
        under.isDone = true;
        this.#ready.push({ key: asked.key, result });
        this.#wake();
      },
      (error: unknown) => {
        this.#broken ??= { error };
        this.#wake();
      },
    );
  }

  async next(): Promise<{ key: string; result: unknown }> {
    // Not a condition: each of those is a call into the sandbox more, and they are most of what a step costs a worker.
    if (this.#ready.length === 0 && this.#broken === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    if (this.#broken !== undefined) throw this.#broken.error;
    const next = this.#ready.shift();
    if (next === undefined) throw new Error("nothing is ready");
    this.#under.delete(next.key);
    return next;
  }

  cancel(prefix: string, reason: string): void {
    this.#stopped.push({ prefix, reason });
    for (const [key, under] of this.#under) if (key.startsWith(prefix)) stop(under, reason);
  }

  /** The run is to stop: what is under way answers, and the loop hears of it at its next boundary. */
  cancelRun(reason: string): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = reason;
    for (const under of this.#under.values()) stop(under, reason);
  }

  /** Why an effect under way is to stop; undefined while it is not. */
  stopped(key: string): string | undefined {
    return this.#under.get(key)?.cancelled;
  }

  /** Something was left for the run. */
  call(): void {
    this.#called = true;
    this.#calls += 1;
  }

  get called(): boolean {
    return this.#called || this.#cancelled !== undefined;
  }

  isCrowded(): boolean {
    return this.#opened.crowded;
  }

  restart(): boolean {
    return false;
  }

  /** A condition that does not hold at first is looked at again when no microtask is left. */
  async dry(): Promise<void> {
    let looks = 0;
    await condition(() => looks++ > 0);
  }

  /** What is left to be written down. */
  get unwritten(): RowsOrder {
    return { run_id: this.#runId, rows: [...this.#unwritten], up_to: this.#ord, open: this.#openOrds() };
  }

  /** What a new history begins with: from the boundary on nothing has happened. */
  carried(row: CommitRow): OpenedTurn {
    const { notes: n = 0 } = row.before ?? {};
    const notes = row.notes.slice(0, n);
    const placed = { ...row, notes, begun: [], open: true as const };
    this.#place(placed);
    return {
      ...this.#opened,
      rows: [placed],
      ord: this.#ord,
      seq: this.#seq,
      lost: [],
      crowded: false,
      ...this.heard,
    };
  }

  /** What the loop has not been told yet. */
  get heard(): Pick<OpenedTurn, "called" | "cancelled"> {
    return {
      called: this.#called,
      ...(this.#cancelled === undefined ? {} : { cancelled: this.#cancelled }),
    };
  }

  async #perform(under: Under): Promise<unknown> {
    const { asked } = under;
    if (asked.kind === "sleep") return this.#sleep(under, Number(asked.input));
    if (asked.kind === "child") return this.#child(under);
    if (asked.kind === "ask") return this.#ask(under);
    if (asked.kind === "boundary") this.#called = false;
    return (await this.#order(under, asked.kind)).result;
  }

  async #order(under: Under, kind: PerformedKind): Promise<EffectAnswer> {
    const { asked, ord } = under;
    const rows = [...this.#unwritten];
    const callKey = asked.key.slice(0, asked.key.lastIndexOf("/"));
    const order: EffectOrder = {
      run_id: this.#runId,
      asked,
      ord,
      seq: this.#seq,
      rows,
      up_to: this.#ord,
      open: this.#openOrds(),
      ...(this.#lost.delete(asked.key) ? { lost: true } : {}),
      ...(under.cancelled === undefined ? {} : { cancelled: under.cancelled }),
    };
    const at = this.#holders.get(callKey);
    const answer = await under.scope
      .run(() => this.#performing.perform(kind, order, at))
      .catch((error: unknown) => {
        // Whoever had begun it is gone, and the server does not try again what is to be cancelled.
        const isLost = error instanceof ActivityFailure && error.retryState === "CANCEL_REQUESTED";
        if (!isLost && !isCancellation(error)) throw error;
        // It still has an answer: that it was stopped.
        const stopped = { ...order, cancelled: under.cancelled ?? "stopped" };
        return CancellationScope.nonCancellable(() =>
          this.#performing.perform(kind, isLost ? { ...stopped, lost: true } : stopped, at),
        );
      });
    this.#written(rows);
    if (answer.held_by === undefined) this.#holders.delete(callKey);
    else this.#holders.set(callKey, answer.held_by);
    return answer;
  }

  /** Looks at the record, then waits for a word or the deadline, and looks again: the row decides (L4). */
  async #ask(under: Under): Promise<unknown> {
    for (let wait = FIRST_LOOK_MS; ; wait = Math.min(wait * 2, LAST_LOOK_MS)) {
      const calls = this.#calls;
      const { result, pending } = await this.#order(under, "ask");
      if (pending === undefined) return result as AskOut;
      const left = pending.deadline === null ? wait : Math.max(SHORTEST_MS, pending.deadline - Date.now());
      await condition(() => this.#calls !== calls || under.cancelled !== undefined, Math.min(wait, left));
    }
  }

  async #child(under: Under): Promise<unknown> {
    const told = this.unwritten;
    const out = await this.#performing.child(under.asked, told, () => under.cancelled);
    this.#written(told.rows);
    return out;
  }

  /** Nothing else is under way that would write down what it waits for, and a reader should see that it does. */
  async #sleep(under: Under, ms: number): Promise<{ cancelled?: string }> {
    if (ms > 0) this.#writeDown();
    if (ms > 0) await Promise.race([sleep(ms), condition(() => under.cancelled !== undefined)]);
    return under.cancelled === undefined ? {} : { cancelled: under.cancelled };
  }

  #written(rows: readonly PlacedRow[]): void {
    const last = rows.at(-1)?.ord ?? -1;
    this.#unwritten = this.#unwritten.filter(({ ord }) => ord > last);
  }

  #openOrds(): number[] {
    return [...this.#under.values()].flatMap(({ ord, isDone }) => (ord === NOWHERE || isDone ? [] : [ord]));
  }

  #next(): number {
    const ord = this.#ord;
    this.#ord += 1;
    return ord;
  }
}

/** The ord of what writes nothing down. */
const NOWHERE = -1;

function stop(under: Under, reason: string): void {
  if (under.cancelled !== undefined) return;
  under.cancelled = reason;
  under.scope.cancel();
}
