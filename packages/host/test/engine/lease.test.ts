import { expect, test } from "vitest";
import { Lease, Watch } from "../../src/journal/lease.ts";
import { rows, sqlite } from "../../src/store/index.ts";
import { databaseFile } from "./support/database.ts";
import { until } from "./support/until.ts";

const file = databaseFile;
/** Long enough for a disk on which others write, too. */
const LEASE_MS = 2_000;

test("X4 a main thread that is busy for several leases keeps its own: another thread renews it", async () => {
  const store = sqlite(file());
  await store.open();
  let lost = false;
  const lease = new Lease(store, () => (lost = true), LEASE_MS);
  await lease.take();
  const watch = new Watch(LEASE_MS);
  const look = () =>
    store.read(function* (db) {
      const [row] = yield* rows(db.selectFrom("processes").selectAll());
      return row;
    });
  const taken = await look();
  const before = await until(async () => {
    const now = await look();
    return now?.expires_at === taken?.expires_at ? undefined : now; // the thread is at work
  });
  const end = performance.now() + 2.5 * LEASE_MS;
  while (performance.now() < end);
  expect(lease.valid).toBe(true);
  expect((await look())?.expires_at).not.toBe(before.expires_at);
  expect(lost).toBe(false);
  expect(watch.lapsed({ ...before })).toBe(false);
  await lease.release();
  await store.close();
});
