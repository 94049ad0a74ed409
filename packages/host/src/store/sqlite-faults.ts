import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import Database from "better-sqlite3";
import { StoreError } from "./store-error.ts";

/** Somebody else has the lock: to be tried again. */
export function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith("SQLITE_BUSY") ?? false;
}

/** The disk did not do as it was told. What the connection believes about the file may be wrong from here on. */
export function isDiskFault(error: unknown): boolean {
  return codeOf(error)?.startsWith("SQLITE_IOERR") ?? false;
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Database.SqliteError ? error.code : undefined;
}

/** What an error of SQLite means for people. Anything else, such as what an operation threw itself, stays as it is. */
export function explainSqlite(error: unknown, path: string, unknown = false): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  const { code, message } = error;
  const options = { cause: error, unknown };
  const told = `${message}, ${code}`;
  if (code.startsWith("SQLITE_CONSTRAINT"))
    return new StoreError("conflict", `The database ${path} refused a row: ${told}.`, options);
  if (code === "SQLITE_FULL") {
    const next = `Free some space on the disk of ${dirname(path)}, then go on: the database is intact.`;
    return new StoreError("full", `The disk is full: ${path} was not written (${told}). ${next}`, options);
  }
  if (code.startsWith("SQLITE_IOERR")) {
    const landed = unknown
      ? "Whether the write landed is only known once the database opens again"
      : "What was to be written is not there";
    const next = `Check the disk of ${dirname(path)} (space, the kernel's log, cables, quota)`;
    return new StoreError(
      "io",
      `The disk failed under ${path} (${told}). ${landed}. ${next}; the next write opens the database anew.`,
      options,
    );
  }
  if (code === "SQLITE_NOTADB") {
    const next = "Give sqlite() another path, or move that file away.";
    return new StoreError("unusable", `The file ${path} is no SQLite database. ${next}`, options);
  }
  if (code.startsWith("SQLITE_CORRUPT")) {
    const next = `Stop writing to it, keep a copy with its -wal file, and restore a backup or run "sqlite3 … .recover".`;
    return new StoreError("unusable", `The database ${path} is damaged (${told}). ${next}`, options);
  }
  if (code === "SQLITE_ERROR" && message.endsWith("already exists")) {
    const next = "Give Trackside a database file of its own.";
    return new StoreError(
      "unusable",
      `The database ${path} is another program's (${message}). ${next}`,
      options,
    );
  }
  if (code === "SQLITE_READONLY_DBMOVED") {
    const next = "Put it back, or close the store and open it again.";
    return new StoreError(
      "unavailable",
      `The database ${path} was moved or deleted while open. ${next}`,
      options,
    );
  }
  if (code.startsWith("SQLITE_READONLY")) {
    if (/query_only|readonly database/.test(message) && isWritable(path)) {
      const next = "Use write() for it.";
      return new StoreError("misuse", `Work given to read() wrote to the database ${path}. ${next}`, options);
    }
    return new StoreError("unavailable", notWritable(path), options);
  }
  if (code.startsWith("SQLITE_CANTOPEN") || code === "SQLITE_PERM" || code === "SQLITE_AUTH") {
    const next = `Check that ${dirname(path)} exists and that this user may write in it.`;
    return new StoreError("unavailable", `The database ${path} cannot be opened (${told}). ${next}`, options);
  }
  return new StoreError("misuse", `The database ${path} did not do it: ${told}.`, options);
}

/** What is wrong with the path, as far as it can be seen before SQLite looks: its own answers name no reason. */
export function checkPath(path: string): StoreError | undefined {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file?.isDirectory()) {
    const next = `Name a file in it, such as sqlite("${path}/trackside.db").`;
    return new StoreError("unavailable", `The path ${path} is a directory, not a database file. ${next}`);
  }
  const folder = dirname(path);
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    const next = `Create it (mkdir -p "${folder}"), or give sqlite() another path.`;
    return new StoreError("unavailable", `The directory of the database ${path} does not exist. ${next}`);
  }
  // SQLite also writes files beside it, so the directory counts as well.
  if ((file !== undefined && !isWritable(path)) || !isWritable(folder))
    return new StoreError("unavailable", notWritable(path));
  return undefined;
}

function notWritable(path: string): string {
  const next = "Change the rights of the file and of its directory, or give sqlite() another path.";
  return `The database ${path} cannot be written by this user. ${next}`;
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
