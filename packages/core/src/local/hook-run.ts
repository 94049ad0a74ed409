import { HookError } from "../errors.ts";
import type { HookContext, PointInputs } from "../hooks/context.ts";
import { ANONYMOUS, type HookManager, type Pace } from "../hooks/hook-manager.ts";
import type { AgentDefinition } from "../schema/agent.ts";
import type { Failure } from "../schema/failure.ts";
import type { Scope } from "../schema/run.ts";
import type { HookPoint } from "../schema/verdict.ts";
import type { Effect } from "./effect.ts";
import type { RunContext } from "./run-context.ts";
import type { Watch } from "./watchdog.ts";

const HOOK_TIMEOUT_MS = 30_000;

/** Runs one dispatch. A hook that fails, hangs or outlives a cancel ends it; the answer says which failed. */
export function runHooks<P extends HookPoint>(
  run: RunContext,
  point: P,
  inputs: PointInputs[P],
  attempt: number,
  effect: Effect,
): Promise<Failure | undefined> {
  // Event and inputs belong to the same point by this function's own signature; a mapped union cannot express that.
  const ctx = new PointContext(run, point, inputs, attempt, effect) as unknown as HookContext<P>;
  return new Dispatch(point, effect).run(run.agent.hookManager, ctx, run);
}

/** One dispatch under way, bounded in time. */
class Dispatch implements Pace {
  stopped = false;
  readonly #point: HookPoint;
  readonly #effect: Effect;
  #current: { readonly name: string } = { name: ANONYMOUS };
  #watch: Watch | undefined;
  #resolve: (failure: Failure | undefined) => void = () => {};

  constructor(point: HookPoint, effect: Effect) {
    this.#point = point;
    this.#effect = effect;
  }

  run<P extends HookPoint>(
    manager: HookManager,
    ctx: HookContext<P>,
    run: RunContext,
  ): Promise<Failure | undefined> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#effect.onCancel(this.#cancel);
      if (this.stopped) return;
      this.#watch = run.parts.watchdog.watch(HOOK_TIMEOUT_MS, () => this.#expire());
      manager.run(ctx.event, ctx, this).then(
        () => this.#finish(undefined),
        (error: unknown) => (error instanceof HookError ? this.#finish(failureOf(error)) : reject(error)),
      );
    });
  }

  enter(hook: { readonly name: string }): void {
    this.#current = hook;
    this.#watch?.touch();
  }

  readonly #cancel = (): void => this.#finish(undefined);

  #expire(): void {
    const name = this.#current.name || ANONYMOUS;
    this.#finish(failureOf(new HookError(this.#point, name, `timed out after ${HOOK_TIMEOUT_MS / 1000} s`)));
  }

  #finish(failure: Failure | undefined): void {
    if (this.stopped) return;
    this.stopped = true;
    this.#watch?.stop();
    this.#effect.offCancel(this.#cancel);
    this.#resolve(failure);
  }
}

/** What a hook is given: getters only, so that an assignment fails loudly and a signal is made when first read. */
class PointContext {
  readonly #run: RunContext;
  readonly #event: HookPoint;
  readonly #inputs: PointInputs[HookPoint];
  readonly #attempt: number;
  readonly #effect: Effect;

  constructor(
    run: RunContext,
    event: HookPoint,
    inputs: PointInputs[HookPoint],
    attempt: number,
    effect: Effect,
  ) {
    this.#run = run;
    this.#event = event;
    this.#inputs = inputs;
    this.#attempt = attempt;
    this.#effect = effect;
  }

  get event(): HookPoint {
    return this.#event;
  }

  get inputs(): PointInputs[HookPoint] {
    return this.#inputs;
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
    return this.#attempt;
  }

  get signal(): AbortSignal {
    return this.#effect.signal;
  }
}

function failureOf(error: HookError): Failure {
  return { code: "hook_failed", message: error.message, details: { point: error.point, hook: error.hook } };
}
