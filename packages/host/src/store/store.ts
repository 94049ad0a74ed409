import type { CompiledQuery, Kysely } from "kysely";
import type { Tables } from "./tables.ts";

/** Builds queries. It never runs them: `yield*` them in an operation. */
export type Builder = Kysely<Tables>;

/**
 * A piece of work on the database, written once for both: it yields queries and is given their rows. SQLite runs it without
 * ever waiting, PostgreSQL waits at each query; either way it is one transaction.
 *
 * @example
 * const find = (id: string) =>
 *   function* (db: Builder): Operation<Run | undefined> {
 *     const [row] = yield* rows(db.selectFrom("runs").selectAll().where("id", "=", id));
 *     return row && readRun(row);
 *   };
 */
export type Operation<T> = Generator<CompiledQuery, T, QueryRows>;
export type Work<T> = (db: Builder) => Operation<T>;

export interface QueryRows {
  readonly rows: readonly unknown[];
  /** How many rows were written. */
  readonly changed: number;
}

/** Runs a query and answers its rows, typed by the query itself. */
export function* rows<Row>(query: { compile(): CompiledQuery<Row> }): Operation<readonly Row[]> {
  const found = yield query.compile();
  return found.rows as readonly Row[]; // what the query's own type says
}

/** Runs a query and answers how many rows it wrote. */
export function* changed(query: { compile(): CompiledQuery }): Operation<number> {
  return (yield query.compile()).changed;
}

/** One delivery on its way into the journal. */
export interface CommitEntry {
  readonly run_id: string;
  readonly ord: number;
  readonly seq: number;
  readonly body: string;
  /** The writer's fence: the row lands only while it is the run's (X4). */
  readonly fence: number;
}

/** What a thread needs to connect to a store's database. It can be sent to one. */
export type Reach =
  | { readonly kind: "sqlite"; readonly path: string }
  | { readonly kind: "postgres"; readonly config: object };

/**
 * Where everything durable is. Writes made in one go by many runs share a transaction and its sync (group commit); each
 * lands whole or not at all.
 */
export interface Store {
  /** For people, without a password: `sqlite trackside.db`. */
  readonly name: string;
  /** Where its keys may be kept, beside it: a file's path, `null` when nothing of it is kept, undefined when elsewhere. */
  readonly keyFile?: string | null | undefined;
  /** How another thread reaches the same database; undefined when none can. */
  readonly reach?: Reach | undefined;
  /** Creates or upgrades the tables. Refuses a database that a newer version has written. */
  open(): Promise<void>;
  close(): Promise<void>;
  /** Runs work that writes. It is retried while the database is busy or restarting; its own errors roll it back. */
  write<T>(work: Work<T>): Promise<T>;
  /** Runs work that only reads. */
  read<T>(work: Work<T>): Promise<T>;
  /**
   * Appends a delivery. False when the fence is no longer the run's: then nothing was written. `with_` runs in the same
   * transaction, only if the row landed. Deliveries of a run are appended one after the other: wait for each.
   */
  append(entry: CommitEntry, with_?: Work<void>): Promise<boolean>;
  /** What was deleted is to be gone from the files, too, as far as this is ours to do. */
  expunge?(): Promise<void>;
  /** Calls back soon after another process has written, and now and then without that. Returns the way to stop. */
  onChange(listener: () => void): () => void;
}
