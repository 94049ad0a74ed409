import Database from "better-sqlite3";
import { expect, test } from "vitest";
import { Lease, Watch } from "../../src/journal/lease.ts";
import { rows, sqlite } from "../../src/store/index.ts";
import { databaseFile } from "./support/database.ts";
import { until } from "./support/until.ts";

const LEASE_MS = 3_000;

test("X4 a main thread that is busy for several leases keeps its own: another thread renews it", async () => {
  const path = databaseFile();
  const store = sqlite(path);
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
  blockUntilRenewed(path, before.expires_at + 1.5 * LEASE_MS);
  expect(lease.valid).toBe(true);
  expect((await look())?.expires_at).toBeGreaterThanOrEqual(before.expires_at + 1.5 * LEASE_MS);
  expect(lost).toBe(false);
  expect(watch.lapsed({ ...before })).toBe(false);
  await lease.release();
  await store.close();
});

/** Blocks this thread, promises and timers included, until another one has renewed the lease up to then. */
function blockUntilRenewed(path: string, expiresAt: number): void {
  const database = new Database(path, { readonly: true });
  const expiry = database.prepare("SELECT max(expires_at) FROM processes").pluck();
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const end = Date.now() + 50_000; // a blocked thread has no test timeout
  while (Number(expiry.get()) < expiresAt && Date.now() < end) Atomics.wait(pause, 0, 0, 50);
  database.close();
}
