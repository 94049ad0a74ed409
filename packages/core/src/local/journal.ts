import type { PinnedAgent } from "../schema/agent.ts";
import type { TurnStart, TurnState } from "../schema/turn-state.ts";
import type { Note } from "../turn/note.ts";
import { runTurn } from "../turn/run-turn.ts";
import type { World } from "../turn/world.ts";

export type EffectKind = "dispatch" | "hooks" | "model" | "tool" | "ask" | "sleep" | "boundary";

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
  readonly ord: number;
  readonly key: string;
  readonly result: unknown;
  readonly notes: readonly Note[];
  readonly begun: readonly string[];
  /** At a step boundary: what the loop can be started from again. */
  readonly state?: TurnState;
}

/** Where a journalled run keeps its rows and does its work. */
export interface JournalHost {
  /** The rows so far, oldest first; grows by `commit`. */
  readonly rows: readonly CommitRow[];
  /** Writes a row down. Its notes become visible with it. */
  commit(row: CommitRow): void | Promise<void>;
  /** Starts an effect, unless it is under way already. */
  begin(asked: Asked): void;
  /** The next result to deliver. */
  next(): Promise<{ key: string; result: unknown }>;
  /** Stops effects, begun or yet to begin. */
  cancel(prefix: string, reason: string): void;
  /** Whether to give up this life of the loop now and start it again from the journal. */
  restart(row: CommitRow): boolean;
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

/** One life of the loop: from its last checkpoint through what is recorded, and on. */
class Life implements World {
  readonly #agent: PinnedAgent;
  readonly #turn: TurnStart;
  readonly #host: JournalHost;
  readonly #waiting = new Map<string, { asked: Asked; resolve: (result: never) => void }>();
  readonly #states = new Map<string, TurnState>();
  #notes: Note[] = [];
  #begun: string[] = [];

  constructor(agent: PinnedAgent, turn: TurnStart, host: JournalHost) {
    this.#agent = agent;
    this.#turn = turn;
    this.#host = host;
  }

  /** The final state, or null when the loop is to be started again. */
  async live(): Promise<TurnState | null> {
    const { rows } = this.#host;
    const checkpoint = rows.findLastIndex((row) => row.state !== undefined);
    const loop = this.#start(rows[checkpoint]?.state);
    let current: { ord: number; key: string; result: unknown } | null = null;
    if (checkpoint < 0) current = { ord: 0, key: OPENING, result: null };
    let ord = Math.max(checkpoint, 0);

    for (;;) {
      await dry();
      if (loop.crashed) throw loop.error;
      if (current !== null) {
        const row = await this.#react(current);
        if (loop.ended) return loop.ended;
        if (row !== null && this.#host.restart(row)) return null;
        ord = current.ord + 1;
      } else {
        this.#take(); // asking again for the boundary it was started from
      }
      current = await this.#deliver(ord);
    }
  }

  /** Checks the loop's reaction against the record, or records it. Answers the row if it is new. */
  async #react(delivered: { ord: number; key: string; result: unknown }): Promise<CommitRow | null> {
    const recorded = this.#host.rows[delivered.ord];
    const { notes, begun } = this.#take();
    if (recorded !== undefined) {
      if (!same(recorded.begun, begun) || !same(recorded.notes, notes))
        throw diverged(recorded, begun, notes);
      return null;
    }
    const state = this.#states.get(delivered.key);
    const row: CommitRow = { ...delivered, notes, begun, ...(state === undefined ? {} : { state }) };
    await this.#host.commit(row);
    return row;
  }

  async #deliver(ord: number): Promise<{ ord: number; key: string; result: unknown }> {
    let next: { key: string; result: unknown } | undefined = this.#host.rows[ord];
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
    return { ord, key, result };
  }

  #take(): { notes: Note[]; begun: string[] } {
    const taken = { notes: this.#notes, begun: this.#begun };
    this.#notes = [];
    this.#begun = [];
    return taken;
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
  sleep: World["sleep"] = (key, ms) => this.#ask(key, "sleep", ms);

  boundary: World["boundary"] = (state) => {
    const key = `@boundary/${state.step}`;
    this.#states.set(key, jsonCopy(state));
    return this.#ask(key, "boundary", null);
  };

  end: World["end"] = () => undefined;
  cancel: World["cancel"] = (prefix, reason) => this.#host.cancel(prefix, reason);

  note: World["note"] = (note) => {
    this.#notes.push(note);
  };
}

/** Resolves when the loop has done all it can with what it was given: it waits only for effects, never for time. */
function dry(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function jsonCopy<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function diverged(recorded: CommitRow, begun: readonly string[], notes: readonly Note[]): Divergence {
  const was = JSON.stringify({ begun: recorded.begun, notes: recorded.notes });
  return new Divergence(
    `after ${recorded.key} the loop did ${JSON.stringify({ begun, notes })}, the first time ${was}`,
  );
}
