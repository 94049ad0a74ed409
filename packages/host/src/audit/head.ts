import { randomBytes } from "node:crypto";
import * as z from "zod";
import type { Cipher } from "../secrets/cipher.ts";
import { OWN_PREFIX, putSecret, refuseLostKey, secretContext } from "../secrets/secret-rows.ts";
import { changed, rows, type Work } from "../store/store.ts";
import type { SecretsTable } from "../store/tables.ts";
import { GENESIS } from "./entry.ts";

/**
 * Where a tenant's chain ends, and the key of its digests: one row, encrypted and thereby signed. Nobody without the host's
 * key can write one that opens.
 */
export interface ChainHead {
  /** The number of the last row; 0 before the first. */
  readonly n: number;
  readonly hash: string;
  readonly key: Uint8Array;
}

const NAME = `${OWN_PREFIX}audit`;

const stored = z.object({ v: z.literal(1), n: z.number(), hash: z.string(), key: z.string() });

/**
 * The head, locked until the transaction ends: the update that changes nothing makes the next writer of this chain wait, on
 * both databases, so that two rows never follow the same one.
 */
export function lockHead(cipher: Cipher, tenant: string): Work<ChainHead | undefined> {
  return function* (db) {
    const [row] = yield* rows(
      db
        .updateTable("secrets")
        .set((column) => ({ updated_at: column.ref("updated_at") }))
        .where("tenant", "=", tenant)
        .where("name", "=", NAME)
        .returning(["key_id", "nonce", "content"]),
    );
    return row && openHead(cipher, tenant, row);
  };
}

export function readHead(cipher: Cipher, tenant: string): Work<ChainHead | undefined> {
  return function* (db) {
    const [row] = yield* rows(
      db
        .selectFrom("secrets")
        .select(["key_id", "nonce", "content"])
        .where("tenant", "=", tenant)
        .where("name", "=", NAME),
    );
    return row && openHead(cipher, tenant, row);
  };
}

/** Makes the head of a chain that has none, from its last row. Another process may be first; then its head stands. */
export function makeHead(cipher: Cipher, tenant: string, now: number): Work<ChainHead> {
  return function* (db) {
    yield* refuseLostKey(cipher)(db);
    const [last] = yield* rows(
      db.selectFrom("audit").select(["n", "hash"]).where("tenant", "=", tenant).orderBy("n", "desc").limit(1),
    );
    const made = { n: last?.n ?? 0, hash: last?.hash ?? GENESIS, key: randomBytes(32) };
    const sealed = cipher.seal(text(made), secretContext(tenant, NAME));
    yield* changed(
      db
        .insertInto("secrets")
        .values({ tenant, name: NAME, ...sealed, updated_at: now })
        .onConflict((on) => on.columns(["tenant", "name"]).doNothing()),
    );
    return made;
  };
}

export function writeHead(cipher: Cipher, tenant: string, now: number, head: ChainHead): Work<void> {
  return putSecret(cipher, { tenant, name: NAME, now }, text(head));
}

function text({ n, hash, key }: ChainHead): string {
  return JSON.stringify({ v: 1, n, hash, key: Buffer.from(key).toString("base64") });
}

function openHead(
  cipher: Cipher,
  tenant: string,
  row: Pick<SecretsTable, "key_id" | "nonce" | "content">,
): ChainHead {
  const opened = Buffer.from(cipher.open(row, secretContext(tenant, NAME))).toString("utf8");
  const { n, hash, key } = stored.parse(JSON.parse(opened));
  return { n, hash, key: Buffer.from(key, "base64") };
}
