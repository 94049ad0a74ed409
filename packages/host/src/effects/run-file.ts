import type { LogEntry, Plan } from "trackside";
import type { RunContext, UsageNote } from "trackside/engine";
import type { RowsOrder } from "trackside/loop";
import { RunDesk } from "../approvals/desk.ts";
import type { CommitBody } from "../journal/rows.ts";
import { loadCommits, messagesOf } from "../journal/run-records.ts";
import { boundOf, makeContext, type Resumed, type Running, type Surroundings } from "../journal/running.ts";

/** A row as it is written down. */
export interface FiledRow {
  readonly ord: number;
  readonly seq: number;
  readonly body: CommitBody;
}

/**
 * A run whose loop is elsewhere, as its rows tell it. It is kept between effects and brought up to date by the rows that
 * others wrote meanwhile, so that an effect costs what is new and not what there is.
 */
export class RunFile {
  readonly given: Running;
  /** What all effects of the run share here: its agent with what its servers brought. */
  readonly base: RunContext;
  readonly desk: RunDesk;
  readonly #around: Surroundings;
  /** Messages that are not in the log, and the rows they are in. */
  readonly #recorded: Map<string, { readonly message: LogEntry; readonly ord: number }>;
  readonly #asides = new Map<string, LogEntry>();
  readonly #usage: UsageNote[] = [];
  #plan: Plan | null = null;
  #seq = 0;
  #hasDeferred = false;
  /** Every row up to here was read; beyond it, these. */
  #low = -1;
  readonly #beyond = new Set<number>();
  #reading: Promise<void> = Promise.resolve();
  readonly #writing = new Map<number, Promise<boolean>>();

  constructor(around: Surroundings, given: Running) {
    this.#around = around;
    this.given = given;
    const { loaded, request } = given;
    this.#recorded = new Map(loaded?.recorded.map((one) => [one.message.id, one]));
    for (const row of loaded?.commits ?? []) {
      this.#passed(row.ord);
      this.#count(row);
      for (const note of row.body.notes)
        if (note.type === "aside") for (const id of note.message_ids) this.#setAside(id);
    }
    this.desk = new RunDesk(
      around.approvals,
      around.parts.clock,
      request.scope.tenant,
      loaded?.approvals ?? [],
    );
    const bound = boundOf(around, given);
    this.base = makeContext(around, given, {
      bound,
      desk: this.desk,
      lost: NONE,
      outcomes: new Map(),
      resumed: this.resumed,
      attempt: 1,
    });
  }

  get resumed(): Resumed {
    return {
      seq: this.#seq,
      recorded: [...[...this.#recorded.values()].map(({ message }) => message), ...this.#asides.values()],
      aside: [...this.#asides.keys()],
      plan: this.#plan,
      usage: this.#usage,
    };
  }

  /** Whether any of its rows has work for after the run. */
  get hasDeferred(): boolean {
    return this.#hasDeferred;
  }

  get unlogged(): readonly LogEntry[] {
    return [...this.#recorded.values()].map(({ message }) => message);
  }

  /** The rows that messages outside the log are in. */
  get savedAt(): ReadonlyMap<string, number> {
    return new Map([...this.#recorded].map(([id, { ord }]) => [id, ord]));
  }

  has(ord: number): boolean {
    return ord <= this.#low || this.#beyond.has(ord);
  }

  /** Reads what others wrote, if the loop knows of rows that this process does not. */
  catchUp({ up_to, open, rows }: RowsOrder): Promise<void> {
    const given = new Set(rows.map(({ ord }) => ord));
    const isNews = (ord: number) => !this.has(ord) && !open.includes(ord) && !given.has(ord);
    const news = () => {
      const found: number[] = [];
      for (let ord = this.#low + 1; ord < up_to; ord++) if (isNews(ord)) found.push(ord);
      return found;
    };
    if (news().length === 0) return NOTHING;
    return this.read().then(() => {
      for (const ord of news()) this.#passed(ord); // of a life that was given up: nobody will write it
    });
  }

  /** Reads every row that this process does not know. One look at a time. */
  read(): Promise<void> {
    this.#reading = this.#reading.then(
      () => this.#read(),
      () => this.#read(),
    );
    return this.#reading;
  }

  async #read(): Promise<void> {
    const { patient, codec } = this.#around;
    const { runId } = this.given;
    const low = this.#low;
    const has = (ord: number) => this.has(ord);
    const { fresh, messages } = await patient.read(function* (db) {
      const fresh = (yield* loadCommits(db, runId, low)).filter(({ ord }) => !has(ord));
      return { fresh, messages: yield* messagesOf(db, fresh, codec) };
    });
    for (const row of fresh) {
      const mine = [...messages.values()].filter(({ ord }) => ord === row.ord);
      this.apply(
        row,
        mine.map(({ message }) => message),
      );
    }
  }

  /** Has a row written by one of the effects that bring it at the same time. Answers whether it was this one, and new. */
  async once(ord: number, write: () => Promise<boolean>): Promise<boolean> {
    const known = this.#writing.get(ord);
    if (known !== undefined) return known.then(() => false);
    const writing = write();
    this.#writing.set(ord, writing);
    try {
      return await writing;
    } finally {
      this.#writing.delete(ord);
    }
  }

  /** Takes a row in that is written down. */
  apply(row: FiledRow, messages: readonly LogEntry[]): void {
    if (this.has(row.ord)) return;
    this.#passed(row.ord);
    for (const message of messages) this.#recorded.set(message.id, { message, ord: row.ord });
    this.#count(row);
    const { log, user } = this.given;
    for (const note of row.body.notes) {
      if (note.type === "aside") for (const id of note.message_ids) this.#setAside(id);
      if (note.type !== "logged") continue;
      for (const id of note.message_ids) {
        const message = this.#recorded.get(id)?.message ?? (id === user.id ? user : undefined);
        if (message === undefined) throw new Error(`the message ${id} was logged but never recorded`);
        this.#recorded.delete(id);
        log.append(message);
      }
    }
  }

  #count({ seq, body }: FiledRow): void {
    this.#seq = Math.max(this.#seq, seq);
    this.#hasDeferred ||= body.deferred !== undefined;
    for (const note of body.notes) {
      if (note.type === "usage") this.#usage.push(note);
      else if (note.type === "plan") this.#plan = note.plan;
    }
  }

  #setAside(id: string): void {
    const found = this.#recorded.get(id);
    if (found === undefined) return;
    this.#recorded.delete(id);
    this.#asides.set(id, found.message);
  }

  #passed(ord: number): void {
    this.#beyond.add(ord);
    while (this.#beyond.delete(this.#low + 1)) this.#low += 1;
  }

  /** This process is done with it. */
  close(): void {
    this.desk.close();
    this.base.supplies?.release();
  }
}

const NONE: ReadonlySet<string> = new Set();
const NOTHING = Promise.resolve();
