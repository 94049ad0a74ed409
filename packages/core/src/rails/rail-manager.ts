import { abortFailure, RailAbortError, TracksideError } from "../errors.ts";
import type { HookContext } from "../hooks/context.ts";
import type { HookPoint } from "../schema/points.ts";
import { HOOK_POINTS } from "../schema/points.ts";
import { type DispatchData, dispatchAlone } from "./dispatch-alone.ts";
import { isRail, type Rail } from "./rail.ts";
import { RailVerdict } from "./verdicts.ts";

/** The rails behind a hook made by `hookFor`. */
const RAILS = Symbol("trackside.rails");

type RailHook = ((ctx: HookContext) => Promise<void>) & { readonly [RAILS]: RailManager };

/**
 * Rails in priority order: lower first, ties in the order they were added. It is a hook among hooks: an agent with rails
 * has one on its `hookManager`; wire your own with `hookFor`.
 *
 * @example
 * const manager = new RailManager();
 * manager.add(new BlockTool("rm_rf"));
 * for (const point of Object.values(HookPoint)) agent.hookManager.add(point, manager.hookFor(point));
 */
export class RailManager {
  #rails: readonly Rail[] = [];
  #sealed = false;
  #changes = 0;
  readonly #hooks = new Map<HookPoint, RailHook>();

  add(rail: Rail): this {
    this.#mayChange();
    if (!isRail(rail))
      throw new TracksideError("config_invalid", "A rail extends Rail, or is made with defineRail");
    if (this.#rails.some((known) => known.name === rail.name)) {
      throw new TracksideError("config_invalid", `There is a rail "${rail.name}" already; names are unique`);
    }
    lock(rail);
    this.#rails = [...this.#rails, rail].sort((a, b) => a.priority - b.priority); // stable: ties keep their order
    return this;
  }

  /** Removes a rail; says whether it was there. */
  remove(rail: Rail | string): boolean {
    this.#mayChange();
    const left = this.#rails.filter((known) => known !== rail && known.name !== rail);
    const removed = left.length < this.#rails.length;
    this.#rails = left;
    return removed;
  }

  clear(): void {
    this.#mayChange();
    this.#rails = [];
  }

  /** All rails, in the order they run. */
  get rails(): readonly Rail[] {
    return this.#rails;
  }

  /** The rails on a point, in the order they run. */
  on(point: HookPoint): readonly Rail[] {
    return this.#rails.filter((rail) => rail.on.includes(point));
  }

  /**
   * Runs the rails of a point by hand. Resolves to the first verdict other than continue, else to continue; throws a
   * `RailAbortError` on abort. What rails changed is assigned to `data.inputs`.
   */
  async run<P extends HookPoint>(event: P, data: DispatchData<P>): Promise<RailVerdict> {
    const entries = this.on(event).map((rail) => ({ rail, hook: undefined }));
    const outcome = await dispatchAlone(entries, event, data);
    const { action, rail, reason, retry, replacement, asks } = outcome;
    if (action === "abort") throw new RailAbortError(abortFailure(rail ?? "", event, reason), undefined);
    if (action === "continue" && asks[0])
      return new RailVerdict("ask", asks.map((one) => one.reason).join("; "));
    return new RailVerdict(action, reason, { replacement, ...(retry ? { retry } : {}) });
  }

  /** This manager as a hook on a point. The same one each time, so that it can be removed. */
  hookFor(point: HookPoint): RailHook {
    if (!HOOK_POINTS.includes(point)) {
      throw new TracksideError(
        "config_invalid",
        `"${String(point)}" is no lifecycle point; known: ${HOOK_POINTS.join(", ")}`,
      );
    }
    let hook = this.#hooks.get(point);
    if (hook === undefined) {
      const run = async (ctx: HookContext): Promise<void> => {
        await this.run(point, ctx as never); // called by hand, outside a dispatcher: the context is of this point
      };
      hook = Object.assign(run, { [RAILS]: this });
      this.#hooks.set(point, hook);
    }
    return hook;
  }

  /** No more changes: what an agent holds is data. */
  seal(): this {
    this.#sealed = true;
    return this;
  }

  /** Goes up with every change. */
  get changes(): number {
    return this.#changes;
  }

  #mayChange(): void {
    this.#changes += 1;
    if (!this.#sealed) return;
    const message =
      "The rails of an agent are fixed when it is made. Make another agent, or wire a RailManager of your own.";
    throw new TracksideError("config_invalid", message);
  }
}

/** The manager behind a hook, if it is one. */
export function railsBehind(hook: object): RailManager | undefined {
  return RAILS in hook ? (hook as RailHook)[RAILS] : undefined;
}

const LOCKED = ["name", "priority", "on", "mode", "onError", "timeoutMs", "asks", "handle"] as const;

/** A rail in use stays as it is: a guard cannot be put in shadow later. Other fields of a subclass stay its own. */
function lock(rail: Rail): void {
  if (Object.isFrozen(rail)) return;
  for (const key of LOCKED)
    Object.defineProperty(rail, key, { value: rail[key], writable: false, configurable: false });
}
