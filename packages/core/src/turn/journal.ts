import type { PinnedAgent } from "../schema/agent.ts";
import type { TurnStart, TurnState } from "../schema/turn-state.ts";
import type { Note } from "./note.ts";
import { runTurn } from "./run-turn.ts";
import type { CompactInput, World } from "./world.ts";

export type EffectKind =
  | "dispatch"
  | "hooks"
  | "model"
  | "tool"
  | "ask"
  | "compact"
  | "child"
  | "equip"
  | "node"
  | "sleep"
  | "boundary";

/** One effect the loop asked for. */
export interface Asked {
  readonly key: string;
  readonly kind: EffectKind;
  readonly input: unknown;
}

/**
 * One delivery: a result, and everything the loop did in reaction. It is committed before any effect in `begun` starts, so
 * it is at once the record of events, the intent to act, and, with `state`, a checkpoint.
 */
export interface CommitRow {
  readonly key: string;
  readonly result: unknown;
  readonly notes: readonly Note[];
  readonly begun: readonly string[];
  /** The loop came to a step boundary: what it can be started from again, and what it had said until there. */
  readonly state?: TurnState;
  readonly before?: { readonly notes: number; readonly begun: number };
  /** The loop was never started from this checkpoint: what it does from there on is not recorded yet. */
  readonly open?: true;
  /** The turn is over: how it stands. */
  readonly ended?: TurnState;
}

/** Where a journalled run keeps its rows and does its work. */
export interface JournalHost {
  /** The rows so far, oldest first and from the last checkpoint on; grows by `commit`. */
  readonly rows: readonly CommitRow[];
  /** Writes a row down. Its notes become visible with it. */
  commit(row: CommitRow): void | Promise<void>;
  /** Starts an effect, unless it is under way already. */
  begin(asked: Asked): void;
  /** The next result to deliver. */
  next(): Promise<{ key: string; result: unknown }>;
  /** Stops effects, begun or yet to begin. */
  cancel(prefix: string, reason: string): void;
  /** Whether something came in for the next step boundary: a cancel, a message. */
  readonly called: boolean;
  /** Whether there is too little room for a turn to begin. */
  isCrowded(input: CompactInput): boolean;
  /** Whether to give up this life of the loop now and start it again from the journal. */
  restart(row: CommitRow): boolean;
  /** Resolves when the loop has done all it can with what it was given: it waits only for effects, never for time. */
  dry(): Promise<void>;
}

/** The loop asked for something else than it did the first time. */
export class Divergence extends Error {
  override readonly name = "Divergence";
}

/** Drives a turn over a journal to its end, through as many lives of the loop as it takes. */
export async function driveJournal(
  agent: PinnedAgent,
  turn: TurnStart,
  host: JournalHost,
): Promise<TurnState> {
  for (;;) {
    const ended = await new Life(agent, turn, host).live();
    if (ended !== null) return ended;
  }
}

const OPENING = "@open";

interface Delivered {
  readonly key: string;
  readonly result: unknown;
}

/** One life of the loop: from its last checkpoint through what is recorded, and on. */
class Life implements World {
  readonly #agent: PinnedAgent;
  readonly #turn: TurnStart;
  readonly #host: JournalHost;
  /** The recorded rows that are left to go through. */
  #recorded: CommitRow[] = [];
  readonly #waiting = new Map<string, { asked: Asked; resolve: (result: never) => void }>();
  /** The row whose reaction is being replayed, if one is. */
  #replayed: CommitRow | undefined;
  #notes: Note[] = [];
  #begun: string[] = [];
  #checkpoint: Pick<CommitRow, "state" | "before"> | undefined;
  #ended: TurnState | undefined;

  constructor(agent: PinnedAgent, turn: TurnStart, host: JournalHost) {
    this.#agent = agent;
    this.#turn = turn;
    this.#host = host;
  }

  /** The final state, or null when the loop is to be started again. */
  async live(): Promise<TurnState | null> {
    const { rows } = this.#host;
    const at = rows.findLastIndex((row) => row.state !== undefined);
    const from = rows[at];
    this.#recorded = rows.slice(Math.max(at, 0));
    const first = this.#recorded.shift();
    this.#replayed = first?.open ? undefined : first;
    let current: Delivered = this.#replayed ?? { key: OPENING, result: null };
    const loop = this.#start(from?.state);

    for (;;) {
      await this.#host.dry();
      if (loop.crashed) throw loop.error;
      const row = current === from ? this.#resumed(from) : await this.#react(current);
      if (loop.ended) return loop.ended;
      if (row !== null && this.#host.restart(row)) return null;
      current = await this.#deliver();
    }
  }

  /** The loop was started from a checkpoint: it has to do again what it did from there on. */
  #resumed(row: CommitRow): null {
    const { notes, begun } = this.#take();
    const { notes: n = 0, begun: b = 0 } = row.before ?? {};
    check(row, { notes: row.notes.slice(n), begun: row.begun.slice(b) }, { notes, begun });
    return null;
  }

