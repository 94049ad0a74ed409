import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { aRun, journal, refused, wake, wakes } from "../../src/store/conformance/behaviour.ts";
import { storeConformance } from "../../src/store/conformance/index.ts";
import { rows, type Store, sqlite } from "../../src/store/index.ts";
import { pidHolding } from "../../src/store/lock-holder.ts";
import { child } from "./support/child.ts";
import { closed, tempDir } from "./support/places.ts";

describe("a store in SQLite", () => {
  for (const { title, check } of storeConformance)
    test(title, async () => {
      const path = join(tempDir(), "trackside.db");
      await check({ store: () => closed(sqlite(path)) });
    });
});

async function opened(
  path: string,
  ...more: [Parameters<typeof sqlite>[1]?, Parameters<typeof sqlite>[2]?]
): Promise<Store> {
  const store = closed(sqlite(path, ...more));
  await store.open();
  return store;
}

describe("group commit", () => {
  test("a thousand appends of one turn are one transaction, and the next turn's another", async () => {
    let commits = 0;
    const store = await opened(join(tempDir(), "a.db"), {}, { afterCommit: () => (commits += 1) });
    const ids = Array.from({ length: 1_000 }, (_, i) => `r${i}`);
    await store.write(function* (db) {
      for (const id of ids) yield* rows(db.insertInto("runs").values(aRun(id)));
    });
    commits = 0;
    for (const ord of [1, 2]) {
      const entries = ids.map((run_id) => ({ run_id, ord, seq: ord, body: '{"v":1}', fence: 1 }));
      const landed = await Promise.all(entries.map((entry) => store.append(entry)));
      expect(new Set(landed)).toEqual(new Set([true]));
      expect(commits).toBe(ord);
    }
  });

  test("appends and writes of one turn share a transaction", async () => {
    let commits = 0;
    const store = await opened(join(tempDir(), "a.db"), {}, { afterCommit: () => (commits += 1) });
    await store.write((db) => rows(db.insertInto("runs").values(aRun("r"))));
    commits = 0;
    const entry = { run_id: "r", ord: 1, seq: 1, body: '{"v":1}', fence: 1 };
    await Promise.all([store.write(wake("a")), store.append(entry, wake("b")), store.write(wake("c"))]);
    expect(commits).toBe(1);
    expect(await wakes(store)).toEqual(["a", "b", "c"]);
  });

  test("a turn with very many writes leaves the event loop its turns", async () => {
    let commits = 0;
    const store = await opened(join(tempDir(), "a.db"), {}, { afterCommit: () => (commits += 1) });
    commits = 0;
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => store.write(wake(`${i}`))));
    expect(commits).toBeGreaterThan(3);
    expect(await wakes(store)).toHaveLength(1_000);
  });

  test("closing writes what was asked for before", async () => {
    const path = join(tempDir(), "a.db");
    const store = await opened(path);
    const last = store.write(wake("last"));
    await store.close();
    await last;
    expect(await wakes(await opened(path))).toEqual(["last"]);
  });
});

