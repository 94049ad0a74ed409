import type { TurnState } from "../schema/turn-state.ts";
import type { Note } from "../turn/note.ts";
import type {
  AskInput,
  BoundaryOut,
  ChildInput,
  CompactInput,
  DispatchInput,
  EquipInput,
  HooksInput,
  ModelInput,
  NodeInput,
  ToolInput,
  ToolOut,
  World,
} from "../turn/world.ts";
import { Effect } from "./effect.ts";
import { handlers } from "./handlers/index.ts";
import type { Maybe } from "./maybe.ts";
import { isCrowded } from "./request-size.ts";
import type { RunContext } from "./run-context.ts";

/** The world of a run in this process: effects start at once and nothing is written down. */
export class LocalWorld implements World {
  readonly #run: RunContext;
  /** What may run beside others, and is under way. */
  #under: Effect[] = [];
  /** What nothing runs beside: the last one begun. */
  #lone: Effect | undefined;
  #stopped: { prefix: string; reason: string }[] | undefined;
  #cancelled: string | undefined;
  #lastDelivery: Promise<void> | undefined;

  constructor(run: RunContext) {
    this.#run = run;
  }

  // Nothing runs beside these, so their results are delivered as they come.

  dispatch(key: string, input: DispatchInput) {
    return handlers.dispatch(this.#run, input, this.#alone(key));
  }

  hooks(key: string, input: HooksInput) {
    return handlers.hooks(this.#run, input, this.#alone(key));
  }

  model(key: string, input: ModelInput) {
    return handlers.model(this.#run, input, this.#alone(key));
  }

  equip(key: string, input: EquipInput) {
    return handlers.equip(this.#run, input, this.#alone(key));
  }

  compact(key: string, input: CompactInput) {
    if (input.why === "opening" && !isCrowded(this.#run, input)) return undefined;
    return handlers.compact(this.#run, input, this.#alone(key));
  }

  // These may be one of several.

  child(key: string, input: ChildInput) {
    const effect = this.#beside(key);
    return this.#deliver(effect, handlers.child(this.#run, input, effect));
  }

  tool(key: string, input: ToolInput) {
    const effect = this.#beside(key);
    return this.#deliver(effect, this.#callTool(input, effect));
  }

  #callTool(input: ToolInput, effect: Effect): Maybe<ToolOut> {
    if (!this.#run.observed) return handlers.tool(this.#run, input, effect);
    // Whoever reads sees the call before it is made, also when its function never waits (E4).
    return immediately().then(() => handlers.tool(this.#run, input, effect));
  }

  ask(key: string, input: AskInput) {
    const effect = this.#beside(key);
    return this.#deliver(effect, handlers.ask(this.#run, input, effect));
  }

  node(key: string, input: NodeInput) {
    const effect = this.#beside(key);
    return this.#deliver(effect, handlers.node(this.#run, input, effect));
  }

  sleep(key: string, ms: number) {
    const effect = this.#beside(key);
    return this.#deliver(effect, handlers.sleep(this.#run, ms, effect));
  }

  boundary(_state: TurnState): Promise<BoundaryOut> | undefined {
    if (this.#cancelled !== undefined) return Promise.resolve({ inbox: [], cancelled: this.#cancelled });
    return this.#run.hasInbox ? Promise.resolve({ inbox: this.#run.takeInbox() }) : undefined;
  }

  end(_state: TurnState): undefined {
    return undefined;
  }

  cancel(prefix: string, reason: string): void {
    this.#stopped ??= [];
    this.#stopped.push({ prefix, reason });
    for (const effect of [...this.#under]) if (effect.key.startsWith(prefix)) effect.cancel(reason);
  }

  note(note: Note): void {
    this.#run.note(note);
  }

  /** Cancels the whole run. */
  cancelRun(reason: string): void {
    if (this.#cancelled !== undefined) return;
    this.#cancelled = reason;
    this.#lone?.cancel(reason);
    for (const effect of [...this.#under]) effect.cancel(reason);
  }

  #alone(key: string): Effect {
    const effect = this.#effect(key);
    this.#lone = effect;
    return effect;
  }

  #beside(key: string): Effect {
    const effect = this.#effect(key);
    if (this.#under.length === 0)
      this.#under = [effect]; // most are alone, and a list that grows takes room for more
    else this.#under.push(effect);
    return effect;
  }

  #effect(key: string): Effect {
    const effect = new Effect(key);
    if (this.#cancelled !== undefined) effect.cancel(this.#cancelled);
    else if (this.#stopped)
      for (const { prefix, reason } of this.#stopped) if (key.startsWith(prefix)) effect.cancel(reason);
    return effect;
  }

  async #deliver<T>(effect: Effect, work: T | Promise<T>): Promise<T> {
    const out = await work;
    if (this.#under.at(-1) === effect) this.#under.pop();
    else this.#under.splice(this.#under.indexOf(effect), 1);
    if (this.#under.length > 0 || this.#lastDelivery !== undefined) await this.#turnToDeliver();
    return out;
  }

  /** One result at a time (X1): each waits until the loop has run dry on the one before. */
  #turnToDeliver(): Promise<void> {
    const before = this.#lastDelivery ?? Promise.resolve();
    const mine = before.then(immediately);
    this.#lastDelivery = mine;
    mine.then(() => {
      if (this.#lastDelivery === mine) this.#lastDelivery = undefined;
    });
    return mine;
  }
}

function immediately(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
