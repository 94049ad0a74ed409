import pg from "pg";
import { messageOf } from "./message-of.ts";
import { StoreError } from "./store-error.ts";

/** Node's names for a connection that is not there, or no more. */
const NETWORK = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EHOSTDOWN",
  "ENETDOWN",
  "EAI_AGAIN",
  "ENOTFOUND",
  "ENOENT", // the socket file of a server that is down
]);

/** Restarting, too many connections, idle for too long inside a transaction: by code, as the severity may be translated. */
const LOST_CODES = /^(08|57P0[1235]|53300|25P0[34])/;

/** What `pg` itself says of a connection, without a code. */
const LOST =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired|timeout exceeded when trying to connect|Query read timeout|Received unexpected)/;

/**
 * The connection is gone: the server stops or starts, or the network does. A transaction that had not been told to commit
 * is gone with it; of a commit on its way nobody knows.
 */
export function isLost(error: unknown): boolean {
  if (error instanceof pg.DatabaseError)
    return error.severity === "FATAL" || error.severity === "PANIC" || LOST_CODES.test(error.code ?? "");
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.length > 0 && error.errors.every(isLost);
  const code: unknown = Reflect.get(error, "code");
  return (typeof code === "string" && NETWORK.has(code)) || LOST.test(error.message);
}

/** FATAL, but trying again will not help: somebody has to change the settings. */
export function isHopeless(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^(28|3D000|42501)/.test(error.code ?? "");
}

/** The transaction met another one and was rolled back: it will work when it is run again. */
export function isCollision(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === "40001" || error.code === "40P01");
}

/** A row with that key is there. */
export function isDuplicate(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === "23505";
}

/** What an error of PostgreSQL means for people. Anything else, such as what an operation threw itself, stays as it is. */
export function explainPostgres(error: unknown, name: string): unknown {
  if (error instanceof StoreError) return error;
  const options = { cause: error };
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? "";
    const told = `${error.message}, ${code}`;
    if (code.startsWith("23")) return new StoreError("conflict", `${name} refused a row: ${told}.`, options);
    if (code === "53100" || code === "53200" || code === "53400") {
      const next = "Free some space on the database server, then go on: nothing was written in part.";
      return new StoreError("full", `${name} has no room left (${told}). ${next}`, options);
    }
    if (code.startsWith("58") || code.startsWith("XX"))
      return new StoreError("io", `${name} failed (${told}). See the log of the database server.`, options);
    if (code.startsWith("28")) {
      const next = "Check the user and password it was given, and pg_hba.conf of the server.";
      return new StoreError("unavailable", `${name} refused the login (${told}). ${next}`, options);
    }
    if (code === "3D000") {
      const next = "Create it (createdb), or name another one.";
      return new StoreError("unavailable", `${name} has no such database (${told}). ${next}`, options);
    }
    if (code === "42501") {
      const next = "Grant its user the rights to create and use tables there.";
      return new StoreError("unavailable", `${name} refused it (${told}). ${next}`, options);
    }
    if (code === "42P07") {
      const next = "Give Trackside a database, or a schema, of its own.";
      return new StoreError(
        "unusable",
        `${name} holds tables of another program (${told}). ${next}`,
        options,
      );
    }
    if (code === "25006") {
      const next =
        "Work given to read() must not write; if it was given to write(), the server is a standby.";
      return new StoreError("misuse", `${name} cannot write here (${told}). ${next}`, options);
    }
    if (code === "57014") {
      const next = "Something holds its rows for long, or the server is overloaded: see pg_stat_activity.";
      return new StoreError("unavailable", `${name} took too long (${told}). ${next}`, options);
    }
    return new StoreError("misuse", `${name} did not do it: ${told}.`, options);
  }
  if (isLost(error)) {
    const next = "Check that the server runs, and its host and port.";
    return new StoreError("unavailable", `${name} cannot be reached (${messageOf(error)}). ${next}`, options);
  }
  return error;
}
