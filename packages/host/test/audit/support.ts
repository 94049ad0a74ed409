import { randomBytes } from "node:crypto";
import { hashOf } from "../../src/audit/entry.ts";
import { type AuditEvent, appendAudit } from "../../src/audit/index.ts";
import { type Cipher, cipher, keyring } from "../../src/secrets/index.ts";
import { changed, rows, type Store, type Work } from "../../src/store/store.ts";
import type { AuditTable } from "../../src/store/tables.ts";

export function entry(tenant: string, i: number): AuditEvent {
  return { tenant, at: 1000 + i, action: `test.${i}`, by: "ann", about: { i }, after: { i } };
}

/** Adds rows `test.1`, `test.2`, … in as few transactions as is quick. */
export async function chain(store: Store, box: Cipher, tenant: string, count: number): Promise<void> {
  await store.write(function* (db) {
    for (let i = 1; i <= count; i++) yield* appendAudit(box, entry(tenant, i))(db);
  });
}

/** What somebody would do who can write to the database and knows how hashes are made: edits a row and its hash. */
export function rehash(tenant: string, n: number, columns: Partial<AuditTable>): Work<void> {
  return function* (db) {
    const find = (number: number) =>
      rows(db.selectFrom("audit").selectAll().where("tenant", "=", tenant).where("n", "=", number));
    const [row] = yield* find(n);
    const [before] = yield* find(n - 1);
    if (row === undefined) throw new Error(`there is no row ${n}`);
    const edited = { ...row, previous: before?.hash ?? row.previous, ...columns };
    yield* changed(
      db
        .updateTable("audit")
        .set({ ...edited, hash: hashOf(edited) })
        .where("tenant", "=", tenant)
        .where("n", "=", n),
    );
  };
}

/** A host before and after its key was replaced, and once the old one is thrown away. */
export function rotation(): { oldBox: Cipher; newBox: Cipher; onlyNew: Cipher } {
  const keys = { old: randomBytes(32), new: randomBytes(32) };
  return {
    oldBox: cipher(keyring({ current: "old", keys })),
    newBox: cipher(keyring({ current: "new", keys })),
    onlyNew: cipher(keyring({ current: "new", keys: { new: keys.new } })),
  };
}
