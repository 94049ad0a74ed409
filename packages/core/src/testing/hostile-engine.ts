import { dry } from "../local/dry.ts";
import { Effect } from "../local/effect.ts";
import { type Drive, type Engine, type EngineOptions, engineOf } from "../local/engine.ts";
import { perform } from "../local/handlers/index.ts";
import { isCrowded } from "../local/request-size.ts";
import type { RunContext } from "../local/run-context.ts";
import { frozenCopy } from "../schema/json.ts";
import { type Asked, type CommitRow, driveJournal, type JournalHost } from "../turn/journal.ts";
import type { BoundaryOut, CompactInput } from "../turn/world.ts";

export interface HostileOptions extends EngineOptions {
  /** Fixes the order of deliveries. */
  readonly seed?: number;
  /** Told after every run how often the loop was started again, and how many recorded deliveries it replayed. */
  readonly onReplayed?: (replayed: { lives: number; deliveries: number }) => void;
}

/**
 * The worst engine that is still correct. Every argument and result passes through JSON and is frozen, parallel results
 * arrive in a random order, and after every delivery the loop is thrown away and started again from the journal while the
 * effects under way go on. What works here works on an engine that crashes, and in a workflow sandbox.
 */
export function hostileEngine(options: HostileOptions = {}): Engine {
  const { seed = 1, onReplayed, ...engineOptions } = options;
  const random = randomFrom(seed);
  const calls = randomFrom(seed + 1);
  return engineOf(
    engineOptions,
    (run, turn): Drive => {
      const host = new HostileHost(run, random, calls);
      const ended = driveJournal(run.agent.pinned, turn, host).finally(() => onReplayed?.(host.replayed));
      return { ended, cancel: (reason) => host.cancelRun(reason) };
    },
    frozenCopy,
  );
}

class HostileHost implements JournalHost {
  readonly rows: CommitRow[] = [];
  readonly replayed = { lives: 0, deliveries: 0 };
  readonly #run: RunContext;
  readonly #random: () => number;
  readonly #calls: () => number;
  readonly #under = new Map<string, Effect>();
  readonly #ready: { key: string; result: unknown }[] = [];
  readonly #stopped: { prefix: string; reason: string }[] = [];
  #cancelled: string | undefined;
  #wake: (() => void) | undefined;
  #broken: { error: unknown } | undefined;

  constructor(run: RunContext, random: () => number, calls: () => number) {
    this.#run = run;
    this.#random = random;
    this.#calls = calls;
  }

  commit(row: CommitRow): void {
    const copy = frozenCopy(row);
    // Now and then a checkpoint is lost, so that replays get longer.
    const { state: _lost, before: _too, ...without } = copy;
    this.rows.push(this.#random() < 0.3 ? without : copy);
    for (const note of copy.notes) this.#run.note(note);
  }

  /** Sometimes for nothing: the answer may be that nothing came in. */
  get called(): boolean {
    return this.#cancelled !== undefined || this.#run.hasInbox || this.#calls() < 0.3;
  }

  isCrowded(input: CompactInput): boolean {
    return isCrowded(this.#run, input);
  }

  dry(): Promise<void> {
    return dry();
  }

  restart(_row: CommitRow): boolean {
    this.replayed.lives += 1;
    const checkpoint = this.rows.findLastIndex((known) => known.state !== undefined);
    this.replayed.deliveries += this.rows.length - Math.max(checkpoint, 0);
    return true;
  }

  begin(asked: Asked): void {
    if (this.#under.has(asked.key)) return;
    const effect = new Effect(asked.key);
    this.#under.set(asked.key, effect);
    if (this.#cancelled !== undefined) effect.cancel(this.#cancelled);
    for (const { prefix, reason } of this.#stopped) if (asked.key.startsWith(prefix)) effect.cancel(reason);
    this.#perform(frozenCopy(asked), effect)
      .then(
        (result) => this.#ready.push({ key: asked.key, result: frozenCopy(result) }),
        (error: unknown) => {
          this.#broken = { error };
        },
      )
      .then(() => this.#wake?.());
  }

  async next(): Promise<{ key: string; result: unknown }> {
    for (;;) {
      if (this.#broken) throw this.#broken.error;
      // Now and then hold a result back, so that a later one may overtake it.
      for (let i = Math.floor(this.#random() * 4); i > 0; i--)
        await new Promise((resolve) => setImmediate(resolve));
      const [next] = this.#ready.splice(Math.floor(this.#random() * this.#ready.length), 1);
      if (next !== undefined) {
        this.#under.delete(next.key);
        return next;
      }
      if (!this.#broken) await new Promise<void>((resolve) => (this.#wake = resolve));
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

  async #perform(asked: Asked, effect: Effect): Promise<unknown> {
    return asked.kind === "boundary" ? this.#boundary() : perform(this.#run, asked, effect);
  }

  #boundary(): BoundaryOut {
    return {
      inbox: this.#run.takeInbox(),
      ...(this.#cancelled === undefined ? {} : { cancelled: this.#cancelled }),
    };
  }
}

/** A small, good enough generator with a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
