import type { TurnState } from "../schema/turn-state.ts";
import type { Note } from "../turn/note.ts";
import type {
  AskInput,
  BoundaryOut,
  DispatchInput,
  HooksInput,
  ModelInput,
  ToolInput,
  World,
} from "../turn/world.ts";
import { Effect } from "./effect.ts";
import { handlers } from "./handlers/index.ts";
import type { RunContext } from "./run-context.ts";

/** The world of a run in this process: effects start at once and nothing is written down. */
export class LocalWorld implements World {
  readonly #run: RunContext;
  readonly #under = new Set<Effect>();
  #stopped: { prefix: string; reason: string } | undefined;
  #cancelled: string | undefined;
  #lastDelivery: Promise<void> | undefined;

  constructor(run: RunContext) {
    this.#run = run;
  }

  dispatch(key: string, input: DispatchInput) {
    return this.#perform(key, (effect) => handlers.dispatch(this.#run, input, effect));
  }

  model(key: string, input: ModelInput) {
    return this.#perform(key, (effect) => handlers.model(this.#run, input, effect));
  }

  tool(key: string, input: ToolInput) {
    return this.#perform(key, (effect) => handlers.tool(this.#run, input, effect));
  }

  hooks(key: string, input: HooksInput) {
    return this.#perform(key, (effect) => handlers.hooks(this.#run, input, effect));
  }

  ask(key: string, input: AskInput) {
    return this.#perform(key, (effect) => handlers.ask(this.#run, input, effect));
  }

  sleep(key: string, ms: number) {
    return this.#perform(key, (effect) => handlers.sleep(this.#run, ms, effect));
  }

  boundary(_state: TurnState): Promise<BoundaryOut> | undefined {
    if (this.#cancelled === undefined) return undefined;
    return Promise.resolve({ inbox: [], cancelled: this.#cancelled });
  }

  end(_state: TurnState): undefined {
    return undefined;
  }

  cancel(prefix: string, reason: string): void {
    this.#stopped = { prefix, reason };
    for (const effect of this.#under) if (effect.key.startsWith(prefix)) effect.cancel(reason);
  }

  note(note: Note): void {
    this.#run.note(note);
  }

  /** Cancels the whole run. */
  cancelRun(reason: string): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = reason;
    for (const effect of this.#under) effect.cancel(reason);
  }

  async #perform<T>(key: string, work: (effect: Effect) => Promise<T>): Promise<T> {
    const effect = new Effect(key);
    if (this.#cancelled !== undefined) effect.cancel(this.#cancelled);
    else if (this.#stopped && key.startsWith(this.#stopped.prefix)) effect.cancel(this.#stopped.reason);
    this.#under.add(effect);
    const out = await work(effect);
    this.#under.delete(effect);
    if (this.#under.size > 0 || this.#lastDelivery !== undefined) await this.#turnToDeliver();
    return out;
  }

  /** One result at a time (X1): each waits until the loop has run dry on the one before. */
  #turnToDeliver(): Promise<void> {
    const before = this.#lastDelivery ?? Promise.resolve();
    const mine = before.then(() => new Promise<void>((resolve) => setImmediate(resolve)));
    this.#lastDelivery = mine;
    mine.then(() => {
      if (this.#lastDelivery === mine) this.#lastDelivery = undefined;
    });
    return mine;
  }
}
