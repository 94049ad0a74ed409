import { lockHolder } from "./lock-holder.ts";
import type { OnNotice } from "./notice.ts";
import type { StoreSeams } from "./seams.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import { explainSqlite, isBusy, isDiskFault } from "./sqlite-faults.ts";
import type { Job } from "./sqlite-job.ts";
import { StoreError } from "./store-error.ts";

/** A transaction takes this much, in appends; the rest waits for the next one, so that the event loop gets its turn. */
const BATCH_WEIGHT = 2_048;
/** So long one run may write on and on before the event loop gets its turn. */
const ALONE_MS = 1;
const NOTICE_AFTER_MS = 1_000;
const CLOSE_WAITS_MS = 5_000;

interface WriterParts {
  readonly path: string;
  connect(): SqliteConnection;
  /** The write connection was opened anew after a fault of the disk: others should be, too. */
  renewed(): void;
  readonly onNotice: OnNotice;
  readonly seams: StoreSeams;
}

/**
 * Every write of a store goes through here. What is asked for in one turn of the event loop becomes one transaction and
 * one sync; each job in it lands whole or not at all. When it has committed all its promises run before the next turn, so
 * runs that go in step stay together. A run that has the store for itself waits for no turn: that costs more than a write.
 */
export class SqliteWriter {
  readonly #parts: WriterParts;
  #connection: SqliteConnection;
  #queue: Job[] = [];
  #scheduled = false;
  /** The run whose delivery was written last, with nothing beside it. */
  #alone: string | undefined;
  #turnAt = 0;
  #busySince: number | undefined;
  #noticed = false;
  /** The disk failed under the connection: it is opened anew before anything else is believed. */
  #suspect = false;
  #drained: (() => void) | undefined;

  constructor(parts: WriterParts) {
    this.#parts = parts;
    this.#connection = parts.connect();
  }

  get connection(): SqliteConnection {
    return this.#connection;
  }

