import { abortFailure, HookError, hookFailure, RailAbortError, TracksideError } from "../errors.ts";
import { type AnyHook, type Entry, HOOK_TIMEOUT_MS } from "../rails/dispatch.ts";
import { type DispatchData, dispatchAlone } from "../rails/dispatch-alone.ts";
import { type RailManager, railsBehind } from "../rails/rail-manager.ts";
import { HOOK_POINTS, type HookPoint } from "../schema/points.ts";
import type { HookContext } from "./context.ts";

/** A function on a lifecycle point. It returns nothing; to change the course of a run, write a rail. */
export type Hook<P extends HookPoint = HookPoint> = (ctx: HookContext<P>) => void | Promise<void>;

interface Added {
  readonly hook: AnyHook;
  readonly timeoutMs: number;
}

const NOBODY: readonly Entry[] = Object.freeze([]);

/**
 * The one dispatcher of the lifecycle points (R11). Hooks run in the order they were added, one after another; rails are
 * one hook among them. The first hook that fails stops the dispatch with a `HookError` that names it.
 */
export class HookManager {
  readonly #hooks = new Map<HookPoint, readonly Added[]>();
  readonly #managers = new Set<RailManager>();
  #changes = 0;

  add<P extends HookPoint>(point: P, hook: Hook<P>, options: { readonly timeoutMs?: number } = {}): this {
    if (!HOOK_POINTS.includes(point)) {
      const message = `"${String(point)}" is no lifecycle point; known: ${HOOK_POINTS.join(", ")}`;
      throw new TracksideError("config_invalid", message);
    }
    if (typeof hook !== "function") {
      throw new TracksideError(
        "config_invalid",
        `A hook on ${point} is a function (ctx) => void; ${typeof hook} given`,
      );
    }
    const { timeoutMs = HOOK_TIMEOUT_MS } = options;
    if (typeof timeoutMs !== "number" || !(timeoutMs > 0)) {
      const message = `The timeout of a hook on ${point} is milliseconds above 0; ${String(timeoutMs)} given`;
      throw new TracksideError("config_invalid", message);
    }
    this.#hooks.set(point, [...(this.#hooks.get(point) ?? []), { hook, timeoutMs }]);
    const manager = railsBehind(hook);
    if (manager) this.#managers.add(manager);
    this.#changes += 1;
    return this;
  }

  /** Goes up with every change, of its own and of the rail managers on it. */
  get version(): number {
    let version = this.#changes;
    for (const manager of this.#managers) version += manager.changes;
    return version;
  }

  /** Removes a hook from a point; says whether it was there. */
  remove<P extends HookPoint>(point: P, hook: Hook<P>): boolean {
    const hooks = this.#hooks.get(point) ?? [];
    const left = hooks.filter((known) => known.hook !== hook);
    if (left.length === hooks.length) return false;
    if (left.length > 0) this.#hooks.set(point, left);
    else this.#hooks.delete(point);
    this.#changes += 1;
    return true;
  }

  /** The hooks on a point, in order. */
  on(point: HookPoint): readonly AnyHook[] {
    return (this.#hooks.get(point) ?? []).map(({ hook }) => hook);
  }

  /** Names that two rails of different managers share, though a run knows its rails by name (R1). */
  get sharedNames(): readonly string[] {
    if (this.#managers.size < 2) return []; // every start of a run asks, and one manager has each name once
    const hooks = [...this.#hooks.values()].flat();
    const rails = new Set(hooks.flatMap(({ hook }) => railsBehind(hook)?.rails ?? []));
    const names = [...rails].map(({ name }) => name);
    return [...new Set(names.filter((name, i) => names.indexOf(name) < i))];
  }

  /** What would run at a point now: hooks, and the rails of managers among them. */
  entries(point: HookPoint): readonly Entry[] {
    const hooks = this.#hooks.get(point);
    if (hooks === undefined) return NOBODY;
    return hooks.flatMap(
      ({ hook, timeoutMs }): Entry[] =>
        railsBehind(hook)
          ?.on(point)
          .map((rail) => ({ rail, hook: undefined })) ?? [{ rail: undefined, hook, timeoutMs }],
    );
  }

  /** Runs a point by hand. Rejects with a `HookError` or a `RailAbortError`. */
  async run<P extends HookPoint>(point: P, data: DispatchData<P>): Promise<void> {
    const {
      action,
      rail,
      reason,
      hookFailure: failed,
    } = await dispatchAlone(this.entries(point), point, data);
    if (failed) {
      throw new HookError(hookFailure(point, failed.hook, failed.problem), undefined, {
        cause: failed.cause,
      });
    }
    if (action === "abort") throw new RailAbortError(abortFailure(rail ?? "", point, reason), undefined);
  }
}
