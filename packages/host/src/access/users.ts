import type { JsonObject } from "trackside";
import { newId } from "trackside/engine";
import { DEFAULT_TENANT } from "../runs/runs.ts";
import { type Builder, changed, type Operation, rows, type Work } from "../store/index.ts";
import { holding, peopleOf, SETUP } from "./lock.ts";
import { type AccessParts, type Change, tell } from "./parts.ts";
import { checkPassword } from "./password-rules.ts";
import { refused } from "./refused.ts";
import { isRole, mayGrant, ROLES, type Role } from "./roles.ts";
import { revokeAbove, revokeAll } from "./tokens.ts";
import {
  endSessions,
  lockUser,
  readUser,
  type StoredUser,
  shown,
  type User,
  unknownUser,
  userBody,
} from "./user.ts";
import { checkUserName, isUserName, nameKey } from "./user-name.ts";

export interface NewUser {
  readonly name: string;
  readonly role: Role;
  /** Without one, only links and tokens let them in. */
  readonly password?: string | undefined;
}

export interface UserChange {
  readonly role?: Role | undefined;
  readonly disabled?: boolean | undefined;
  /** A new one ends every session; null takes it away. */
  readonly password?: string | null | undefined;
}

/** Who may come in, and what each may do. */
export class Users {
  readonly #parts: AccessParts;

  constructor(parts: AccessParts) {
    this.#parts = parts;
  }

  async create(given: NewUser, { tenant = DEFAULT_TENANT, by }: Change): Promise<User> {
    const { store, now } = this.#parts;
    await store.open();
    const user = await this.prepared(given, tenant);
    const add = this.add(user, by, now());
    return store.write(function* (db) {
      // An admin made here and one made by a setup at the same moment are not both the first.
      if (user.role === "admin") yield* holding(SETUP, now())(db);
      return yield* add(db);
    });
  }