  add(job: Job): void {
    this.#queue.push(job);
    if (this.#scheduled) return;
    this.#scheduled = true;
    const isAlone = job.runId !== undefined && job.runId === this.#alone;
    if (isAlone && performance.now() - this.#turnAt < ALONE_MS) process.nextTick(this.#flush);
    else setImmediate(this.#takeTurn);
  }

  readonly #takeTurn = (): void => {
    this.#turnAt = performance.now();
    this.#flush();
  };

  /** Writes what is still waiting, unless somebody holds the database up for too long. */
  async close(): Promise<void> {
    if (this.#queue.length > 0) {
      const drained = new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
      const timer = setTimeout(() => this.#giveUp(), CLOSE_WAITS_MS);
      await drained;
      clearTimeout(timer);
    }
    this.#connection.rollback();
    this.#connection.close();
  }

  #giveUp(): void {
    const who = lockHolder(this.#parts.path);
    const message = `The store was closed while ${who} held the write lock of ${this.#parts.path}: this was not written.`;
    for (const job of this.#queue.splice(0)) job.reject(new StoreError("closed", message));
    this.#drained?.();
  }

  readonly #flush = (): void => {
    this.#scheduled = false;
    if (this.#queue.length === 0) return;
    const lone = this.#queue.length === 1 && this.#queue[0]?.single;
    try {
      if (this.#suspect) this.#renew();
      if (!lone) this.#connection.beginWrite();
    } catch (error) {
      if (isBusy(error)) {
        this.#waitForLock();
        return;
      }
      if (isDiskFault(error)) this.#suspect = true;
      this.#settle(this.#take(), error);
      this.#next();
      return;
    }
    const jobs = this.#take();
    this.#alone = lone ? jobs[0]?.runId : undefined;
    if (lone) this.#runLone(jobs);
    else {
      this.#unlocked();
      this.#transact(jobs);
    }
    this.#next();
  };

  #next(): void {
    if (this.#queue.length === 0) this.#drained?.();
    if (this.#queue.length === 0 || this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(this.#takeTurn);
  }

  /** The jobs of the next transaction, oldest first. */
  #take(): Job[] {
    let count = 0;
    for (let weight = 0; count < this.#queue.length && weight < BATCH_WEIGHT; count += 1)
      weight += this.#queue[count]?.weight ?? 0;
    if (count < this.#queue.length) return this.#queue.splice(0, count);
    const all = this.#queue;
    this.#queue = [];
    return all;
  }

  /** One statement with nobody beside it is a transaction by itself, and commits with it. */
  #runLone(jobs: readonly Job[]): void {
    try {
      this.#parts.seams.beforeCommit?.();
      for (const job of jobs) job.run(this.#connection);
      this.#unlocked();
      this.#parts.seams.afterCommit?.();
    } catch (error) {
      this.#fail(jobs, undefined, error, true);
      return;
    }
    this.#settle(jobs, undefined);
  }

  #unlocked(): void {
    this.#busySince = undefined;
    this.#noticed = false;
  }

  /** Runs the jobs in the transaction that has begun, and commits it. */
  #transact(jobs: readonly Job[]): void {
    const connection = this.#connection;
    let failures: Map<Job, unknown> | undefined;
    let committing = false;
    try {
      if (!this.#runTogether(jobs)) failures = this.#runApart(jobs);
      if (failures?.size === jobs.length) connection.rollback();
      else {
        committing = true;
        this.#parts.seams.beforeCommit?.();
        connection.commit();
        this.#parts.seams.afterCommit?.();
      }
    } catch (error) {
      this.#fail(jobs, failures, error, committing);
      return;
    }
    this.#settle(jobs, undefined, failures);
  }

  /**
   * As if none could fail, which spares each its way back. False when one does: then nothing of them is left and the
   * transaction has begun anew.
   */
  #runTogether(jobs: readonly Job[]): boolean {
    const connection = this.#connection;
    try {
      for (const job of jobs) job.run(connection);
      return true;
    } catch (error) {
      const alone = jobs.length === 1;
      if (alone || isBusy(error) || isDiskFault(error) || !connection.inTransaction) throw error;
      connection.rollback();
      connection.beginWrite();
      return false;
    }
  }

  /** Each lands whole or not at all. Answers what was wrong with those that did not. */
  #runApart(jobs: readonly Job[]): Map<Job, unknown> {
    const connection = this.#connection;
    const failures = new Map<Job, unknown>();
    for (const job of jobs) {
      try {
        if (job.single) job.run(connection);
        else connection.part(() => job.run(connection));
      } catch (error) {
        if (isBusy(error) || isDiskFault(error) || !connection.inTransaction) throw error;
        failures.set(job, error);
      }
    }
    return failures;
  }

  #fail(
    jobs: readonly Job[],
    failures: Map<Job, unknown> | undefined,
    error: unknown,
    committing: boolean,
  ): void {
    if (!this.#connection.rollback()) this.#suspect = true;
    if (isBusy(error)) {
      this.#queue = [...jobs, ...this.#queue];
      this.#waitForLock();
      return;
    }
    let unknown = false;
    if (isDiskFault(error)) {
      this.#suspect = true;
      try {
        this.#renew();
      } catch {
        // A commit that failed to sync may yet be found in the log by whoever opens it after a crash.
        unknown = committing;
      }
    }
    this.#settle(jobs, error, failures, unknown);
  }

  #settle(jobs: readonly Job[], error: unknown, failures?: Map<Job, unknown>, unknown = false): void {
    const { path } = this.#parts;
    for (const job of jobs) {
      if (failures?.has(job)) job.reject(explainSqlite(failures.get(job), path));
      else if (error === undefined) job.resolve();
      else job.reject(explainSqlite(error, path, unknown));
    }
  }

  /**
   * Opens the database anew. The reader stays open meanwhile: with nobody on the database SQLite would recover the log,
   * and could find in it the commit that has just been called failed. The touch then takes its place in the log, so that
   * nobody finds it later either.
   */
  #renew(): void {
    this.#connection.rollback();
    this.#connection.close();
    this.#connection = this.#parts.connect();
    this.#parts.seams.beforeCommit?.();
    this.#connection.touch();
    this.#parts.renewed();
    this.#suspect = false;
  }

  #waitForLock(): void {
    const now = performance.now();
    this.#busySince ??= now;
    const waited = now - this.#busySince;
    const long = waited > NOTICE_AFTER_MS;
    if (long && !this.#noticed) {
      this.#noticed = true;
      const { path, onNotice } = this.#parts;
      const who = lockHolder(path);
      const next = "Writes wait until it lets go: if it is frozen, let it go on (kill -CONT) or end it.";
      onNotice(`${who} has held the write lock of ${path} for over a second. ${next}`);
    }
    // Short and uneven: a process that commits all the time lets go for an instant only.
    this.#scheduled = true;
    setTimeout(this.#flush, long ? 20 : 1 + Math.random() * 3);
  }
}
