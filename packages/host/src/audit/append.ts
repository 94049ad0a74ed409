import type { Json } from "trackside";
import type { Cipher } from "../secrets/cipher.ts";
import { type Builder, changed, type Operation, type Work } from "../store/store.ts";
import { type AuditEvent, contentDigest, hashOf, writeBody } from "./entry.ts";
import { type ChainHead, lockHead, makeHead, readHead, writeHead } from "./head.ts";

/** Written first where a chain with rows had lost its head: from then on `verifyAudit` says so. */
export const HEAD_LOST = "audit.head_lost";

/**
 * Adds to a tenant's audit, in the transaction it is called in: what it tells of and the telling land together. It holds the
 * end of the chain until that transaction ends, so it comes last in it.
 *
 * @example
 * yield* appendAudit(cipher, { tenant, at, action: "approval.decided", by, about: { approval: id }, after: record })(db);
 */
export function appendAudit(cipher: Cipher, event: AuditEvent): Work<void> {
  return function* (db) {
    const { tenant, at } = event;
    let head = yield* lockHead(cipher, tenant)(db);
    if (head === undefined) {
      const made = yield* makeHead(cipher, tenant, at)(db);
      head = (yield* lockHead(cipher, tenant)(db)) ?? made;
      // Ours is the head that stands, and the chain is older than it.
      if (head.n > 0 && Buffer.compare(head.key, made.key) === 0) {
        const lost = { tenant, at, action: HEAD_LOST, by: "host", about: { rows: head.n } };
        head = yield* link(db, head, lost);
      }
    }
    head = yield* link(db, head, event);
    yield* writeHead(cipher, tenant, at, head)(db);
  };
}

function* link(db: Builder, head: ChainHead, event: AuditEvent): Operation<ChainHead> {
  const row = {
    tenant: event.tenant,
    n: head.n + 1,
    at: event.at,
    action: event.action,
    body: writeBody(event, head.key),
    previous: head.hash,
  };
  const hash = hashOf(row);
  yield* changed(db.insertInto("audit").values({ ...row, hash }));
  return { n: row.n, hash, key: head.key };
}

/** The digest that an entry of this tenant would have for a value: to show that a row is about this and nothing else. */
export function auditDigest(cipher: Cipher, tenant: string, value: Json): Work<string | undefined> {
  return function* (db) {
    const head = yield* readHead(cipher, tenant)(db);
    return head && contentDigest(value, head.key);
  };
}
