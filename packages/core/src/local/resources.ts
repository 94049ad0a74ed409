import type { Effect } from "./effect.ts";
import type { Maybe } from "./maybe.ts";

interface InLine {
  readonly call: string;
  readonly go: () => void;
}

/** Who may use a resource, and until when. */
export interface ResourceDesk {
  /** Waits until it is this call's, or its effect is cancelled. */
  take(tree: string, key: string, call: string, effect: Effect): Maybe<void>;
  /** The call is over: the next one may begin. */
  free(tree: string, key: string, call: string): void;
}

/**
 * Calls with one resource key run one after another, over a whole tree of runs (T5). The loop sees to it within a step; this
 * does for calls of different runs, which know nothing of each other.
 */
export class Resources implements ResourceDesk {
  /** Whoever has it, then those that wait, by tree and key. */
  readonly #lines = new Map<string, InLine[]>();

  /** Waits until it is this call's, or its effect is cancelled. */
  take(tree: string, key: string, call: string, effect: Effect): Maybe<void> {
    const name = nameOf(tree, key);
    const line = this.#lines.get(name);
    if (line === undefined) {
      this.#lines.set(name, [{ call, go: () => {} }]);
      return;
    }
    if (line[0]?.call === call) return;
    return new Promise((resolve) => {
      const waiting = {
        call,
        go: () => {
          effect.offCancel(listener);
          resolve();
        },
      };
      const listener = {
        cancelled: () => {
          line.splice(line.indexOf(waiting), 1);
          resolve();
        },
      };
      line.push(waiting);
      effect.onCancel(listener);
    });
  }

  /** The call is over: the next one may begin. */
  free(tree: string, key: string, call: string): void {
    const name = nameOf(tree, key);
    const line = this.#lines.get(name);
    if (line?.[0]?.call !== call) return;
    line.shift();
    if (line.length === 0) this.#lines.delete(name);
    else line[0]?.go();
  }
}

function nameOf(tree: string, key: string): string {
  return JSON.stringify([tree, key]);
}
