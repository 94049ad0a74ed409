import type { Effect, ResourceDesk } from "trackside/engine";
import { changed, type Operation, rows, type Store, type Work } from "../store/store.ts";

/** Whoever has a resource says so again within this time; when it is over, its process is gone and the next one goes on. */
const HELD_MS = 15_000;
const LOOK_MS = 100;

interface Wanted {
  readonly tree: string;
  readonly key: string;
  readonly call: string;
}

/** Calls with one resource key run one after another over a whole tree of runs (T5), also where it is on many machines. */
export class StoredResources implements ResourceDesk {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #renewing = new Map<string, NodeJS.Timeout>();

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async take(tree: string, key: string, call: string, effect: Effect): Promise<void> {
    const wanted = { tree, key, call };
    while (effect.cancelled === undefined) {
      if (await this.#store.write(takeOnce(wanted, this.#now()))) {
        this.#hold(wanted);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  free(tree: string, key: string, call: string): void {
    const name = nameOf({ tree, key, call });
    clearInterval(this.#renewing.get(name));
    if (!this.#renewing.delete(name)) return;
    this.#store
      .write(function* (db) {
        yield* rows(
          db.deleteFrom("resources").where("tree", "=", tree).where("key", "=", key).where("call", "=", call),
        );
      })
      .catch(() => {}); // it lapses by itself
  }

  #hold(wanted: Wanted): void {
    const name = nameOf(wanted);
    clearInterval(this.#renewing.get(name));
    const timer = setInterval(() => {
      this.#store.write(takeOnce(wanted, this.#now())).catch(() => {}); // the next time is soon
    }, HELD_MS / 3);
    timer.unref();
    this.#renewing.set(name, timer);
  }
}

function nameOf({ tree, key, call }: Wanted): string {
  return JSON.stringify([tree, key, call]);
}

/** Takes it if it is free, has lapsed, or is this call's already. */
function takeOnce({ tree, key, call }: Wanted, at: number): Work<boolean> {
  return function* (db): Operation<boolean> {
    const expires_at = at + HELD_MS;
    const insert = db
      .insertInto("resources")
      .values({ tree, key, call, expires_at })
      .onConflict((conflict) => conflict.columns(["tree", "key"]).doNothing());
    if ((yield* changed(insert)) > 0) return true;
    const update = db
      .updateTable("resources")
      .set({ call, expires_at })
      .where("tree", "=", tree)
      .where("key", "=", key)
      .where((where) => where.or([where("call", "=", call), where("expires_at", "<", at)]));
    return (yield* changed(update)) > 0;
  };
}
