import { createHash } from "node:crypto";
import { type Builder, changed, type Operation, rows, type Work } from "../store/index.ts";
import type { SignInAttemptsTable } from "../store/tables.ts";

/**
 * How failed sign-ins slow down the next ones. It is kept in the store and not in memory: several servers share it, and a
 * restart gives nobody new guesses. A failure has cost a slow hash by then, so a row is cheap, and it is forgotten in a day.
 */
interface Pace {
  /** How many may fail before anyone has to wait. */
  readonly free: number;
}

const NAME: Pace = { free: 5 };
/** More, because a whole office may come from one address. */
const SOURCE: Pace = { free: 20 };

const FIRST_MS = 1_000;
const LONGEST_MS = 15 * 60_000;
const FORGET_MS = 24 * 3_600_000;
/** For how long a place somebody has signed in from counts as theirs. */
const KNOWN_MS = 30 * FORGET_MS;

export interface Attempt {
  readonly tenant: string;
  /** The name's key, not the name. */
  readonly name: string;
  /** Where it comes from, such as an address; without one only the name counts. */
  readonly source: string | undefined;
}

/** An attempt that may go on. It counts as failed until it is `settled`, so that many at once are not more guesses. */
export interface Admitted {
  readonly counted: readonly { readonly key: string; readonly locked_until: number }[];
  /** The key of what counts for the name. */
  readonly name: string;
  /** How many have failed for this name, this one included. */
  readonly failures: number;
}

/** Until when an attempt like this is not looked at; 0 when it may be. It writes nothing, so a flood of them costs little. */
export function lockedUntil(attempt: Attempt, now: number): Work<number> {
  return function* (db) {
    const { paces } = yield* whatCounts(db, attempt, now);
    const found = yield* rows(
      db
        .selectFrom("sign_in_attempts")
        .select("locked_until")
        .where("key", "in", [...paces.keys()])
        .where("expires_at", ">", now)
        .where("locked_until", ">", now),
    );
    return Math.max(0, ...found.map((row) => row.locked_until));
  };
}

/** Counts an attempt, or says until when none is looked at. */
export function admit(attempt: Attempt, now: number): Work<Admitted | { readonly locked_until: number }> {
  return function* (db) {
    const { name, paces } = yield* whatCounts(db, attempt, now);
    // Always in the same order, so that two attempts do not wait for each other.
    const keys = [...paces.keys()].sort();
    const found = [];
    for (const key of keys) found.push(yield* lock(db, key, now));
    const locked_until = Math.max(...found.map((row) => row.locked_until));
    if (locked_until > now) return { locked_until };
    const counted = [];
    for (const { key, failures } of found) {
      const wait = delay(failures + 1, paces.get(key) ?? NAME);
      const until = wait === 0 ? 0 : now + wait;
      yield* put(db, { key, failures: failures + 1, locked_until: until, expires_at: now + FORGET_MS });
      counted.push({ key, locked_until: until });
    }
    const failures = (found.find(({ key }) => key === name)?.failures ?? 0) + 1;
    return { counted, name, failures };
  };
}

/** It was not looked at after all. */
export function takeBack({ counted }: Admitted, now: number): Work<void> {
  return function* (db) {
    for (const { key, locked_until } of counted) {
      const row = yield* lock(db, key, now);
      // Only the wait of this attempt: one that failed meanwhile has brought its own.
      const until = row.locked_until === locked_until ? 0 : row.locked_until;
      yield* put(db, { ...row, failures: Math.max(0, row.failures - 1), locked_until: until });
    }
  };
}

/** It was the right password: the name starts anew, and the source is as before. Its other failures stay: one account of one's own is no way to guess at others. */
export function settle(attempt: Attempt, admitted: Admitted, now: number): Work<void> {
  return function* (db) {
    const { tenant, name, source } = attempt;
    yield* takeBack(admitted, now)(db);
    yield* changed(db.deleteFrom("sign_in_attempts").where("key", "=", admitted.name));
    if (source === undefined) return;
    const mark = { failures: 0, locked_until: 0, expires_at: now + KNOWN_MS };
    yield* put(db, { key: keyOf("known", tenant, name, source), ...mark });
  };
}

/** Counts something that the audit is to hear of now and then; answers how often it has happened. */
export function countUp(what: readonly string[], now: number): Work<number> {
  return function* (db) {
    const row = yield* lock(db, keyOf("count", ...what), now);
    const failures = row.failures + 1;
    yield* put(db, { ...row, failures, expires_at: now + FORGET_MS });
    return failures;
  };
}

/** 1, 2, 4, 8 …: what happens ten thousand times is told fourteen times. */
export function isWorthTelling(times: number): boolean {
  return times > 0 && (times & (times - 1)) === 0;
}

export function delay(failures: number, { free }: Pace): number {
  return failures <= free ? 0 : Math.min(FIRST_MS * 2 ** Math.min(failures - free - 1, 30), LONGEST_MS);
}

/** The rows that count for an attempt, and the one among them for its name. */
function* whatCounts(
  db: Builder,
  attempt: Attempt,
  now: number,
): Operation<{ readonly name: string; readonly paces: ReadonlyMap<string, Pace> }> {
  const { tenant, source } = attempt;
  // Whoever has signed in from there before is not kept out by what others try elsewhere.
  const known = source !== undefined && (yield* isKnown(db, attempt, now));
  const name = known ? keyOf("name-at", tenant, attempt.name, source) : keyOf("name", tenant, attempt.name);
  const paces = new Map([[name, NAME]]);
  if (source !== undefined) paces.set(keyOf("source", source), SOURCE);
  return { name, paces };
}

function* isKnown(db: Builder, { tenant, name, source = "" }: Attempt, now: number): Operation<boolean> {
  const marks = db.selectFrom("sign_in_attempts").select("key").where("expires_at", ">", now);
  return (yield* rows(marks.where("key", "=", keyOf("known", tenant, name, source)))).length > 0;
}

/** The row, made if need be and locked until the transaction ends; one that is forgotten begins anew. */
function* lock(db: Builder, key: string, now: number): Operation<SignInAttemptsTable> {
  const fresh = { key, failures: 0, locked_until: 0, expires_at: now + FORGET_MS };
  const [row = fresh] = yield* rows(
    db
      .insertInto("sign_in_attempts")
      .values(fresh)
      .onConflict((on) => on.column("key").doUpdateSet({ key }))
      .returningAll(),
  );
  return row.expires_at <= now ? fresh : row;
}

function* put(db: Builder, row: SignInAttemptsTable): Operation<void> {
  const { key: _, ...values } = row;
  yield* changed(
    db
      .insertInto("sign_in_attempts")
      .values(row)
      .onConflict((on) => on.column("key").doUpdateSet(values)),
  );
}

/** A digest: people type passwords where names belong, and addresses are nobody's business later. */
function keyOf(...parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