  /** Checks the loop's reaction against the record, or records it. Answers the row if it is new. */
  async #react(delivered: Delivered): Promise<CommitRow | null> {
    const recorded = this.#replayed;
    const { notes, begun, checkpoint, ended } = this.#take();
    if (recorded !== undefined) {
      check(recorded, recorded, { notes, begun });
      return null;
    }
    const { key, result } = delivered;
    const row: CommitRow = { key, result, notes, begun, ...checkpoint, ...(ended ? { ended } : {}) };
    await this.#host.commit(row);
    return row;
  }

  async #deliver(): Promise<Delivered> {
    this.#replayed = this.#recorded.shift();
    let next: { key: string; result: unknown } | undefined = this.#replayed;
    if (next === undefined) {
      for (const { asked } of this.#waiting.values()) this.#host.begin(asked);
      next = await this.#host.next();
    }
    const { key, result } = next;
    const waiting = this.#waiting.get(key);
    if (waiting === undefined)
      throw new Divergence(`the journal has a result for ${key}, which the loop did not ask for`);
    this.#waiting.delete(key);
    waiting.resolve(result as never); // the handler of this key answered with this method's result
    return { key, result };
  }

  #take() {
    const notes = this.#notes;
    const begun = this.#begun;
    const checkpoint = this.#checkpoint;
    const ended = this.#ended;
    this.#notes = [];
    this.#begun = [];
    this.#checkpoint = undefined;
    return { notes, begun, checkpoint, ended };
  }

  #start(state: TurnState | undefined) {
    const loop: { ended?: TurnState; crashed: boolean; error?: unknown } = { crashed: false };
    const from = state === undefined ? undefined : jsonCopy(state);
    runTurn(this.#agent, this.#turn, this, from).then(
      (ended) => {
        loop.ended = ended;
      },
      (error: unknown) => {
        loop.crashed = true;
        loop.error = error;
      },
    );
    return loop;
  }

  #ask<T>(key: string, kind: EffectKind, input: unknown): Promise<T> {
    this.#begun.push(key);
    return new Promise<T>((resolve) => this.#waiting.set(key, { asked: { key, kind, input }, resolve }));
  }

  dispatch: World["dispatch"] = (key, input) => this.#ask(key, "dispatch", input);
  model: World["model"] = (key, input) => this.#ask(key, "model", input);
  tool: World["tool"] = (key, input) => this.#ask(key, "tool", input);
  hooks: World["hooks"] = (key, input) => this.#ask(key, "hooks", input);
  ask: World["ask"] = (key, input) => this.#ask(key, "ask", input);
  equip: World["equip"] = (key, input) => this.#ask(key, "equip", input);
  child: World["child"] = (key, input) => this.#ask(key, "child", input);
  node: World["node"] = (key, input) => this.#ask(key, "node", input);
  sleep: World["sleep"] = (key, ms) => this.#ask(key, "sleep", ms);

  /** Before a turn it is an effect only where there is something to do; a replay does what was done. */
  compact: World["compact"] = (key, input) => {
    const isDone =
      input.why === "opening" &&
      !(this.#replayed === undefined ? this.#host.isCrowded(input) : this.#replayed.begun.includes(key));
    return isDone ? undefined : this.#ask(key, "compact", input);
  };

  /** A checkpoint, part of the row under way. An effect of its own only when something waits to be heard. */
  boundary: World["boundary"] = (state) => {
    const key = `@boundary/${state.flow?.settled ?? state.step}`;
    const before = { notes: this.#notes.length, begun: this.#begun.length };
    this.#checkpoint = { state: jsonCopy(state), before };
    const heard = this.#replayed === undefined ? this.#host.called : this.#replayed.begun.includes(key);
    return heard ? this.#ask(key, "boundary", state.step) : undefined;
  };

  end: World["end"] = (state) => {
    this.#ended = jsonCopy(state);
    return undefined;
  };
  cancel: World["cancel"] = (prefix, reason) => this.#host.cancel(prefix, reason);

  note: World["note"] = (note) => {
    this.#notes.push(note);
  };
}

/** What is written out once more later on need not be now: a copy of JSON, at a tenth of the cost. */
function jsonCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(jsonCopy) as T; // an array again
  const copy = { ...value };
  for (const key in copy) if (typeof copy[key] === "object") copy[key] = jsonCopy(copy[key]);
  return copy;
}

interface Reaction {
  readonly notes: readonly Note[];
  readonly begun: readonly string[];
}

function check({ key }: CommitRow, recorded: Reaction, now: Reaction): void {
  if (same(recorded.begun, now.begun) && same(recorded.notes, now.notes)) return;
  const was = JSON.stringify({ begun: recorded.begun, notes: recorded.notes });
  throw new Divergence(`after ${key} the loop did ${JSON.stringify(now)}, the first time ${was}`);
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
