import { newId } from "trackside/engine";
import * as z from "zod";
import { DEFAULT_TENANT } from "../runs/runs.ts";
import { changed, rows, type Work } from "../store/index.ts";
import { versioned } from "../store/rows/versioned.ts";
import type { ApiTokensTable } from "../store/tables.ts";
import type { Credential } from "./credential.ts";
import { type AccessParts, type Change, SEEN_EVERY_MS, tell } from "./parts.ts";
import { refused } from "./refused.ts";
import { isRole, mayGrant, ROLES, type Role } from "./roles.ts";
import { digestOfSecret, isTokenSecret, newTokenSecret, SHOWN_CHARS } from "./secret.ts";
import { lockUser, readRole, type StoredUser, seen, unknownUser, userBody } from "./user.ts";

const version1 = z.object({
  v: z.literal(1),
  name: z.string(),
  /** The secret's first characters, to tell one's tokens apart. */
  prefix: z.string(),
});

/** Bodies of tokens. */
export const tokenBody = versioned({
  name: "api_tokens",
  current: 1,
  versions: { 1: version1 },
  upgrade: {},
});

/** A token as anyone may see it: the secret is shown once, when it is made. */
export interface ApiToken {
  readonly id: string;
  readonly tenant: string;
  /** Whose it is: what it does, they do. */
  readonly user_id: string;
  readonly name: string;
  readonly prefix: string;
  readonly role: Role;
  readonly created_at: number;
  /** Unix ms; null lasts until it is revoked. */
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
  readonly revoked_at: number | null;
}

export interface NewToken {
  /** Whose it is. It stops with them: while they are disabled it lets nobody in. */
  readonly user: string;
  readonly name: string;
  /** At most what the user may do. Default: viewer. */
  readonly role?: Role | undefined;
  readonly expires_at?: number | null | undefined;
}

const NAME = /^[^\p{C}\p{Z}](?:[^\p{C}]{0,62}[^\p{C}\p{Z}])?$/u;

/** What programs show to be let in. */
export class Tokens {
  readonly #parts: AccessParts;

  constructor(parts: AccessParts) {
    this.#parts = parts;
  }

  /** The secret is in this answer and nowhere else. */
  async create(
    { user: userId, name, role = "viewer", expires_at = null }: NewToken,
    { tenant = DEFAULT_TENANT, by }: Change,
  ): Promise<{ readonly secret: string; readonly token: ApiToken }> {
    const parts = this.#parts;
    const at = parts.now();
    checkToken(name, role, expires_at, at);
    await parts.store.open();
    const secret = newTokenSecret();
    const prefix = secret.slice(0, SHOWN_CHARS);
    const id = newId("tok");
    const token = await parts.store.write(function* (db) {
      const user = yield* lockUser(tenant, userId)(db);
      if (user === undefined) throw unknownUser(tenant, userId);
      if (user.disabled_at !== null)
        throw refused(
          "token_invalid",
          `"${user.name}" is disabled. Enable them, or make the token for another user.`,
        );
      if (!mayGrant(user.role, role)) {
        const may = ROLES.filter((one) => mayGrant(user.role, one)).join(", ");
        throw refused(
          "role_refused",
          `role: "${user.name}" is ${user.role} and may give ${may}; ${role} given.`,
        );
      }
      const row: ApiTokensTable = {
        digest: digestOfSecret(secret),
        id,
        tenant,
        user_id: userId,
        role,
        created_at: at,
        expires_at,
        last_used_at: null,
        revoked_at: null,
        body: tokenBody.write({ v: 1, name, prefix }),
      };
      yield* changed(db.insertInto("api_tokens").values(row));
      const about = { token: id, user: userId, role, expires_at };
      yield* tell(parts, { tenant, at, action: "token.created", by, about, after: { name } })(db);
      return readToken(row);
    });
    return { secret, token };
  }

