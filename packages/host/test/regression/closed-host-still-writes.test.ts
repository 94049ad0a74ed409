import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { startPulse } from "../../src/pulse.ts";
import { sqlite } from "../../src/store/sqlite.ts";

// The thread that renews the lease outlived `close()`: it wrote -wal and -shm files into a folder that its owner removed.
test("X4 the thread that renews a lease has closed the database once it is stopped", async () => {
  const dir = temporaryFolder("pulse");
  const store = sqlite(join(dir, "db"));
  await store.open();
  const { reach } = store;
  if (reach === undefined) throw new Error("a store in a file can be reached by a thread");
  const pulse = startPulse({ reach, processId: "p", leaseMs: 60_000 }, () => {});
  await expect.poll(() => pulse.isLost, { timeout: 50_000 }).toBe(true); // it has asked: no such process
  await store.close();
  await pulse.stop();
  expect(readdirSync(dir)).toEqual(["db"]);
});
