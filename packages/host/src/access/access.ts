import { TracksideError } from "trackside";
import { DEFAULT_TENANT } from "../runs/runs.ts";
import type { Cipher } from "../secrets/index.ts";
import { changed, rows, type Store } from "../store/index.ts";
import type { Credential } from "./credential.ts";
import { type AccessLink, findLink, type LinkFailure, linkWorks, makeLink, takeLink } from "./links.ts";
import { holding, SETUP } from "./lock.ts";
import { type AccessLimits, type AccessParts, type Change, tell } from "./parts.ts";
import { type HashCost, PasswordHasher } from "./password-hash.ts";
import { refused } from "./refused.ts";
import { isSecret } from "./secret.ts";
import { beginSession, endSession, findSession, type SignedIn } from "./sessions.ts";
import { type SignInFailure, type SignInInput, signInWithPassword } from "./sign-in.ts";
import { sweepExpired } from "./sweep.ts";
import { Tokens } from "./tokens.ts";
import { lockUser, unknownUser } from "./user.ts";
import { hasAdmin, Users } from "./users.ts";

export interface AccessOptions extends AccessLimits {
  readonly store: Store;
  /** For the audit. */
  readonly cipher: Cipher;
  readonly now?: () => number;
}

/** For tests, which have no time for slow hashes. */
export interface AccessSeams {
  readonly cost?: HashCost;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const LIMITS = { idleMs: 12 * HOUR, sessionMs: 30 * 24 * HOUR, setupMs: HOUR, linkMs: 5 * MINUTE };
const SWEEP_EVERY_MS = 10 * MINUTE;

/**
 * Who is let in, and what they may do: users, their sessions and tokens, and links that let somebody in once. Every change
 * is in the audit; of secrets the store has digests only.
 *
 * @example
 * const link = await access.setupLink();             // first boot: undefined once there is an admin
 * const { secret } = await access.finishSetup(link.secret, { name: "ann", password });
 * const who = await access.session(secret);          // { tenant, user, role, via: "session" }
 */
export class Access {
  readonly users: Users;
  readonly tokens: Tokens;
  readonly #parts: AccessParts;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor({ store, cipher, now = Date.now, ...limits }: AccessOptions, seams: AccessSeams = {}) {
    for (const [name, ms] of Object.entries(limits)) checkLimit(name, ms);
    const hasher = new PasswordHasher(seams.cost);
    this.#parts = { store, cipher, now, hasher, limits: { ...LIMITS, ...limits } };
    this.users = new Users(this.#parts);
    this.tokens = new Tokens(this.#parts);
  }

  /** Signs somebody in with a password. The failure does not tell whether there is such a user. */
  async signIn({ tenant = DEFAULT_TENANT, ...input }: SignInInput): Promise<SignedIn | SignInFailure> {
    await this.#sweepNowAndThen();
    return signInWithPassword(this.#parts, { tenant, ...input });
  }

  /** Who comes with this session's secret; undefined when it lets nobody in. */
  session(secret: string): Promise<Credential | undefined> {
    return findSession(this.#parts, secret);
  }

  /** Ends a session. Answers whether there was one. */
  signOut(secret: string): Promise<boolean> {
    return endSession(this.#parts, secret);
  }

  /** Who comes with this API token; undefined when it lets nobody in. */
  token(secret: string): Promise<Credential | undefined> {
    return this.tokens.credential(secret);
  }

  /** Whether the store has no admin yet. */
  async needsSetup(): Promise<boolean> {
    await this.#parts.store.open();
    return !(await this.#parts.store.read(hasAdmin));
  }

  /** A link that makes the first admin, once; undefined when there is one already. Links made before go on working. */
  async setupLink({ tenant = DEFAULT_TENANT } = {}): Promise<AccessLink | undefined> {
    await this.#sweepNowAndThen();
    const parts = this.#parts;
    await parts.store.open();
    return parts.store.write(function* (db) {
      if (yield* hasAdmin(db)) return undefined;
      const at = parts.now();
      const expires_at = at + parts.limits.setupMs;
      const link = yield* makeLink({ tenant, purpose: "setup", user: null, at, expires_at })(db);
      const about = { link: link.id, expires_at };
      yield* tell(parts, { tenant, at, action: "setup.link_created", by: "host", about })(db);
      return link;
    });
  }

  /** Makes the first admin and signs them in. Of any number who try at once, with any links, one is heard. */
  async finishSetup(
    secret: string,
    { name, password }: { readonly name: string; readonly password?: string | undefined },
  ): Promise<SignedIn | LinkFailure> {
    const parts = this.#parts;
    const { users } = this;
    await parts.store.open();
    // Looked at before the password is hashed: that is work which nobody without a link can ask for.
    if (!(await parts.store.read(linkWorks(secret, "setup", parts.now())))) return { failed: "link" };
    const prepared = await users.prepared({ name, role: "admin", password }, DEFAULT_TENANT);
    const signedIn = await parts.store.write(function* (db) {
      const at = parts.now();
      yield* holding(SETUP, at)(db);
      if (yield* hasAdmin(db)) return undefined;
      const link = yield* takeLink(db, secret, "setup", at);
      if (link === undefined) return undefined;
      yield* changed(db.deleteFrom("access_links").where("purpose", "=", "setup"));
      const { tenant } = link;
      const user = yield* users.add({ ...prepared, tenant }, "setup", at)(db);
      const about = { link: link.id, user: user.id };
      yield* tell(parts, { tenant, at, action: "setup.finished", by: user.id, about })(db);
      return yield* beginSession(parts, { tenant, user: user.id, how: "setup", at })(db);
    });
    return signedIn ?? { failed: "link" };
  }

  /** A link that signs a user in, once and soon: for a terminal that may print it, or a person who has no password yet. */
  async openLink({
    user: userId,
    tenant = DEFAULT_TENANT,
    by,
  }: Change & { readonly user: string }): Promise<AccessLink> {
    await this.#sweepNowAndThen();
    const parts = this.#parts;
    await parts.store.open();
    return parts.store.write(function* (db) {
      const user = yield* lockUser(tenant, userId)(db);
      if (user === undefined) throw unknownUser(tenant, userId);
      if (user.disabled_at !== null)
        throw refused(
          "user_invalid",
          `"${user.name}" is disabled, so no link lets them in. Enable them first.`,
        );
      const at = parts.now();
      const expires_at = at + parts.limits.linkMs;
      const link = yield* makeLink({ tenant, purpose: "open", user: user.id, at, expires_at })(db);
      const about = { link: link.id, user: user.id, expires_at };
      yield* tell(parts, { tenant, at, action: "link.created", by, about })(db);
      return link;
    });
  }

  /** Signs in whoever comes first with a link of `openLink`. */
  async useLink(secret: string): Promise<SignedIn | LinkFailure> {
    if (!isSecret(secret)) return { failed: "link" };
    const parts = this.#parts;
    await parts.store.open();
    const signedIn = await parts.store.write(function* (db) {
      const at = parts.now();
      const [found] = yield* rows(findLink(db, secret, "open", at));
      if (found === undefined || found.user_id === null) return undefined;
      // The user first, then what is theirs: whoever disables them goes the same way, so neither waits for the other.
      yield* lockUser(found.tenant, found.user_id)(db);
      const link = yield* takeLink(db, secret, "open", at);
      if (link === undefined || link.user_id === null) return undefined;
      return yield* beginSession(parts, { tenant: link.tenant, user: link.user_id, how: "link", at })(db);
    });
    return signedIn ?? { failed: "link" };
  }

  /** Forgets what is over. It happens by itself when somebody signs in; answers how many rows went. */
  async sweep(): Promise<number> {
    const { store, now } = this.#parts;
    await store.open();
    return store.write((db) => sweepExpired(now())(db));
  }

  async #sweepNowAndThen(): Promise<void> {
    const now = this.#parts.now();
    if (now - this.#sweptAt < SWEEP_EVERY_MS) return;
    this.#sweptAt = now;
    await this.sweep().catch(() => {}); // the next one tries again
  }
}

function checkLimit(name: string, ms: unknown): void {
  if (Number.isSafeInteger(ms) && Number(ms) > 0) return;
  throw new TracksideError(
    "config_invalid",
    `access.${name}: milliseconds above 0 expected, ${String(ms)} given.`,
  );
}