  /** By name. */
  async list({ tenant = DEFAULT_TENANT } = {}): Promise<readonly User[]> {
    await this.#parts.store.open();
    return this.#parts.store.read(function* (db) {
      const query = db.selectFrom("users").selectAll().where("tenant", "=", tenant).orderBy("name_key");
      return (yield* rows(query)).map((row) => shown(readUser(row)));
    });
  }

  async get(id: string, { tenant = DEFAULT_TENANT } = {}): Promise<User> {
    await this.#parts.store.open();
    const [row] = await this.#parts.store.read((db) =>
      rows(db.selectFrom("users").selectAll().where("tenant", "=", tenant).where("id", "=", id)),
    );
    if (row === undefined) throw unknownUser(tenant, id);
    return shown(readUser(row));
  }

  /** By name, however it is written; undefined when there is none. */
  async find(name: string, { tenant = DEFAULT_TENANT } = {}): Promise<User | undefined> {
    await this.#parts.store.open();
    const found = await this.#parts.store.read(byName(tenant, name));
    return found && shown(found);
  }

  async update(id: string, change: UserChange, { tenant = DEFAULT_TENANT, by }: Change): Promise<User> {
    const { store, now, hasher } = this.#parts;
    if (change.role !== undefined) checkRole(change.role);
    const { name } = await this.get(id, { tenant });
    if (typeof change.password === "string") checkPassword(change.password, name);
    const hash = typeof change.password === "string" ? await hasher.hash(change.password) : change.password;
    return store.write((db) => this.#change(db, { tenant, id, by, at: now() }, { ...change, hash }));
  }

  /** Takes a user away, with everything that lets them in. What they did stays in the audit under their id. */
  async remove(id: string, { tenant = DEFAULT_TENANT, by }: Change): Promise<User> {
    const { store, now } = this.#parts;
    const parts = this.#parts;
    await store.open();
    return store.write(function* (db) {
      const at = now();
      yield* holding(peopleOf(tenant), at)(db);
      const before = yield* lockUser(tenant, id)(db);
      if (before === undefined) throw unknownUser(tenant, id);
      yield* keepAnAdmin(db, before, "removed");
      yield* changed(db.deleteFrom("users").where("tenant", "=", tenant).where("id", "=", id));
      const sessions = yield* endSessions(id)(db);
      yield* revokeAll(parts, before, { by, at })(db);
      const about = { user: id, role: before.role, sessions };
      yield* tell(parts, { tenant, at, action: "user.removed", by, about, before: digested(before) })(db);
      return shown(before);
    });
  }

  /** A user to be added: everything that takes time or may be refused is done before the transaction. */
  async prepared(
    { name, role, password }: NewUser,
    tenant: string,
  ): Promise<Omit<StoredUser, "created_at" | "updated_at">> {
    const written = checkUserName(name);
    checkRole(role);
    if (password !== undefined) checkPassword(password, written);
    return {
      id: newId("user"),
      tenant,
      name: written,
      role,
      password: password === undefined ? null : await this.#parts.hasher.hash(password),
      has_password: password !== undefined,
      disabled_at: null,
      last_seen_at: null,
    };
  }

  add(prepared: Omit<StoredUser, "created_at" | "updated_at">, by: string, at: number): Work<User> {
    const parts = this.#parts;
    return function* (db) {
      const user: StoredUser = { ...prepared, created_at: at, updated_at: at };
      const { id, tenant, name, role } = user;
      const added = yield* changed(
        db
          .insertInto("users")
          .values({
            id,
            tenant,
            name_key: nameKey(name),
            role,
            created_at: at,
            updated_at: at,
            disabled_at: null,
            last_seen_at: null,
            body: userBody.write({ v: 1, name, password: user.password }),
          })
          .onConflict((on) => on.columns(["tenant", "name_key"]).doNothing()),
      );
      if (added === 0)
        throw refused(
          "user_exists",
          `There is a user named "${name}" already; upper and lower case are the same.`,
        );
      const about = { user: id, role, password: user.has_password };
      yield* tell(parts, { tenant, at, action: "user.created", by, about, after: digested(user) })(db);
      return shown(user);
    };
  }

  *#change(
    db: Builder,
    { tenant, id, by, at }: { tenant: string; id: string; by: string; at: number },
    { role, disabled, hash }: UserChange & { readonly hash: string | null | undefined },
  ): Operation<User> {
    const parts = this.#parts;
    yield* holding(peopleOf(tenant), at)(db);
    const before = yield* lockUser(tenant, id)(db);
    if (before === undefined) throw unknownUser(tenant, id);
    const password = hash === undefined ? before.password : hash;
    const after: StoredUser = {
      ...before,
      role: role ?? before.role,
      disabled_at: disabled === undefined ? before.disabled_at : disabled ? (before.disabled_at ?? at) : null,
      password,
      has_password: password !== null,
      updated_at: at,
    };
    const demoted = after.role !== before.role;
    const nowDisabled = after.disabled_at !== null && before.disabled_at === null;
    const nowEnabled = after.disabled_at === null && before.disabled_at !== null;
    const repassworded = hash !== undefined && hash !== before.password;
    if (!demoted && !nowDisabled && !nowEnabled && !repassworded) return shown(before);
    if (nowDisabled || after.role !== "admin")
      yield* keepAnAdmin(db, before, nowDisabled ? "disabled" : "demoted");
    yield* changed(
      db
        .updateTable("users")
        .set({
          role: after.role,
          disabled_at: after.disabled_at,
          updated_at: at,
          body: userBody.write({ v: 1, name: after.name, password }),
        })
        .where("tenant", "=", tenant)
        .where("id", "=", id),
    );
    const sessions = nowDisabled || repassworded ? yield* endSessions(id)(db) : 0;
    if (demoted) yield* revokeAbove(parts, after, (given) => !mayGrant(after.role, given), { by, at })(db);
    const told = [
      ...(demoted ? [["user.role_changed", { from: before.role, to: after.role }] as const] : []),
      ...(nowDisabled ? [["user.disabled", { sessions }] as const] : []),
      ...(nowEnabled ? [["user.enabled", {}] as const] : []),
      ...(repassworded
        ? [["user.password_changed", { password: after.has_password, sessions }] as const]
        : []),
    ];
    const digests = { before: digested(before), after: digested(after) };
    for (const [action, more] of told)
      yield* tell(parts, { tenant, at, action, by, about: { user: id, ...more }, ...digests })(db);
    return shown(after);
  }
}

export function byName(tenant: string, name: string): Work<StoredUser | undefined> {
  return function* (db) {
    if (!isUserName(name)) return undefined;
    const query = db.selectFrom("users").selectAll().where("tenant", "=", tenant);
    const [row] = yield* rows(query.where("name_key", "=", nameKey(name)));
    return row && readUser(row);
  };
}

/** Whether anyone in the store can set things up. */
export function* hasAdmin(db: Builder): Operation<boolean> {
  const admins = db.selectFrom("users").select("id").where("role", "=", "admin");
  return (yield* rows(admins.where("disabled_at", "is", null).limit(1))).length > 0;
}

/** Whoever changes people of a tenant is alone with them, so two who demote each other are not both heard. */
function* keepAnAdmin(db: Builder, user: StoredUser, how: string): Operation<void> {
  if (user.role !== "admin" || user.disabled_at !== null) return;
  const others = db
    .selectFrom("users")
    .select("id")
    .where("tenant", "=", user.tenant)
    .where("role", "=", "admin");
  const left = yield* rows(others.where("disabled_at", "is", null).where("id", "!=", user.id).limit(1));
  if (left.length > 0) return;
  const what = `"${user.name}" is the last enabled admin of the tenant "${user.tenant}" and cannot be ${how}`;
  throw refused("last_admin", `${what}. Make another user an admin first.`);
}

function checkRole(role: unknown): void {
  if (isRole(role)) return;
  const given = JSON.stringify(role)?.slice(0, 40);
  throw refused("user_invalid", `role: one of ${ROLES.join(", ")} expected, ${given} given.`);
}

/** What the audit's digests are made of. Not the password's hash: nothing is ever made of that. */
function digested({ name, role, disabled_at, has_password }: StoredUser): JsonObject {
  return { name, role, disabled_at, has_password };
}
