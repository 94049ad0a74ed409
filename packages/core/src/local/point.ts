import { hookFailure } from "../errors.ts";
import { type CheckChange, Inputs } from "../hooks/inputs.ts";
import type { RailQuestion, Reservation } from "../rails/context.ts";
import { Dispatch, type Dispatched, type Session } from "../rails/dispatch.ts";
import type { StateValues } from "../rails/rail-state.ts";
import type { AgentDefinition } from "../schema/agent.ts";
import type { Failure } from "../schema/failure.ts";
import type { HookPoint } from "../schema/points.ts";
import type { Scope } from "../schema/run.ts";
import type { Usage } from "../schema/usage.ts";
import type { Verdict } from "../schema/verdict.ts";
import { addUsage } from "../turn/state.ts";
import { askModel } from "./ask-model.ts";
import type { Timer } from "./clock.ts";
import type { Effect } from "./effect.ts";
import type { Maybe } from "./maybe.ts";
import type { RunContext } from "./run-context.ts";
import type { Watch } from "./watchdog.ts";

/** Where in a run a dispatch is made. */
export interface Place {
  readonly effect: Effect;
  /** The same however often this dispatch is made: an approval in between, a restart. */
  readonly key: string;
  readonly attempt: number;
  readonly rails: StateValues;
}

/** What a dispatch came to, and the data as its rails left it. */
export interface PointResult {
  readonly outcome: Dispatched;
  readonly inputs: Inputs;
  /** What the loop has to hear of; undefined when everybody passed without a word. */
  readonly verdict: Verdict | undefined;
  /** A plain hook failed. */
  readonly failure: Failure | undefined;
}

/** Runs the hooks and rails of a point. Ask `listens` first: a dispatch is not free. */
export function dispatchPoint(
  run: RunContext,
  point: HookPoint,
  values: Readonly<Record<string, unknown>>,
  place: Place,
  check?: CheckChange,
): Maybe<PointResult> {
  return new RunSession(run, new Inputs(point, values, check), place).begin();
}

/** Below this a bound has a timer of its own; above, a second more or less does not matter. */
const COARSE_MS = 10_000;

/** A dispatch's view of its run, and what came of it. One timer watches over whoever is running. */
class RunSession implements Session, PointResult {
  readonly inputs: Inputs;
  readonly outcome: Dispatch;
  verdict: Verdict | undefined;
  failure: Failure | undefined;
  readonly #run: RunContext;
  readonly #place: Place;
  #watch: Watch | undefined;
  #watchMs = 0;
  #timer: Timer | undefined;
  #usage: Usage | undefined;
  #over = false;
  #resolve: ((result: PointResult) => void) | undefined;

  constructor(run: RunContext, inputs: Inputs, place: Place) {
    this.#run = run;
    this.#place = place;
    this.inputs = inputs;
    this.outcome = new Dispatch(run.agent.entries(inputs.point), inputs, this);
  }

  begin(): Maybe<PointResult> {
    this.#place.effect.onCancel(this);
    this.outcome.run();
    if (this.#over) return this;
    return new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  finished(outcome: Dispatched): void {
    this.#over = true;
    this.#place.effect.offCancel(this);
    this.#watch?.stop();
    this.#timer?.stop();
    this.verdict = verdictOf(this.inputs.point, outcome, this.#usage);
    this.failure = failureOf(this.inputs.point, outcome);
    this.#resolve?.(this);
  }

  cancelled(): void {
    if (!this.#over) this.outcome.stop();
  }

  expired(): void {
    this.#watch = undefined;
    this.outcome.expire();
  }

  get agent(): AgentDefinition {
    return this.#run.agent.definition;
  }

  get scope(): Scope {
    return this.#run.scope;
  }

  get runId(): string {
    return this.#run.id;
  }

  get turnRef(): string {
    return this.#run.turnRef;
  }

  get attempt(): number {
    return this.#place.attempt;
  }

  get signal(): AbortSignal {
    return this.#place.effect.signal;
  }

  get state(): StateValues {
    return this.#place.rails;
  }

  get idempotencyKey(): string {
    return `${this.#run.id}/${this.#place.key}/${this.inputs.point}`;
  }

  now(): number {
    return this.#run.parts.clock.now();
  }

  roughly(): number {
    const { clock } = this.#run.parts;
    return clock.roughly ? clock.roughly() : clock.now();
  }

  enter(timeoutMs: number): void {
    if (this.#watch !== undefined && this.#watchMs === timeoutMs) {
      this.#watch.touch();
      return;
    }
    this.#timer?.stop();
    this.#timer = undefined;
    if (timeoutMs < COARSE_MS) {
      this.#watch?.stop();
      this.#watch = undefined;
      this.#timer = this.#run.parts.clock.after(timeoutMs, () => this.outcome.expire());
      return;
    }
    this.#watch?.stop();
    this.#watchMs = timeoutMs;
    this.#watch = this.#run.parts.watchdog.watch(timeoutMs, this);
  }

  async reserve(key: string, counter: string, n: number, max: number): Promise<Reservation> {
    return this.#run.counters.reserve(key, counter, n, max);
  }

  async ask(question: RailQuestion): Promise<string> {
    const { text, usage } = await askModel(this.#run, question, this.#place.effect);
    this.#usage = this.#usage === undefined ? usage : addUsage(this.#usage, usage);
    return text;
  }
}

function verdictOf(point: HookPoint, outcome: Dispatched, usage: Usage | undefined): Verdict | undefined {
  const { action, rail, reason, retry, replacement, records, operations, passed } = outcome;
  if (action === "continue" && records.length === 0 && operations.length === 0 && usage === undefined)
    return undefined;
  return {
    point,
    action,
    rail,
    reason,
    records,
    state: operations,
    passed,
    ...(retry ? { retry: { delay: retry.delay, max_retries: retry.maxRetries, reason: retry.reason } } : {}),
    ...(replacement === undefined ? {} : { replacement }),
    ...(usage === undefined ? {} : { usage }),
  };
}

function failureOf(point: HookPoint, { hookFailure: failed }: Dispatched): Failure | undefined {
  return failed && hookFailure(point, failed.hook, failed.problem);
}
