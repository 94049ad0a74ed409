import { newId } from "trackside/engine";
import { changed, rows, type Work } from "../store/index.ts";
import type { Credential } from "./credential.ts";
import { type AccessParts, SEEN_EVERY_MS, tell } from "./parts.ts";
import { digestOfSecret, isSecret, newSecret } from "./secret.ts";
import { lockUser, readRole, seen, userBody } from "./user.ts";

/** A session as it begins. */
export interface Session extends Credential {
  readonly via: "session";
  readonly created_at: number;
  /** When it is over if nobody comes; used, it lasts longer. */
  readonly expires_at: number;
  /** When it is over whatever happens. */
  readonly ends_at: number;
}

/** The secret is for a cookie; the store has its digest only. */
export interface SignedIn {
  readonly secret: string;
  readonly session: Session;
}

/** How somebody came to be signed in. */
export type SignInHow = "password" | "link" | "setup";

/**
 * Begins a session in the transaction it is called in, with the user's row locked: who is disabled or given another
 * password at this moment is refused here, or their new session ends with the others. Undefined when they are not let in.
 */
export function beginSession(
  parts: AccessParts,
  who: { readonly tenant: string; readonly user: string; readonly how: SignInHow; readonly at: number },
  /** What was checked before, such as the password's hash. */
  stillHolds: (password: string | null) => boolean = () => true,
): Work<SignedIn | undefined> {
  return function* (db) {
    const { tenant, at, how } = who;
    const user = yield* lockUser(tenant, who.user)(db);
    if (user === undefined || user.disabled_at !== null || !stillHolds(user.password)) return undefined;
    const { idleMs, sessionMs } = parts.limits;
    const secret = newSecret();
    const id = newId("ses");
    const ends_at = at + sessionMs;
    const expires_at = Math.min(at + idleMs, ends_at);
    yield* changed(
      db.insertInto("sessions").values({
        digest: digestOfSecret(secret),
        id,
        tenant,
        user_id: user.id,
        created_at: at,
        seen_at: at,
        ends_at,
        expires_at,
      }),
    );
    yield* seen(user.id, at)(db);
    const about = { session: id, user: user.id, how };
    yield* tell(parts, { tenant, at, action: "session.signed_in", by: user.id, about })(db);
    const { name, role } = user;
    const credential = { tenant, user: { id: user.id, name }, role, via: "session", id } as const;
    return { secret, session: { ...credential, created_at: at, expires_at, ends_at } };
  };
}

/** Who comes with this session; undefined when it is over. What they may do is what they may do now, not when they signed in. */
export async function findSession(parts: AccessParts, secret: string): Promise<Credential | undefined> {
  if (!isSecret(secret)) return undefined;
  const { store, now, limits } = parts;
  await store.open();
  const at = now();
  const digest = digestOfSecret(secret);
  const [row] = await store.read((db) =>
    rows(
      db
        .selectFrom("sessions")
        .innerJoin("users", "users.id", "sessions.user_id")
        .select([
          "sessions.id",
          "sessions.tenant",
          "sessions.user_id",
          "sessions.seen_at",
          "sessions.ends_at",
          "users.role",
          "users.body",
        ])
        .where("sessions.digest", "=", digest)
        .where("sessions.expires_at", ">", at)
        .where("users.disabled_at", "is", null),
    ),
  );
  if (row === undefined) return undefined;
  const before = at - SEEN_EVERY_MS;
  if (row.seen_at <= before)
    await store.write(function* (db) {
      const expires_at = Math.min(at + limits.idleMs, row.ends_at);
      yield* seen(row.user_id, at)(db);
      yield* changed(
        db
          .updateTable("sessions")
          .set({ seen_at: at, expires_at })
          .where("digest", "=", digest)
          .where("seen_at", "<=", before),
      );
    });
  const { name } = userBody.read(row.body, row.user_id);
  const user = { id: row.user_id, name };
  return { tenant: row.tenant, user, role: readRole(row.role), via: "session", id: row.id };
}

/** Whether there was one to end. */
export async function endSession(parts: AccessParts, secret: string): Promise<boolean> {
  if (!isSecret(secret)) return false;
  await parts.store.open();
  const at = parts.now();
  return parts.store.write(function* (db) {
    const [ended] = yield* rows(
      db
        .deleteFrom("sessions")
        .where("digest", "=", digestOfSecret(secret))
        .returning(["id", "tenant", "user_id"]),
    );
    if (ended === undefined) return false;
    const { id: session, tenant, user_id: user } = ended;
    yield* tell(parts, { tenant, at, action: "session.signed_out", by: user, about: { session, user } })(db);
    return true;
  });
}
