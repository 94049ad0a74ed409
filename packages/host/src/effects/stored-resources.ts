import { type Claim, conflicts, type Effect, type ResourceDesk } from "trackside/engine";
import { changed, type Operation, rows, type Store, type Work } from "../store/store.ts";

/** A holder renews its row within this time; a row that lapsed belongs to a process that died. */
const HELD_MS = 15_000;
const LOOK_MS = 100;
/** The row of a tree that every `take` updates, so that PostgreSQL runs them one after another. */
const GUARD = "@";

interface Wanted extends Claim {
  readonly tree: string;
  readonly call: string;
}

/** Decides in the store which calls of a tree may run at the same time (T5), because its runs are on many machines. */
export class StoredResources implements ResourceDesk {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #renewing = new Map<string, NodeJS.Timeout>();

  constructor(store: Store, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  async take(tree: string, call: string, claim: Claim, effect: Effect): Promise<void> {
    const wanted = { tree, call, ...claim };
    while (effect.cancelled === undefined) {
      if (await this.#store.write(takeOnce(wanted, this.#now()))) {
        this.#hold(wanted);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  free(tree: string, call: string): void {
    const name = nameOf(tree, call);
    clearInterval(this.#renewing.get(name));
    if (!this.#renewing.delete(name)) return;
    this.#store
      .write(function* (db) {
        yield* rows(db.deleteFrom("resources").where("tree", "=", tree).where("call", "=", call));
      })
      .catch(() => {}); // it lapses by itself
  }

  #hold(wanted: Wanted): void {
    const name = nameOf(wanted.tree, wanted.call);
    clearInterval(this.#renewing.get(name));
    const timer = setInterval(() => {
      this.#store.write(takeOnce(wanted, this.#now())).catch(() => {}); // the next time is soon
    }, HELD_MS / 3);
    timer.unref();
    this.#renewing.set(name, timer);
  }
}

const nameOf = (tree: string, call: string) => JSON.stringify([tree, call]);

/** Takes it unless a call whose row has not lapsed conflicts. */
function takeOnce({ tree, call, ...claim }: Wanted, at: number): Work<boolean> {
  return function* (db): Operation<boolean> {
    const expires_at = at + HELD_MS;
    yield* changed(
      db
        .insertInto("resources")
        .values({ tree, key: GUARD, call: "", expires_at })
        .onConflict((conflict) => conflict.columns(["tree", "key"]).doUpdateSet({ expires_at })),
    );
    const held = yield* rows(
      db
        .selectFrom("resources")
        .select(["key"])
        .where("tree", "=", tree)
        .where("call", "not in", ["", call])
        .where("expires_at", ">=", at),
    );
    if (held.some(({ key }) => conflicts(claimOf(key), claim))) return false;
    const key = JSON.stringify([claim.exclusive, claim.key ?? null, call]);
    yield* changed(
      db
        .insertInto("resources")
        .values({ tree, key, call, expires_at })
        .onConflict((conflict) => conflict.columns(["tree", "key"]).doUpdateSet({ expires_at })),
    );
    return true;
  };
}

function claimOf(stored: string): Claim {
  const [exclusive, key]: [boolean, string | null] = JSON.parse(stored); // as written above
  return { exclusive, key: key ?? undefined };
}
