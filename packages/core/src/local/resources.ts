import type { Effect } from "./effect.ts";
import type { Maybe } from "./maybe.ts";

/** What a running call does not share: everything (`exclusive`), one resource, or nothing but with an exclusive call. */
export interface Claim {
  readonly exclusive: boolean;
  readonly key: string | undefined;
}

/** Decides which calls of one tree of runs may run at the same time (T5). */
export interface ResourceDesk {
  /** Waits until no running call of the tree conflicts with this one, or its effect is cancelled. Once per call. */
  take(tree: string, call: string, claim: Claim, effect: Effect): Maybe<void>;
  /** The call has ended: calls that waited for it may run. Does nothing for a call that took nothing. */
  free(tree: string, call: string): void;
}

interface Entry extends Claim {
  readonly call: string;
  /** Set while it waits. */
  go?: (() => void) | undefined;
}

export function conflicts(a: Claim, b: Claim): boolean {
  return a.exclusive || b.exclusive || (a.key !== undefined && a.key === b.key);
}

/** The desk of one process. First come, first served: a call also waits for earlier ones that wait. */
export class Resources implements ResourceDesk {
  /** Running and waiting calls by tree, in the order they came. */
  readonly #trees = new Map<string, Entry[]>();

  take(tree: string, call: string, { exclusive, key }: Claim, effect: Effect): Maybe<void> {
    const entries = this.#trees.get(tree) ?? [];
    if (entries.some((entry) => entry.call === call)) return; // a later round of a call that still runs
    const entry: Entry = { call, exclusive, key };
    this.#trees.set(tree, entries);
    const isFree = !entries.some((earlier) => conflicts(earlier, entry));
    entries.push(entry);
    if (isFree) return;
    return new Promise((resolve) => {
      entry.go = () => {
        entry.go = undefined;
        effect.offCancel(listener);
        resolve();
      };
      const listener = {
        cancelled: () => {
          this.free(tree, call);
          resolve();
        },
      };
      effect.onCancel(listener);
    });
  }

  free(tree: string, call: string): void {
    const entries = this.#trees.get(tree);
    const at = entries?.findIndex((entry) => entry.call === call) ?? -1;
    if (entries === undefined || at < 0) return;
    entries.splice(at, 1);
    if (entries.length === 0) this.#trees.delete(tree);
    for (const [i, entry] of entries.entries())
      if (!entries.slice(0, i).some((earlier) => conflicts(earlier, entry))) entry.go?.();
  }
}
