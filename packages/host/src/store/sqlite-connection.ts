import Database from "better-sqlite3";
import type { CompiledQuery } from "kysely";
import type { CommitEntry, QueryRows } from "./store.ts";
import { StoreError } from "./store-error.ts";

type Statement = Database.Statement<unknown[]>;

/** Lists of values make statements of many lengths; those not used for long are prepared again. */
const KEPT_STATEMENTS = 512;

// One statement checks the fence and writes: nobody can claim the run in between.
const APPEND = `INSERT INTO commits (run_id, ord, seq, body) SELECT ?, ?, ?, ?
  WHERE EXISTS (SELECT 1 FROM runs WHERE id = ? AND fence = ?)`;

/** One connection and its prepared statements. It waits for nothing: what is locked is told at once as SQLITE_BUSY. */
export class SqliteConnection {
  readonly #db: Database.Database;
  readonly #kept = new Map<string, Statement>();
  #append: Statement | undefined;
  readonly #begin: Statement;
  readonly #beginWrite: Statement;
  readonly #commit: Statement;
  readonly #version: Statement;

  constructor(path: string, sync: "full" | "normal") {
    this.#db = new Database(path, { timeout: 0 });
    try {
      // Asked first: to set it again would need a lock that a busy database does not give.
      if (this.#db.pragma("journal_mode", { simple: true }) !== "wal") {
        const mode = this.#db.pragma("journal_mode = WAL", { simple: true });
        if (mode !== "wal" && !this.#db.memory) throw noWal(path, mode);
      }
      this.#db.pragma(`synchronous = ${sync}`);
      this.#db.pragma("foreign_keys = OFF");
      this.#db.pragma("secure_delete = ON"); // what is deleted is overwritten, not only unlinked (X12)
      this.#db.pragma("temp_store = MEMORY");
      this.#db.pragma("cache_size = -16384");
      // Pages that are written again and again are moved once for all of that: the sync of a move costs more than it.
      this.#db.pragma("wal_autocheckpoint = 4000");
      // After a burst the log is cut back to this when it starts over.
      this.#db.pragma("journal_size_limit = 67108864");
      this.#begin = this.#db.prepare("BEGIN");
      this.#beginWrite = this.#db.prepare("BEGIN IMMEDIATE");
      this.#commit = this.#db.prepare("COMMIT");
      this.#version = this.#db.prepare("PRAGMA data_version").pluck();
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  get inTransaction(): boolean {
    return this.#db.inTransaction;
  }

  /** Changes when somebody else's connection has committed, and never by this one. */
  get dataVersion(): unknown {
    return this.#version.get();
  }

  /** Moves the log into the database and empties it, so that nothing deleted is left there. False while somebody reads. */
  emptyLog(): boolean {
    const [done] = this.#db.pragma("wal_checkpoint(TRUNCATE)") as { busy: number }[]; // what SQLite documents
    return done?.busy === 0;
  }

  refuseWrites(): void {
    this.#db.pragma("query_only = ON");
  }

  begin(): void {
    this.#begin.run();
  }

  /** Takes the write lock. */
  beginWrite(): void {
    this.#beginWrite.run();
  }

  commit(): void {
    this.#commit.run();
  }

  /** Never throws: SQLite may have rolled back already, and what cannot be rolled back goes with the connection. */
  rollback(): boolean {
    try {
      if (this.#db.inTransaction) this.#db.exec("ROLLBACK");
      return true;
    } catch {
      return false;
    }
  }

  /** Runs a part of the transaction that lands whole or not at all; the rest of the transaction goes on either way. */
  part<T>(run: () => T): T {
    this.#statement("SAVEPOINT part").run();
    let value: T;
    try {
      value = run();
    } catch (error) {
      this.#undoPart();
      throw error;
    }
    this.#statement("RELEASE part").run();
    return value;
  }

  /** When the disk is full SQLite may have given up the whole transaction: then there is nothing to go back to. */
  #undoPart(): void {
    if (!this.#db.inTransaction) return;
    try {
      this.#statement("ROLLBACK TO part").run();
      this.#statement("RELEASE part").run();
    } catch {
      this.rollback(); // all of it, rather than half of a part
    }
  }

  /** Writes one page and changes nothing. */
  touch(): void {
    this.#db.exec("PRAGMA user_version = 0");
  }

  append(entry: CommitEntry): boolean {
    this.#append ??= this.#db.prepare(APPEND);
    const { run_id, ord, seq, body, fence } = entry;
    return this.#append.run(run_id, ord, seq, body, run_id, fence).changes === 1;
  }

  query(query: CompiledQuery): QueryRows {
    try {
      const statement = this.#statement(query.sql);
      if (!statement.reader) return { rows: [], changed: statement.run(...query.parameters).changes };
      const rows = statement.all(...query.parameters);
      return { rows, changed: statement.readonly ? 0 : rows.length };
    } catch (error) {
      if (error instanceof Database.SqliteError) throw error;
      const problem = error instanceof Error ? error.message : String(error);
      throw new StoreError("misuse", `A query cannot run: ${problem} (${query.sql})`, { cause: error });
    }
  }

  close(): void {
    this.#db.close();
  }

  #statement(sql: string): Statement {
    let statement = this.#kept.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare<unknown[]>(sql);
      if (this.#kept.size >= KEPT_STATEMENTS) {
        const [oldest] = this.#kept.keys();
        if (oldest !== undefined) this.#kept.delete(oldest);
      }
      this.#kept.set(sql, statement);
    }
    return statement;
  }
}

function noWal(path: string, mode: unknown): StoreError {
  const why = `SQLite cannot keep a write-ahead log beside the database ${path} (its journal mode stays "${mode}")`;
  const next = "Put it on a local disk, not a network share, or use postgres().";
  return new StoreError("unusable", `${why}. ${next}`);
}
