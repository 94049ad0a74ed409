import { TracksideError } from "trackside";
import { changed, rows, type Work } from "../store/store.ts";
import type { Cipher, SealContext } from "./cipher.ts";
import { missingKey } from "./keyring.ts";

/** Names the host keeps for itself begin like this; nobody sets, lists or removes them. */
export const OWN_PREFIX = "trackside:";

export const secretContext = (tenant: string, name: string): SealContext => ["secret", tenant, name];

/** A key file that is gone is not made anew while something waits for the old one: that would hide the loss. */
export function refuseLostKey(cipher: Cipher): Work<void> {
  return function* (db) {
    if (cipher.keyring.ids().length > 0) return;
    const [lost] = yield* rows(db.selectFrom("secrets").select(["key_id", "name"]).limit(1));
    if (lost !== undefined) throw missingKey(lost.key_id, cipher.keyring, `the secret "${lost.name}"`);
  };
}

/** Writes a secret, new or again. */
export function putSecret(
  cipher: Cipher,
  at: { readonly tenant: string; readonly name: string; readonly now: number },
  value: string | Uint8Array,
): Work<void> {
  return function* (db) {
    yield* refuseLostKey(cipher)(db);
    const { tenant, name, now } = at;
    const sealed = { ...cipher.seal(value, secretContext(tenant, name)), updated_at: now };
    yield* changed(
      db
        .insertInto("secrets")
        .values({ tenant, name, ...sealed })
        .onConflict((on) => on.columns(["tenant", "name"]).doUpdateSet(sealed)),
    );
  };
}

/** The value of a secret, for the engine; undefined when there is none. */
export function takeSecret(cipher: Cipher, tenant: string, name: string): Work<Uint8Array | undefined> {
  return function* (db) {
    const [row] = yield* rows(
      db
        .selectFrom("secrets")
        .select(["key_id", "nonce", "content"])
        .where("tenant", "=", tenant)
        .where("name", "=", name),
    );
    return row && cipher.open(row, secretContext(tenant, name));
  };
}

/** How many secrets one transaction re-encrypts: few enough that nobody waits for it. */
const CHUNK = 50;

/** Re-encrypts some of what is not under the current key. Answers how many, and whether more may be left. */
export function rotateSome(cipher: Cipher): Work<{ readonly rotated: number; readonly more: boolean }> {
  return function* (db) {
    const current = cipher.keyring.current().id;
    const old = yield* rows(
      db
        .selectFrom("secrets")
        .select(["tenant", "name", "key_id", "nonce", "content"])
        .where("key_id", "!=", current)
        .orderBy("tenant")
        .orderBy("name")
        .limit(CHUNK),
    );
    let rotated = 0;
    for (const { tenant, name, ...sealed } of old) {
      const context = secretContext(tenant, name);
      const again = cipher.seal(cipher.open(sealed, context), context);
      // Only what is still as it was read: a value set in between is newer, and under the current key already.
      rotated += yield* changed(
        db
          .updateTable("secrets")
          .set({ ...again })
          .where("tenant", "=", tenant)
          .where("name", "=", name)
          .where("key_id", "=", sealed.key_id)
          .where("nonce", "=", sealed.nonce),
      );
    }
    return { rotated, more: old.length === CHUNK };
  };
}

/** A name people may use for a secret. */
export function checkName(name: string): void {
  if (NAME.test(name)) return;
  throw new TracksideError(
    "secret_name_invalid",
    `A secret's name is 1 to 128 letters, digits, "_", "-", "." or "/"; ${JSON.stringify(name.slice(0, 40))} is not`,
  );
}

const NAME = /^[A-Za-z0-9_.\-/]{1,128}$/;
