import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { CompiledQuery } from "kysely";
import { describe, expect, test } from "vitest";
import { aRun, journal, refused, wake, wakes } from "../../src/store/conformance/behaviour.ts";
import { rows, type Store, StoreError, type StoreSeams, sqlite } from "../../src/store/index.ts";
import { child } from "./support/child.ts";
import { afterwards, closed, tempDir } from "./support/places.ts";

async function opened(path: string, seams: StoreSeams = {}): Promise<Store> {
  const store = closed(sqlite(path, {}, seams));
  await store.open();
  await store.write((db) =>
    rows(
      db
        .insertInto("runs")
        .values(aRun("r"))
        .onConflict((c) => c.doNothing()),
    ),
  );
  return store;
}

const delivery = (ord: number, size = 10) => ({
  run_id: "r",
  ord,
  seq: ord,
  body: JSON.stringify({ v: 1, text: "x".repeat(size) }),
  fence: 1,
});

/** Appends until the disk is full; answers how many were acknowledged. */
async function fill(store: Store): Promise<number> {
  for (let ord = 1; ; ord += 1) {
    try {
      await store.append(delivery(ord, 20_000));
    } catch (error) {
      expect(error).toBeInstanceOf(StoreError);
      expect(error).toMatchObject({ fault: "full", code: "store_failed", unknown: false });
      expect(String(error)).toMatch(/disk is full.*Free some space/);
      return ord - 1;
    }
  }
}

describe("disk full", () => {
  const limit = (pages: number) => (store: Store) =>
    store.write(function* () {
      yield CompiledQuery.raw(`PRAGMA max_page_count = ${pages}`);
    });

  test("what was acknowledged is there, what was refused is not, and it goes on when there is room", async () => {
    const path = join(tempDir(), "a.db");
    const store = await opened(path);
    await limit(200)(store);
    const acknowledged = await fill(store);
    expect(acknowledged).toBeGreaterThan(3);
    expect(await journal(store, "r")).toHaveLength(acknowledged);
    await limit(100_000)(store);
    expect(await store.append(delivery(acknowledged + 1, 20_000))).toBe(true);
    await store.close();
    expect(await journal(await opened(path), "r")).toHaveLength(acknowledged + 1);
  });

  test("of many in one turn each is there whole or not at all", async () => {
    const store = await opened(join(tempDir(), "a.db"));
    await limit(200)(store);
    const settled = await Promise.allSettled(
      Array.from({ length: 60 }, (_, i) =>
        store.write(function* (db) {
          yield* wake(`${i}`)(db);
          const content = new Uint8Array(20_000);
          const row = { tenant: "t", name: `${i}`, key_id: "k", nonce: content, content, updated_at: 1 };
          yield* rows(db.insertInto("secrets").values(row));
        }),
      ),
    );
    const fine = settled.flatMap(({ status }, i) => (status === "fulfilled" ? [`${i}`] : []));
    expect(fine.length).toBeLessThan(60);
    expect(await wakes(store)).toEqual(fine);
    const secrets = await store.read((db) => rows(db.selectFrom("secrets").select("name")));
    expect(secrets.map(({ name }) => name).sort()).toEqual([...fine].sort());
  });

  test("a real one", async (context) => {
    const dir = join(tempDir(), "small");
    mkdirSync(dir);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", dir], { stdio: "ignore" });
    } catch {
      return context.skip("a small file system cannot be mounted here (it takes root)");
    }
    afterwards(() => execFileSync("umount", ["-l", dir]));
    const path = join(dir, "a.db");
    const store = await opened(path);
    writeFileSync(join(dir, "ballast"), new Uint8Array(500_000));
    const acknowledged = await fill(store);
    expect(await journal(store, "r")).toHaveLength(acknowledged);
    rmSync(join(dir, "ballast"));
    expect(await store.append(delivery(acknowledged + 1))).toBe(true);
    await store.close();
    expect(await journal(await opened(path), "r")).toHaveLength(acknowledged + 1);
  });
});

test("a write that the kernel refuses leaves nothing, and the database whole", async () => {
  const path = join(tempDir(), "a.db");
  const filling = child("fill-file.ts", [path], { fileBlocks: 1_800 });
  const { acknowledged, there, errors } = JSON.parse(await filling.line());
  expect(acknowledged).toBeGreaterThan(3);
  expect(there).toBe(acknowledged);
  expect(errors).toEqual(Array(3).fill(expect.objectContaining({ fault: "io" })));
  // Where the limit meets the first of them, in a write or in its commit, depends on how large the tables are.
  expect(errors.at(-1)).toMatchObject({ unknown: false });
  await filling.ended;
  const store = await opened(path);
  expect(await journal(store, "r")).toHaveLength(acknowledged);
  expect(await store.append(delivery(acknowledged + 1, 20_000))).toBe(true);
});

describe("a disk that fails when it is told to sync", () => {
  const eio = () => new Database.SqliteError("disk I/O error", "SQLITE_IOERR_FSYNC");

  /** The next so many commits fail. */
  function failing() {
    const disk = { failures: 0, tries: 0 };
    const beforeCommit = () => {
      disk.tries += 1;
      if (disk.failures === 0) return;
      disk.failures -= 1;
      throw eio();
    };
    return { disk, seams: { beforeCommit } };
  }

  test("nothing of that transaction is there, everybody in it is told, and the next write works", async () => {
    const { disk, seams } = failing();
    const store = await opened(join(tempDir(), "a.db"), seams);
    await store.write(wake("before"));
    disk.failures = 1;
    const both = [store.append(delivery(1), wake("a")), store.write(wake("b"))];
    for (const each of both) {
      const error = await refused(each, "io", /The disk failed under .*a\.db.*is not there.*Check the disk/);
      expect(error.unknown).toBe(false);
    }
    expect(await wakes(store)).toEqual(["before"]);
    expect(await journal(store, "r")).toEqual([]);
    expect(await store.append(delivery(1), wake("again"))).toBe(true);
    expect(await wakes(store)).toEqual(["before", "again"]);
  });

  test("while it goes on failing the outcome is called unknown, and nothing is written before it opens anew", async () => {
    const { disk, seams } = failing();
    const path = join(tempDir(), "a.db");
    const store = await opened(path, seams);
    disk.failures = 3;
    const first = await refused(store.write(wake("a")), "io", /only known once the database opens again/);
    expect(first.unknown).toBe(true);
    const second = await refused(store.write(wake("b")), "io", /is not there/);
    expect(second.unknown, "it never came to a commit").toBe(false);
    expect(disk.failures).toBe(0);
    await store.write(wake("c"));
    expect(await wakes(store)).toEqual(["c"]);
    await store.close();
    expect(await wakes(await opened(path))).toEqual(["c"]);
  });

  test("an error in the middle of a transaction ends all of it", async () => {
    const store = await opened(join(tempDir(), "a.db"));
    const settled = await Promise.allSettled([
      store.write(wake("a")),
      store.write(function* (db) {
        yield* wake("b")(db);
        throw eio();
      }),
      store.write(wake("c")),
    ]);
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(await wakes(store)).toEqual([]);
    await store.write(wake("d"));
    expect(await wakes(store)).toEqual(["d"]);
  });
});
