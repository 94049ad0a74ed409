import { changed } from "../store/index.ts";
import { type AccessParts, tell } from "./parts.ts";
import { HashingBusy } from "./password-hash.ts";
import { MAX_PASSWORD_BYTES } from "./password-rules.ts";
import { beginSession, type SignedIn } from "./sessions.ts";
import {
  type Admitted,
  type Attempt,
  admit,
  countUp,
  isWorthTelling,
  lockedUntil,
  settle,
  takeBack,
} from "./throttle.ts";
import type { StoredUser } from "./user.ts";
import { userBody } from "./user.ts";
import { nameKey } from "./user-name.ts";
import { byName } from "./users.ts";

export interface SignInInput {
  readonly tenant?: string | undefined;
  readonly name: string;
  readonly password: string;
  /** Where it comes from, such as the address of the other side: too many failures from one place slow it down. */
  readonly source?: string | undefined;
}

/** Why somebody was not let in. It is the same for a wrong name and a wrong password. */
export type SignInFailure =
  | { readonly failed: "credentials" }
  /** Not even looked at: wait until then (Unix ms). */
  | { readonly failed: "throttled"; readonly locked_until: number };

const BUSY_MS = 2_000;
/** No name is longer; what is typed may be. */
const LOOKED_AT = 200;
/** A character takes at most four bytes, and no fewer than one once it is brought to one spelling. */
const MAX_TYPED_BYTES = 4 * MAX_PASSWORD_BYTES;

/** Signs somebody in with a password, or says why not. */
export async function signInWithPassword(
  parts: AccessParts,
  { tenant, name, password, source }: SignInInput & { readonly tenant: string },
): Promise<SignedIn | SignInFailure> {
  const { store, hasher, now } = parts;
  await store.open();
  const attempt: Attempt = { tenant, name: nameKey(name.slice(0, LOOKED_AT)), source };
  const locked_until = await store.read(lockedUntil(attempt, now()));
  if (locked_until > 0) return { failed: "throttled", locked_until };
  const admitted = await store.write(admit(attempt, now()));
  if ("locked_until" in admitted) return { failed: "throttled", locked_until: admitted.locked_until };
  const user = await store.read(byName(tenant, name));
  const hash = user === undefined || user.disabled_at !== null ? null : user.password;
  const tooLong = Buffer.byteLength(password, "utf8") > MAX_TYPED_BYTES;
  let right = false;
  try {
    right = !tooLong && (await hasher.matches(password, hash));
  } catch (error) {
    if (!(error instanceof HashingBusy)) throw error;
    await store.write(takeBack(admitted, now()));
    return { failed: "throttled", locked_until: now() + BUSY_MS };
  }
  if (!right || user === undefined || hash === null) {
    await tellFailure(parts, attempt, admitted, user);
    return { failed: "credentials" };
  }
  const renewed = hasher.isOutdated(hash) ? await hasher.hash(password) : undefined;
  const signedIn = await store.write(function* (db) {
    const at = now();
    yield* settle(attempt, admitted, at)(db);
    if (renewed !== undefined) {
      const body = userBody.write({ v: 1, name: user.name, password: renewed });
      const old = userBody.write({ v: 1, name: user.name, password: hash });
      // Only what is still as it was read: a password set in between stands.
      yield* changed(db.updateTable("users").set({ body }).where("id", "=", user.id).where("body", "=", old));
    }
    const holds = (stored: string | null) => stored === (renewed ?? hash);
    return yield* beginSession(parts, { tenant, user: user.id, how: "password", at }, holds)(db);
  });
  return signedIn ?? { failed: "credentials" };
}

/** Tells the audit of failures, ever more rarely. Names of nobody may be mistyped passwords: they are counted together. */
async function tellFailure(
  parts: AccessParts,
  { tenant, source }: Attempt,
  { failures }: Admitted,
  user: StoredUser | undefined,
): Promise<void> {
  await parts.store.write(function* (db) {
    const at = parts.now();
    const times = user === undefined ? yield* countUp(["unknown", tenant], at)(db) : failures;
    if (!isWorthTelling(times)) return;
    const about = { user: user?.id ?? null, failures: times, ...(source === undefined ? {} : { source }) };
    yield* tell(parts, { tenant, at, action: "session.failed", by: "sign-in", about })(db);
  });
}
