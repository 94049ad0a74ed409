import { runSync } from "./run-operation.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import type { Builder, CommitEntry, Work } from "./store.ts";

/** Something that waits to be written. It may be run more than once; it is settled once, when its transaction is. */
export interface Job {
  /** About how long it takes, with an append as one. */
  readonly weight: number;
  /** It is one statement, which lands whole or not at all by itself. */
  readonly single: boolean;
  /** The run it is a delivery of, if it is one. */
  readonly runId?: string;
  run(connection: SqliteConnection): void;
  resolve(): void;
  reject(error: unknown): void;
}

const WORK_WEIGHT = 16;

export class AppendJob implements Job {
  readonly weight: number;
  readonly single: boolean;
  readonly runId: string;
  readonly #entry: CommitEntry;
  readonly #work: Work<void> | undefined;
  readonly #db: Builder;
  readonly #resolve: (landed: boolean) => void;
  readonly reject: (error: unknown) => void;
  #landed = false;

  constructor(
    db: Builder,
    entry: CommitEntry,
    work: Work<void> | undefined,
    resolve: (landed: boolean) => void,
    reject: (error: unknown) => void,
  ) {
    this.#db = db;
    this.#entry = entry;
    this.runId = entry.run_id;
    this.#work = work;
    this.#resolve = resolve;
    this.reject = reject;
    this.single = work === undefined;
    this.weight = work === undefined ? 1 : WORK_WEIGHT;
  }

  run(connection: SqliteConnection): void {
    this.#landed = connection.append(this.#entry);
    if (this.#landed && this.#work !== undefined)
      runSync(this.#work(this.#db), (query) => connection.query(query));
  }

  resolve(): void {
    this.#resolve(this.#landed);
  }
}

export class WorkJob<T> implements Job {
  readonly weight = WORK_WEIGHT;
  readonly single = false;
  readonly #work: Work<T>;
  readonly #db: Builder;
  readonly #resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;
  #done: { readonly value: T } | undefined;

  constructor(db: Builder, work: Work<T>, resolve: (value: T) => void, reject: (error: unknown) => void) {
    this.#db = db;
    this.#work = work;
    this.#resolve = resolve;
    this.reject = reject;
  }

  run(connection: SqliteConnection): void {
    this.#done = { value: runSync(this.#work(this.#db), (query) => connection.query(query)) };
  }

  resolve(): void {
    if (this.#done !== undefined) this.#resolve(this.#done.value);
  }
}