describe("several processes", () => {
  test("all write to one database, and nothing is lost", async () => {
    const path = join(tempDir(), "shared.db");
    const children = ["a", "b", "c"].map((name) => child("busy-writer.ts", ["sqlite", path, name, "60"]));
    for (const each of children) expect(await each.line()).toBe("done");
    const store = await opened(path);
    for (const name of ["a", "b", "c"]) expect(await journal(store, name)).toHaveLength(60);
    expect(await wakes(store)).toHaveLength(180);
  });

  test("one that is killed has written what it acknowledged, and nothing by half", async () => {
    const path = join(tempDir(), "killed.db");
    const acknowledged: string[] = [];
    for (const name of ["x", "y", "z"]) {
      const writer = child("endless-writer.ts", [path, name]);
      for (let lines = 0; lines < 40; lines += 1) acknowledged.push(await writer.line());
      writer.signal("SIGKILL");
      await writer.ended;
    }
    const store = await opened(path);
    const found = await store.read((db) =>
      rows(db.selectFrom("wakes").select(["run_id", "what"]).orderBy("n")),
    );
    const first = found.filter(({ what }) => what === "first").map(({ run_id }) => run_id);
    const second = found.filter(({ what }) => what === "second").map(({ run_id }) => run_id);
    expect(second).toEqual(first);
    expect(new Set(first).size).toBe(first.length);
    expect(first).toEqual(expect.arrayContaining(acknowledged));
  });

  test.skipIf(!existsSync("/proc/locks"))(
    "X4 one that is stopped inside a transaction is named, and the others wait with a free event loop",
    async () => {
      const path = join(tempDir(), "held.db");
      let tell: (notice: string) => void = () => undefined;
      const noticed = new Promise<string>((resolve) => {
        tell = resolve;
      });
      const notices: string[] = [];
      const onNotice = (notice: string) => {
        notices.push(notice);
        tell(notice);
      };
      const store = await opened(path, { onNotice });
      const keeper = child("lock-keeper.ts", [path]);
      expect(await keeper.line()).toBe("locked");
      keeper.signal("SIGSTOP");

      let turns = 0;
      const turning = setInterval(() => {
        turns += 1;
      }, 1);
      let written = false;
      const waiting = [store.write(wake("mine")).then(() => (written = true)), store.write(wake("too"))];
      expect(await noticed).toMatch(
        new RegExp(`^pid ${keeper.pid} \\(.*stopped\\) has held the write lock of .*held\\.db.*kill -CONT`),
      );
      clearInterval(turning);
      expect(written).toBe(false);
      expect(turns).toBeGreaterThan(20);
      expect(await wakes(store), "readers do not wait").toEqual([]);
      const other = await opened(path, { onNotice });
      expect(await wakes(other), "nor does whoever opens it").toEqual([]);

      keeper.signal("SIGCONT");
      keeper.say("go on");
      await Promise.all(waiting);
      expect(await wakes(store)).toEqual(["keeper", "mine", "too"]);
      expect(notices).toHaveLength(1);
    },
  );

  test("a store that is closed while another process holds the lock says what was not written", async () => {
    const path = join(tempDir(), "held.db");
    const store = sqlite(path, { onNotice: () => undefined });
    await store.open();
    const keeper = child("lock-keeper.ts", [path]);
    await keeper.line();
    const lost = refused(store.write(wake("late")), "closed", /write lock.*not written/);
    await store.close();
    await lost;
    keeper.say("go on");
    expect(await keeper.ended).toBe(0);
    expect(await wakes(await opened(path))).toEqual(["keeper"]);
  });

  test("the holder is read from the kernel's list of locks", () => {
    const locks = [
      "1: POSIX  ADVISORY  READ 11 08:01:77 120 120",
      "2: POSIX  ADVISORY  WRITE 12 08:01:77 121 127",
      "3: POSIX  ADVISORY  WRITE 13 08:01:78 120 120",
      "4: -> POSIX  ADVISORY  WRITE 14 08:01:77 120 120",
      "5: FLOCK  ADVISORY  WRITE 15 08:01:77 0 EOF",
      "6: POSIX  ADVISORY  WRITE 16 08:01:77 120 120",
    ].join("\n");
    expect(pidHolding(locks, 77)).toBe(16);
    expect(pidHolding(locks, 79)).toBeUndefined();
  });
});

describe("what cannot be opened says why", () => {
  test("a directory", async () => {
    await refused(closed(sqlite(tempDir())).open(), "unavailable", /is a directory.*trackside\.db/);
  });

  test("a directory that is not there", async () => {
    const path = join(tempDir(), "no", "such", "a.db");
    await refused(closed(sqlite(path)).open(), "unavailable", /does not exist.*mkdir -p/);
  });

  test("a file that is no database", async () => {
    const path = join(tempDir(), "notes.txt");
    writeFileSync(path, "Dear diary, this is surely longer than a header of SQLite. ".repeat(20));
    await refused(closed(sqlite(path)).open(), "unusable", /notes\.txt is no SQLite database.*another path/);
    expect(readFileSync(path, "utf8")).toMatch(/^Dear diary/);
  });

  test("a database of another program", async () => {
    const path = join(tempDir(), "shop.db");
    const db = new Database(path);
    db.exec("CREATE TABLE runs (shoe TEXT)");
    db.close();
    await refused(closed(sqlite(path)).open(), "unusable", /shop\.db is another program's.*of its own/);
  });

  test("no path at all", () => {
    expect(() => sqlite("")).toThrow(/no path/);
  });

  test("a file that this user may not write", async () => {
    const path = join(tempDir(), "locked", "a.db");
    mkdirSync(join(path, ".."));
    await (await opened(path)).close();
    chmodSync(path, 0o444);
    chmodSync(join(path, "..", ".."), 0o755);
    // Root may write everywhere: another user has to try.
    const other = child("open-only.ts", [path], process.getuid?.() === 0 ? { uid: 65534 } : {});
    expect(await other.line()).toMatch(/^unavailable .*cannot be written by this user.*rights/);
  });

  test("and it opens once the reason is gone", async () => {
    const dir = join(tempDir(), "later");
    const store = closed(sqlite(join(dir, "a.db")));
    await refused(store.open(), "unavailable", /does not exist/);
    mkdirSync(dir);
    await store.open();
    await store.write(wake("now"));
    expect(await wakes(store)).toEqual(["now"]);
  });
});

test("a database in memory works as long as its store is open", async () => {
  const store = await opened(":memory:");
  await Promise.all([store.write(wake("a")), store.write(wake("b"))]);
  expect(await wakes(store)).toEqual(["a", "b"]);
});
