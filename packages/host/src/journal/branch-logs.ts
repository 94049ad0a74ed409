import { Log } from "trackside/engine";
import { branchMessages } from "../conversations/branch-log.ts";
import type { Store } from "../store/store.ts";
import type { Codec } from "./codec.ts";

const KEPT = 100;

/** Logs of branches as runs need them. Those of the last few conversations stay in memory: the next turn often follows soon. */
export class BranchLogs {
  readonly #store: Store;
  readonly #codec: Codec;
  readonly #kept = new Map<string, Log>();

  constructor(store: Store, codec: Codec) {
    this.#store = store;
    this.#codec = codec;
  }

  /** A branch's log up to a position, for one run to go on with; without what a run put there that is taken up. */
  async take(branchId: string, length: number, exceptRun?: string): Promise<Log> {
    if (length === 0 && exceptRun === undefined) return new Log([]);
    const kept = this.#kept.get(branchId);
    if (kept?.messages.length === length) {
      this.#kept.delete(branchId);
      return kept;
    }
    const messages = await this.#store.read((db) => branchMessages(db, branchId, this.#codec, exceptRun));
    return new Log(messages.slice(0, length));
  }

  keep(branchId: string, log: Log): void {
    this.#kept.delete(branchId);
    this.#kept.set(branchId, log);
    if (this.#kept.size <= KEPT) return;
    const [oldest] = this.#kept.keys();
    if (oldest !== undefined) this.#kept.delete(oldest);
  }

  drop(branchId: string): void {
    this.#kept.delete(branchId);
  }

  clear(): void {
    this.#kept.clear();
  }
}
