import type { LogEntry, Plan, UserMessage } from "trackside";
import { digestOf, dry, isSentOnly, planForExecutor, type RunContext } from "trackside/engine";
import {
  type Asked,
  type CommitRow,
  type CompactInput,
  Divergence,
  driveJournal,
  type JournalHost,
  type PinnedAgent,
} from "trackside/loop";
import { ASIDE } from "../journal/rows.ts";
import { type LoadedRun, planIn } from "../journal/run-records.ts";

/** A run's record, and a context that is brought to where the run was, row by row. */
export interface ReplayInit {
  readonly loaded: LoadedRun;
  readonly messages: ReadonlyMap<string, { readonly message: LogEntry; readonly ord: number }>;
  readonly context: RunContext;
  /** Begin where this step did, if the record has a checkpoint there: what comes before is only read. */
  readonly fromStep?: number | undefined;
  /** An effect was asked for: the context is as it was then. `enough` when no more is wanted. */
  asked(asked: Asked): "enough" | undefined;
}

/** The record has no more to say. */
const OVER = Symbol("over");

/**
 * Goes through a run's loop once more over what its record says came of each effect. Nothing is performed and nothing is
 * written. Answers where the loop, as it is now, does something else than the record says.
 */
export async function replayRun(agent: PinnedAgent, init: ReplayInit): Promise<Divergence | undefined> {
  const { row, body, user } = init.loaded;
  const turn = { run_id: row.id, turn_ref: row.turn_ref, log: body.from, message_id: user.id };
  try {
    await driveJournal(agent, turn, new ReplayedRun(init));
    return undefined;
  } catch (error) {
    if (error === OVER) return undefined;
    if (error instanceof Divergence) return error;
    throw error;
  }
}

class ReplayedRun implements JournalHost {
  /** What the loop is started from: a checkpoint, or the state it was retried from, if it was (X13). */
  readonly rows: readonly CommitRow[];
  readonly #init: ReplayInit;
  readonly #plan: Plan | null;
  readonly #loop: readonly { readonly at: number; readonly row: CommitRow }[];
  /** Messages by the row they are in. */
  readonly #messages = new Map<number, LogEntry[]>();
  readonly #seen = new Set<string>();
  #next = 0;
  /** How many rows the context knows of. */
  #applied = 0;

  constructor(init: ReplayInit) {
    this.#init = init;
    const { commits } = init.loaded;
    this.#plan = planIn(commits);
    this.#loop = commits.flatMap(({ body }, at) => (body.key === ASIDE ? [] : [{ at, row: body }]));
    for (const { message, ord } of init.messages.values()) {
      const known = this.#messages.get(ord);
      if (known === undefined) this.#messages.set(ord, [message]);
      else known.push(message);
    }
    const from = this.#start(init.fromStep);
    const first = this.#loop[from];
    this.rows = first === undefined ? [] : [first.row];
    if (first === undefined) return;
    this.#apply(first.at);
    this.#next = first.row.open ? from + 1 : from; // what the loop did from an open one is in the next
  }

  /** The row to begin with; -1 for the beginning. */
  #start(step: number | undefined): number {
    const at = this.#loop.findLastIndex(({ row }) => row.state !== undefined && row.state.step + 1 === step);
    return at < 0 && this.#loop[0]?.row.open ? 0 : at;
  }

  /** The row whose result the loop was given last. */
  get #current(): CommitRow | undefined {
    return this.#loop[this.#next]?.row;
  }

  commit({ key, begun }: CommitRow): void {
    const recorded = this.#loop[this.#next];
    if (recorded === undefined) throw OVER; // nobody has begun it yet
    const { row, at } = recorded;
    if (row.key !== key || JSON.stringify(row.begun) !== JSON.stringify(begun))
      throw new Divergence(`after ${key} the loop began ${begun.join()}, the first time ${row.begun.join()}`);
    this.#apply(at);
  }

  begin(asked: Asked): void {
    if (this.#seen.has(asked.key)) return;
    this.#seen.add(asked.key);
    if (this.#init.asked(asked) === "enough") throw OVER;
  }

  async next(): Promise<{ key: string; result: unknown }> {
    this.#next += 1;
    const row = this.#current;
    if (row === undefined) throw OVER;
    return { key: row.key, result: row.result };
  }

  cancel(): void {}

  get called(): boolean {
    return this.#current?.begun.some((key) => key.startsWith("@boundary/")) ?? false;
  }

  isCrowded({ attempt }: CompactInput): boolean {
    return this.#current?.begun.includes(`room/${attempt}`) ?? false;
  }

  restart(): boolean {
    return false;
  }

  dry(): Promise<void> {
    return dry();
  }

  /** Brings the context to where the run was once this row was written. */
  #apply(at: number): void {
    const { context, loaded } = this.#init;
    for (; this.#applied <= at; this.#applied++) {
      const commit = loaded.commits[this.#applied];
      if (commit === undefined) return;
      for (const message of this.#messages.get(commit.ord) ?? []) this.#record(message);
      for (const note of commit.body.notes) {
        if (note.type === "logged" || note.type === "aside")
          for (const id of note.message_ids) this.#ensure(id);
        context.note(note, commit.body.at);
      }
    }
  }

  /** A message that is logged here and was recorded again later is in a later row. */
  #ensure(id: string): void {
    const { context, messages } = this.#init;
    if (context.message(id) !== undefined) return;
    const found = messages.get(id)?.message;
    if (found !== undefined) this.#record(found);
  }

  #record(message: LogEntry): void {
    if (isSentOnly(message)) return; // there from the start
    this.#init.context.record(this.#restored(message) ?? message);
  }

  /** What the executor was told of the plan is forgotten with the run (H4), and made from the plan, which is not. */
  #restored(message: LogEntry): UserMessage | undefined {
    if (message.role !== "user" || message.forgotten === undefined || this.#plan === null) return undefined;
    const parts = [{ type: "text" as const, text: planForExecutor(this.#plan) }];
    const { forgotten, ...rest } = message;
    return forgotten.digest === digestOf(parts) ? { ...rest, parts } : undefined;
  }
}
