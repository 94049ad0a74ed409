import type { Reservation } from "trackside";
import type { CounterDesk } from "trackside/engine";
import { rows, type Store } from "../store/store.ts";

/** Counters of a run tree in the store: atomic, and the same key counts once on every machine (R5). */
export class StoredCounters implements CounterDesk {
  readonly #store: Store;
  readonly #root: string;

  constructor(store: Store, rootRunId: string) {
    this.#store = store;
    this.#root = rootRunId;
  }

  async reserve(key: string, counter: string, n: number, max: number): Promise<Reservation> {
    const root_run_id = this.#root;
    return this.#store.write(function* (db) {
      // Locks the tree's row, so that two processes count one after the other.
      yield* rows(db.updateTable("runs").set({ root_run_id }).where("id", "=", root_run_id));
      const all = yield* rows(
        db
          .selectFrom("reservations")
          .selectAll()
          .where("root_run_id", "=", root_run_id)
          .where("counter", "=", counter),
      );
      const made = all.find((one) => one.key === key);
      if (made !== undefined) return { granted: made.granted === 1, used: made.used, max: made.max };
      const before = all.reduce((sum, one) => sum + (one.granted === 1 ? one.n : 0), 0);
      const granted = before + n <= max;
      const used = granted ? before + n : before;
      const row = { root_run_id, key, counter, n, granted: granted ? 1 : 0, used, max };
      yield* rows(db.insertInto("reservations").values(row));
      return { granted, used, max };
    });
  }
}
