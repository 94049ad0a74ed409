import { HookError, messageOf, TracksideError } from "../errors.ts";
import { HOOK_POINTS, type HookPoint } from "../schema/verdict.ts";
import type { HookContext } from "./context.ts";

/** A function on a lifecycle point. It returns nothing; to change the course of a run, write a rail. */
export type Hook<P extends HookPoint = HookPoint> = (ctx: HookContext<P>) => void | Promise<void>;

/** Who is running. The dispatcher is pure, so whoever bounds the time of hooks brings the clock and looks here. */
export interface Pace {
  /** Called before each hook, with the hook. */
  enter(hook: { readonly name: string }): void;
  /** Set when a hook was given up: what it does later no longer counts. */
  stopped: boolean;
}

type AnyHook = (ctx: never) => unknown;

const unbounded: Pace = { enter: () => {}, stopped: false };

/**
 * The one dispatcher of the lifecycle points (R11). Hooks run in the order they were added, one after another; the first
 * that fails stops the dispatch with a `HookError` that names it.
 */
export class HookManager {
  readonly #hooks = new Map<HookPoint, readonly AnyHook[]>();

  add<P extends HookPoint>(point: P, hook: Hook<P>): this {
    if (!HOOK_POINTS.includes(point)) {
      throw new TracksideError(
        "config_invalid",
        `"${String(point)}" is no lifecycle point; known: ${HOOK_POINTS.join(", ")}`,
      );
    }
    if (typeof hook !== "function") {
      throw new TracksideError(
        "config_invalid",
        `A hook on ${point} is a function (ctx) => void; ${typeof hook} given`,
      );
    }
    this.#hooks.set(point, [...(this.#hooks.get(point) ?? []), hook]);
    return this;
  }

  /** Removes a hook from a point; says whether it was there. */
  remove<P extends HookPoint>(point: P, hook: Hook<P>): boolean {
    const hooks = this.#hooks.get(point) ?? [];
    const left = hooks.filter((known) => known !== hook);
    if (left.length === hooks.length) return false;
    if (left.length > 0) this.#hooks.set(point, left);
    else this.#hooks.delete(point);
    return true;
  }

  /** The points somebody listens on. */
  get points(): readonly HookPoint[] {
    return [...this.#hooks.keys()];
  }

  /** The names of the hooks on a point, in order. */
  names(point: HookPoint): readonly string[] {
    return (this.#hooks.get(point) ?? []).map(nameOf);
  }

  has(point: HookPoint): boolean {
    return this.#hooks.has(point);
  }

  /** What is registered now, unaffected by later changes. */
  snapshot(): HookManager {
    const copy = new HookManager();
    for (const [point, hooks] of this.#hooks) copy.#hooks.set(point, hooks);
    return copy;
  }

  /** Runs the hooks of a point. Rejects with a `HookError` when one throws, times out or returns something. */
  async run<P extends HookPoint>(point: P, ctx: HookContext<P>, pace: Pace = unbounded): Promise<void> {
    const hooks = this.#hooks.get(point);
    if (hooks === undefined) return;
    for (const hook of hooks) {
      let returned: unknown;
      pace.enter(hook);
      try {
        returned = (hook as Hook<P>)(ctx); // registered under this very point by `add`
        if (isPromise(returned)) returned = await returned;
        if (pace.stopped) return;
      } catch (error) {
        throw new HookError(point, nameOf(hook), `failed: ${messageOf(error)}`, { cause: error });
      }
      if (returned !== undefined) throw new HookError(point, nameOf(hook), WRONG_RETURN);
    }
  }
}

export const ANONYMOUS = "(anonymous)";

const WRONG_RETURN = "returned a value; a hook returns nothing. To skip, retry or abort, write a rail";

function nameOf(hook: AnyHook): string {
  return hook.name || ANONYMOUS;
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
