import { randomBytes } from "node:crypto";
import type { Cipher } from "../secrets/cipher.ts";
import { OWN_PREFIX, putSecret, takeSecret } from "../secrets/secret-rows.ts";
import { changed, type Work } from "../store/store.ts";

/** What signs the webhooks of a schedule. The one before may still do so for a while. */
interface Kept {
  readonly secret: string;
  readonly before?: { readonly secret: string; readonly until: number };
}

const nameOf = (scheduleId: string) => `${OWN_PREFIX}schedule/${scheduleId}`;

export function newSecret(): string {
  return `whsec_${randomBytes(32).toString("base64url")}`;
}

/** Sets the secret. `keepMs`: for how long the one before still counts. */
export function putTriggerSecret(
  cipher: Cipher,
  at: {
    readonly tenant: string;
    readonly scheduleId: string;
    readonly now: number;
    readonly keepMs?: number;
  },
  secret: string,
): Work<void> {
  return function* (db) {
    const { tenant, scheduleId, now, keepMs = 0 } = at;
    const [before] = keepMs > 0 ? yield* triggerSecrets(cipher, tenant, scheduleId, now)(db) : [];
    const kept: Kept =
      before === undefined ? { secret } : { secret, before: { secret: before, until: now + keepMs } };
    yield* putSecret(cipher, { tenant, name: nameOf(scheduleId), now }, JSON.stringify(kept))(db);
  };
}

/** Those that count now, the newest first. */
export function triggerSecrets(
  cipher: Cipher,
  tenant: string,
  scheduleId: string,
  now: number,
): Work<readonly string[]> {
  return function* (db) {
    const bytes = yield* takeSecret(cipher, tenant, nameOf(scheduleId))(db);
    if (bytes === undefined) return [];
    const { secret, before }: Kept = JSON.parse(Buffer.from(bytes).toString("utf8")); // as it was put
    return before !== undefined && before.until > now ? [secret, before.secret] : [secret];
  };
}

export function removeTriggerSecret(tenant: string, scheduleId: string): Work<void> {
  return function* (db) {
    yield* changed(
      db.deleteFrom("secrets").where("tenant", "=", tenant).where("name", "=", nameOf(scheduleId)),
    );
  };
}
