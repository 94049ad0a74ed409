import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Lease, Watch } from "../../src/journal/lease.ts";
import { rows, sqlite } from "../../src/store/index.ts";
import { databaseFile } from "./support/database.ts";

const file = databaseFile;

test("X4 a main thread that is busy for several leases keeps its own: another thread renews it", async () => {
  const store = sqlite(file());
  await store.open();
  let lost = false;
  const lease = new Lease(store, () => (lost = true), 600);
  await lease.take();
  await sleep(600); // the thread has started
  const watch = new Watch(600);
  const look = () =>
    store.read(function* (db) {
      const [row] = yield* rows(db.selectFrom("processes").selectAll());
      return row;
    });
  const before = await look();
  const end = performance.now() + 2_000;
  while (performance.now() < end);
  expect(lease.valid).toBe(true);
  expect((await look())?.expires_at).not.toBe(before?.expires_at);
  expect(lost).toBe(false);
  expect(before && watch.lapsed({ ...before })).toBe(false);
  await lease.release();
  await store.close();
});
