import * as z from "zod";
import { versioned } from "../store/rows/versioned.ts";
import { changed, rows, type Work } from "../store/store.ts";
import type { UsersTable } from "../store/tables.ts";
import { refused } from "./refused.ts";
import { isRole, ROLES, type Role } from "./roles.ts";

const version1 = z.object({
  v: z.literal(1),
  /** As it was written. */
  name: z.string(),
  /** Hash, salt and parameters; null for users who come by links and tokens only. */
  password: z.string().nullable(),
});

/** Bodies of users. */
export const userBody = versioned({ name: "users", current: 1, versions: { 1: version1 }, upgrade: {} });

/** A user as anyone may see them. */
export interface User {
  readonly id: string;
  readonly tenant: string;
  readonly name: string;
  readonly role: Role;
  /** Whether they can sign in with one. */
  readonly has_password: boolean;
  readonly created_at: number;
  readonly updated_at: number;
  /** Since when they are let in by nothing; null while they are. */
  readonly disabled_at: number | null;
  readonly last_seen_at: number | null;
}

/** With the hash, for the rooms that check it. */
export interface StoredUser extends User {
  readonly password: string | null;
}

export function readUser(row: UsersTable): StoredUser {
  const { name, password } = userBody.read(row.body, row.id);
  const { id, tenant, created_at, updated_at, disabled_at, last_seen_at } = row;
  const has_password = password !== null;
  const role = readRole(row.role);
  return {
    id,
    tenant,
    name,
    role,
    has_password,
    created_at,
    updated_at,
    disabled_at,
    last_seen_at,
    password,
  };
}

export function shown({ password: _, ...user }: StoredUser): User {
  return user;
}

/** A role as it is stored. One that a newer version knows may do here what everybody may. */
export function readRole(stored: string): Role {
  return isRole(stored) ? stored : ROLES[0];
}

/** The user, locked until the transaction ends: what is read of them here holds until then. */
export function lockUser(tenant: string, id: string): Work<StoredUser | undefined> {
  return function* (db) {
    const [row] = yield* rows(
      db
        .updateTable("users")
        .set((column) => ({ updated_at: column.ref("updated_at") }))
        .where("tenant", "=", tenant)
        .where("id", "=", id)
        .returningAll(),
    );
    return row && readUser(row);
  };
}

/** Ends every session and link of a user. Those of one who is signing in wait for the user's row, and then are refused. */
export function endSessions(userId: string): Work<number> {
  return function* (db) {
    yield* changed(db.deleteFrom("access_links").where("user_id", "=", userId));
    return yield* changed(db.deleteFrom("sessions").where("user_id", "=", userId));
  };
}

/** Notes when a user was last here; a clock that runs behind turns nothing back. */
export function seen(userId: string, at: number): Work<void> {
  return function* (db) {
    yield* changed(
      db
        .updateTable("users")
        .set({ last_seen_at: at })
        .where("id", "=", userId)
        .where((is) => is.or([is("last_seen_at", "is", null), is("last_seen_at", "<", at)])),
    );
  };
}

export function unknownUser(tenant: string, id: string): Error {
  return refused(
    "user_unknown",
    `There is no user ${JSON.stringify(id.slice(0, 80))} in the tenant "${tenant}".`,
  );
}
