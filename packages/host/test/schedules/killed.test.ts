import { expect, test, vi } from "vitest";
import { keyring, type Store, Trackside } from "../../src/index.ts";
import { rows } from "../../src/store/store.ts";
import { sqliteDatabase } from "../agents/support/stores.ts";
import { ANN, clerk, HOUR, hourly, quietHost, wall } from "./support.ts";

vi.setConfig({ testTimeout: 120_000 });

const KEYS = keyring({ current: "k1", keys: { k1: Buffer.alloc(32, 7) } });

/** A store whose process is gone from its n-th write on, before it or right after: nothing of it comes back any more. */
function mortal(store: Store, n: number): { readonly store: Store; readonly dead: Promise<void> } {
  let left = n;
  let die = () => {};
  const dead = new Promise<void>((resolve) => {
    die = resolve;
  });
  const never = new Promise<never>(() => {});
  const isDead = () => {
    left -= 1;
    if (left <= 0) die();
    return left <= 0;
  };
  const proxy = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const call = value.bind(target);
      if (name !== "write" && name !== "append") return call;
      return async (...given: unknown[]) => {
        if (isDead()) return never;
        const done = await call(...given);
        return isDead() ? never : done;
      };
    },
  });
  return { store: proxy, dead };
}

test("whoever starts what is due may be killed at any write: the next one goes on, and each time has one run", async () => {
  let deaths = 0;
  for (let n = 1; n <= 12; n++) {
    const clock = wall();
    const make = sqliteDatabase();
    const first = quietHost(make(), { clock, keyring: KEYS });
    await first.schedules.create(hourly("news", { missed: "all" }), ANN);
    clock.time += 2 * HOUR;
    await first.open();
    const theirs = make();
    const { store, dead } = mortal(theirs, n + 4); // opening writes, too
    const killed = new Trackside({
      store,
      clock,
      keyring: KEYS,
      agents: [clerk()],
      claims: false,
      notice: () => {},
    });
    const ended = await Promise.race([
      dead.then(() => "killed" as const),
      killed.schedules.fireAllDue().then(() => "done" as const),
    ]);
    if (ended === "killed") deaths += 1;
    await first.schedules.fireAllDue();
    await first.schedules.fireAllDue();
    const { firings } = await first.schedules.history("news");
    expect(firings.map(({ state }) => state)).toEqual(["started", "started"]);
    const runs = await first.engine.store.read((db) => rows(db.selectFrom("runs").select("id")));
    expect(runs.map(({ id }) => id).sort()).toEqual(firings.map(({ run_id }) => run_id).sort());
    await theirs.close();
  }
  expect(deaths).toBeGreaterThan(6);
});
