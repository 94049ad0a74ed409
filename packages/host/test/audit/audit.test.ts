import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { appendAudit, auditDigest, listAudit, verifyAudit } from "../../src/audit/index.ts";
import { Secrets } from "../../src/secrets/index.ts";
import { changed, rows, type Store, type Work } from "../../src/store/store.ts";
import type { AuditTable } from "../../src/store/tables.ts";
import { memoryStore, testCipher } from "../secrets/support.ts";
import { chain, entry, rehash, rotation } from "./support.ts";

describe("X12 the audit", () => {
  test("tells who decided what, oldest first, with digests in place of content", async () => {
    const store = await memoryStore();
    const box = testCipher();
    await store.write(
      appendAudit(box, {
        tenant: "a",
        at: 5,
        action: "approval.decided",
        by: "ann",
        about: { approval: "ap_1", tool: "send" },
        before: { state: "pending", text: "very private" },
        after: { state: "approved", text: "very private" },
      }),
    );
    await chain(store, box, "a", 3);
    const all = await listAudit(store, "a");
    expect(all.map(({ n, action }) => [n, action])).toEqual([
      [1, "approval.decided"],
      [2, "test.1"],
      [3, "test.2"],
      [4, "test.3"],
    ]);
    expect(all[0]).toMatchObject({ by: "ann", about: { approval: "ap_1", tool: "send" } });
    expect(JSON.stringify(all)).not.toContain("private");
    expect(all[0]?.before).not.toBe(all[0]?.after);
    expect(all[0]?.after).toBe(
      await store.read(auditDigest(box, "a", { text: "very private", state: "approved" })),
    );
    expect((await verifyAudit(store, box, "a")).ok).toBe(true);
  });

  test("is listed in pages and by action", async () => {
    const store = await memoryStore();
    await chain(store, testCipher(), "a", 5);
    const numbers = async (options: Parameters<typeof listAudit>[2]) =>
      (await listAudit(store, "a", options)).map(({ n }) => n);
    expect(await numbers({ limit: 2 })).toEqual([1, 2]);
    expect(await numbers({ after: 2, limit: 2 })).toEqual([3, 4]);
    expect(await numbers({ action: "test.3" })).toEqual([3]);
    expect(await numbers({ action: "test." })).toEqual([1, 2, 3, 4, 5]);
    expect(await numbers({ action: "test" })).toEqual([]);
    expect(await listAudit(store, "b")).toEqual([]);
  });

  test("is one chain for each tenant, with a key of its own", async () => {
    const store = await memoryStore();
    const box = testCipher();
    await chain(store, box, "a", 2);
    await chain(store, box, "b", 2);
    const [a] = await listAudit(store, "a");
    const [b] = await listAudit(store, "b");
    expect(a?.n).toBe(1);
    expect(b?.n).toBe(1);
    expect(a?.after).not.toBe(b?.after);
    for (const tenant of ["a", "b", "nobody"]) expect((await verifyAudit(store, box, tenant)).ok).toBe(true);
  });

  test("has no row of what did not happen", async () => {
    const store = await memoryStore();
    const box = testCipher();
    await chain(store, box, "a", 1);
    const failing: Work<void> = function* (db) {
      yield* appendAudit(box, entry("a", 2))(db);
      throw new Error("the decision was refused");
    };
    await expect(store.write(failing)).rejects.toThrow("refused");
    await chain(store, box, "a", 1);
    expect(await verifyAudit(store, box, "a")).toMatchObject({ ok: true, rows: 2 });
  });

  test("does not fork when many write at once", async () => {
    const store = await memoryStore();
    const box = testCipher();
    await Promise.all(Array.from({ length: 200 }, (_, i) => store.write(appendAudit(box, entry("a", i)))));
    expect(await verifyAudit(store, box, "a")).toMatchObject({ ok: true, rows: 200, end: { n: 200 } });
  });

  test("still verifies after the key of the host was rotated", async () => {
    const store = await memoryStore();
    const { oldBox, newBox, onlyNew } = rotation();
    await chain(store, oldBox, "a", 3);
    const before = (await listAudit(store, "a")).at(-1)?.after;
    await new Secrets(store, newBox).rotate();
    await chain(store, onlyNew, "a", 1);
    expect(await verifyAudit(store, onlyNew, "a")).toMatchObject({ ok: true, rows: 4 });
    expect(await store.read(auditDigest(onlyNew, "a", { i: 3 }))).toBe(before);
  });

  test("a text given as an id is kept as its digest", async () => {
    const store = await memoryStore();
    const by = `someone ${"x".repeat(300)}`;
    await store.write(appendAudit(testCipher(), { ...entry("a", 1), by, about: { note: by } }));
    const [row] = await listAudit(store, "a");
    expect(row?.by).toMatch(/^hmac-sha256:[0-9a-f]{64} \(308 characters\)$/);
    expect(row?.about["note"]).toBe(row?.by);
  });
});