  /** The newest first; those that are revoked only when asked for. */
  async list({
    tenant = DEFAULT_TENANT,
    user,
    revoked = false,
  }: {
    readonly tenant?: string;
    readonly user?: string;
    readonly revoked?: boolean;
  } = {}): Promise<readonly ApiToken[]> {
    await this.#parts.store.open();
    return this.#parts.store.read(function* (db) {
      let query = db.selectFrom("api_tokens").selectAll().where("tenant", "=", tenant);
      if (user !== undefined) query = query.where("user_id", "=", user);
      if (!revoked) query = query.where("revoked_at", "is", null);
      return (yield* rows(query.orderBy("created_at", "desc").orderBy("id", "desc"))).map(readToken);
    });
  }

  /** From now on it lets nobody in. Revoked again it stays as it is. With `user`, only one of theirs. */
  async revoke(
    id: string,
    { tenant = DEFAULT_TENANT, user, by }: Change & { readonly user?: string | undefined },
  ): Promise<ApiToken> {
    const parts = this.#parts;
    const at = parts.now();
    await parts.store.open();
    return parts.store.write(function* (db) {
      const found = db.selectFrom("api_tokens").selectAll().where("tenant", "=", tenant).where("id", "=", id);
      const [row] = yield* rows(user === undefined ? found : found.where("user_id", "=", user));
      if (row === undefined)
        throw refused(
          "token_unknown",
          `There is no token ${JSON.stringify(id.slice(0, 80))} in the tenant "${tenant}".`,
        );
      const mine = yield* changed(
        db
          .updateTable("api_tokens")
          .set({ revoked_at: at })
          .where("digest", "=", row.digest)
          .where("revoked_at", "is", null),
      );
      if (mine === 0) return readToken((yield* rows(found))[0] ?? row);
      const about = { token: id, user: row.user_id };
      yield* tell(parts, { tenant, at, action: "token.revoked", by, about })(db);
      return readToken({ ...row, revoked_at: at });
    });
  }

  /** Who comes with this token; undefined when it lets nobody in. */
  async credential(secret: string): Promise<Credential | undefined> {
    if (!isTokenSecret(secret)) return undefined;
    const { store, now } = this.#parts;
    await store.open();
    const at = now();
    const digest = digestOfSecret(secret);
    const [row] = await store.read((db) =>
      rows(
        db
          .selectFrom("api_tokens")
          .innerJoin("users", "users.id", "api_tokens.user_id")
          .select([
            "api_tokens.id",
            "api_tokens.tenant",
            "api_tokens.role",
            "api_tokens.user_id",
            "api_tokens.expires_at",
            "api_tokens.last_used_at",
            "users.body",
          ])
          .where("api_tokens.digest", "=", digest)
          .where("api_tokens.revoked_at", "is", null)
          .where("users.disabled_at", "is", null),
      ),
    );
    if (row === undefined || (row.expires_at !== null && row.expires_at <= at)) return undefined;
    if (row.last_used_at === null || row.last_used_at <= at - SEEN_EVERY_MS)
      await store.write(used(digest, row.user_id, at));
    const { name } = userBody.read(row.body, row.user_id);
    const user = { id: row.user_id, name };
    return { tenant: row.tenant, user, role: readRole(row.role), via: "token", id: row.id };
  }
}

/** Revokes what is left of somebody's tokens, when they go. */
export function revokeAll(
  parts: AccessParts,
  user: StoredUser,
  change: { by: string; at: number },
): Work<void> {
  return revokeAbove(parts, user, () => true, change);
}

/** Revokes a user's tokens with certain roles: a token is never more than whoever made it. */
export function revokeAbove(
  parts: AccessParts,
  { id: user, tenant }: StoredUser,
  above: (role: Role) => boolean,
  { by, at }: { readonly by: string; readonly at: number },
): Work<void> {
  return function* (db) {
    const live = db.selectFrom("api_tokens").select(["digest", "id", "role"]).where("user_id", "=", user);
    const revoked: string[] = [];
    for (const token of yield* rows(live.where("revoked_at", "is", null))) {
      if (!above(readRole(token.role))) continue;
      const one = db.updateTable("api_tokens").set({ revoked_at: at }).where("digest", "=", token.digest);
      if ((yield* changed(one.where("revoked_at", "is", null))) > 0) revoked.push(token.id);
    }
    for (const token of revoked)
      yield* tell(parts, { tenant, at, action: "token.revoked", by, about: { token, user } })(db);
  };
}

/** Of those who come at the same moment one writes. */
function used(digest: string, userId: string, at: number): Work<void> {
  return function* (db) {
    const before = at - SEEN_EVERY_MS;
    yield* seen(userId, at)(db);
    yield* changed(
      db
        .updateTable("api_tokens")
        .set({ last_used_at: at })
        .where("digest", "=", digest)
        .where((is) => is.or([is("last_used_at", "is", null), is("last_used_at", "<=", before)])),
    );
  };
}

function readToken(row: ApiTokensTable): ApiToken {
  const { name, prefix } = tokenBody.read(row.body, row.id);
  const { id, tenant, user_id, created_at, expires_at, last_used_at, revoked_at } = row;
  const role = readRole(row.role);
  return { id, tenant, user_id, name, prefix, role, created_at, expires_at, last_used_at, revoked_at };
}

function checkToken(name: string, role: unknown, expires_at: number | null, now: number): void {
  if (!NAME.test(name))
    throw refused(
      "token_invalid",
      `name: 1 to 64 characters on one line expected, ${JSON.stringify(name.slice(0, 80))} given.`,
    );
  if (!isRole(role)) {
    const given = JSON.stringify(role)?.slice(0, 40);
    throw refused("token_invalid", `role: one of ${ROLES.join(", ")} expected, ${given} given.`);
  }
  if (expires_at !== null && !(Number.isSafeInteger(expires_at) && expires_at > now))
    throw refused(
      "token_invalid",
      `expires_at: Unix milliseconds after now (${now}) or null expected, ${expires_at} given.`,
    );
}