describe("X12 verifying finds and locates", () => {
  const ROWS = 6;

  async function damaged(damage: Work<unknown>) {
    const store = await memoryStore();
    const box = testCipher();
    await chain(store, box, "a", ROWS);
    await store.write(damage);
    return verifyAudit(store, box, "a");
  }

  const set = (n: number, columns: Partial<AuditTable>): Work<unknown> =>
    function* (db) {
      yield* changed(db.updateTable("audit").set(columns).where("tenant", "=", "a").where("n", "=", n));
    };

  test("any edit of any column of any row", async () => {
    const edit = fc.oneof(
      fc.record({ column: fc.constantFrom("at", "n"), value: fc.integer({ min: -50, max: 2 ** 40 }) }),
      fc.record({
        column: fc.constantFrom("action", "body", "previous", "hash", "tenant"),
        value: fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !text.includes("\0")),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: ROWS }), edit, async (n, { column, value }) => {
        fc.pre(!(column === "n" && typeof value === "number" && value >= 1 && value <= ROWS));
        const report = await damaged(set(n, { [column]: value }));
        expect(report.ok).toBe(false);
        expect(report.problems.map((problem) => problem.n)).toContain(n);
        if (column !== "n" && column !== "tenant") {
          expect(report.problems).toMatchObject([{ n, kind: "edited" }]);
        }
      }),
      { numRuns: 60 },
    );
  });

  test("any single letter of any text column", async () => {
    const store = await memoryStore();
    const box = testCipher();
    await chain(store, box, "a", 3);
    const all = await allRows(store);
    for (const row of all) {
      for (const column of ["action", "body", "previous", "hash"] as const) {
        for (let at = 0; at < row[column].length; at += 7) {
          const other = row[column][at] === "0" ? "1" : "0";
          await store.write(
            set(row.n, { [column]: row[column].slice(0, at) + other + row[column].slice(at + 1) }),
          );
          const { problems } = await verifyAudit(store, box, "a");
          expect(problems).toMatchObject([{ n: row.n, kind: "edited" }]);
          await store.write(set(row.n, { [column]: row[column] }));
        }
      }
    }
    expect((await verifyAudit(store, box, "a")).ok).toBe(true);
  });

  test("a row that was rewritten with its hash, also the last one", async () => {
    for (let n = 1; n <= ROWS; n++) {
      const report = await damaged(rehash("a", n, { action: "nothing.happened" }));
      expect(report.problems).toMatchObject([{ n, kind: "edited" }]);
    }
  });

  test("a chain that was written anew from a row on, hashes and all", async () => {
    const report = await damaged(function* (db) {
      for (let n = 3; n <= ROWS; n++) yield* rehash("a", n, n === 3 ? { at: 1 } : {})(db);
    });
    expect(report.problems).toMatchObject([{ n: ROWS, kind: "edited" }]);
    expect(report.problems[0]?.message).toMatch(/written anew/);
  });

  test("deleted rows, one or several", async () => {
    const remove = (...numbers: number[]): Work<unknown> =>
      function* (db) {
        yield* changed(db.deleteFrom("audit").where("tenant", "=", "a").where("n", "in", numbers));
      };
    expect((await damaged(remove(1))).problems).toMatchObject([{ n: 1, kind: "deleted" }]);
    expect((await damaged(remove(3))).problems).toMatchObject([{ n: 3, kind: "deleted" }]);
    expect((await damaged(remove(2, 3, 4))).problems).toMatchObject([{ n: 2, to: 4, kind: "deleted" }]);
    expect((await damaged(remove(6))).problems).toMatchObject([{ n: 6, kind: "truncated" }]);
    expect((await damaged(remove(4, 5, 6))).problems).toMatchObject([{ n: 4, to: 6, kind: "truncated" }]);
    const everything = await damaged(remove(1, 2, 3, 4, 5, 6));
    expect(everything.problems).toMatchObject([{ n: 1, to: 6, kind: "truncated" }]);
  });

  test("rows that changed places", async () => {
    const report = await damaged(function* (db) {
      yield* set(2, { n: 100 })(db);
      yield* set(5, { n: 2 })(db);
      yield* set(100, { n: 5 })(db);
    });
    expect(report.problems).toMatchObject([
      { n: 2, kind: "reordered", message: "row 2 was moved here: it was written as row 5" },
      { n: 5, kind: "reordered", message: "row 5 was moved here: it was written as row 2" },
    ]);
  });

  test("rows that were put in between, before the first or after the last", async () => {
    const insert = (n: number): Work<unknown> =>
      function* (db) {
        const [like] = yield* rows(
          db.selectFrom("audit").selectAll().where("tenant", "=", "a").where("n", "=", 1),
        );
        if (like) yield* changed(db.insertInto("audit").values({ ...like, n }));
        yield* rehash("a", n, { action: "invented" })(db);
      };
    const between = await damaged(function* (db) {
      for (let n = ROWS; n >= 3; n--) yield* set(n, { n: n + 1 })(db);
      yield* insert(3)(db);
    });
    expect(between.problems.map(({ n, kind }) => [n, kind])).toEqual([
      [3, "inserted"],
      [4, "reordered"],
      [5, "reordered"],
      [6, "reordered"],
      [7, "reordered"],
      [7, "inserted"], // there is one row more than the signed end knows of
    ]);
    expect((await damaged(insert(0))).problems).toMatchObject([{ n: 0, kind: "inserted" }]);
    expect((await damaged(insert(-7))).problems).toMatchObject([{ n: -7, kind: "inserted" }]);
    expect((await damaged(insert(ROWS + 1))).problems).toMatchObject([{ n: ROWS + 1, kind: "inserted" }]);
  });

  test("a head that was removed, and says so for ever once the chain went on", async () => {
    const store = await memoryStore();
    const box = testCipher();
    await chain(store, box, "a", ROWS);
    await store.write(function* (db) {
      yield* changed(db.deleteFrom("secrets").where("tenant", "=", "a"));
      yield* changed(db.deleteFrom("audit").where("n", ">", 4));
    });
    expect((await verifyAudit(store, box, "a")).problems).toMatchObject([{ n: 4, kind: "head" }]);
    await chain(store, box, "a", 1);
    const report = await verifyAudit(store, box, "a");
    expect(report).toMatchObject({ rows: 6, problems: [{ n: 5, kind: "head_lost" }] });
  });

  test("a head that cannot be opened, without forgetting the rows", async () => {
    const store = await memoryStore();
    await chain(store, testCipher("k1"), "a", 2);
    const report = await verifyAudit(store, testCipher("k2"), "a");
    expect(report).toMatchObject({ ok: false, rows: 2, problems: [{ kind: "head" }] });
    expect(report.problems[0]?.message).toMatch(/under the key "k1"/);
    await expect(store.write(appendAudit(testCipher("k2"), entry("a", 3)))).rejects.toThrow(
      /under the key "k1"/,
    );
  });

  test("an older copy of everything, where the end was noted elsewhere", async () => {
    const store = await memoryStore();
    const box = testCipher();
    await chain(store, box, "a", 3);
    const copy = await secretsOf(store);
    await chain(store, box, "a", 2);
    const { end } = await verifyAudit(store, box, "a");
    await store.write(function* (db) {
      yield* changed(db.deleteFrom("audit").where("n", ">", 3));
      yield* changed(db.updateTable("secrets").set(copy));
    });
    expect((await verifyAudit(store, box, "a")).ok).toBe(true); // by itself it cannot know
    expect((await verifyAudit(store, box, "a", { anchor: end })).problems).toMatchObject([
      { n: 4, to: 5, kind: "truncated" },
    ]);
    for (const i of [7, 8]) await store.write(appendAudit(box, entry("a", i)));
    expect((await verifyAudit(store, box, "a", { anchor: end })).problems).toMatchObject([
      { n: 5, kind: "anchor" },
    ]);
  });

  test("all of it in a chain longer than one page", async () => {
    const store = await memoryStore();
    const box = testCipher();
    await chain(store, box, "a", 1203);
    expect(await verifyAudit(store, box, "a")).toMatchObject({ ok: true, rows: 1203 });
    await store.write(set(1001, { at: 1 }));
    expect((await verifyAudit(store, box, "a")).problems).toMatchObject([{ n: 1001, kind: "edited" }]);
  });

  async function allRows(store: Store): Promise<readonly AuditTable[]> {
    return store.read(function* (db) {
      return yield* rows(db.selectFrom("audit").selectAll().orderBy("n"));
    });
  }

  async function secretsOf(store: Store) {
    const [row] = await store.read(function* (db) {
      return yield* rows(db.selectFrom("secrets").selectAll());
    });
    if (row === undefined) throw new Error("there is no head");
    return row;
  }
});
