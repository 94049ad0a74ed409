import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { builderFor } from "./builder.ts";
import { ChangeWatch } from "./change-watch.ts";
import { lockHolder } from "./lock-holder.ts";
import { migrate } from "./migrations/migrate.ts";
import { type OnNotice, warn } from "./notice.ts";
import { runSync } from "./run-operation.ts";
import type { StoreSeams } from "./seams.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import { checkPath, explainSqlite, isBusy } from "./sqlite-faults.ts";
import { AppendJob, WorkJob } from "./sqlite-job.ts";
import { SqliteWriter } from "./sqlite-writer.ts";
import type { Builder, CommitEntry, Reach, Store, Work } from "./store.ts";
import { StoreError } from "./store-error.ts";

export interface SqliteOptions {
  /**
   * `full` (default): what is acknowledged is on the disk. `normal`: faster; a killed process still loses nothing, a power
   * cut may lose the last writes, never a part of one.
   */
  readonly sync?: "full" | "normal";
  /** Told when another process holds the database up. Default: a warning of the process. */
  readonly onNotice?: OnNotice;
}

const POLL_MS = 75;
const NOTICE_AFTER_MS = 1_000;

/**
 * A store in one file, for one machine and any number of processes. `":memory:"` is for tests: it lasts as long as the
 * store is open.
 *
 * @example
 * const store = sqlite("trackside.db");
 * await store.open();
 */
export function sqlite(path: string, options: SqliteOptions = {}, seams: StoreSeams = {}): Store {
  return new SqliteStore(path, options, seams);
}

class SqliteStore implements Store {
  readonly name: string;
  readonly keyFile: string | null;
  readonly reach: Reach | undefined;
  readonly #path: string;
  readonly #memory: boolean;
  readonly #sync: "full" | "normal";
  readonly #onNotice: OnNotice;
  readonly #seams: StoreSeams;
  readonly #db: Builder = builderFor("sqlite");
  readonly #changes = new ChangeWatch(() => this.#poll());
  #opening: Promise<void> | undefined;
  #writer: SqliteWriter | undefined;
  #reader: SqliteConnection | undefined;
  #closed = false;

  constructor(path: string, options: SqliteOptions, seams: StoreSeams) {
    if (path === "")
      throw new StoreError("misuse", 'sqlite() was given no path. Name a file, such as "trackside.db".');
    this.name = `sqlite ${path}`;
    this.#memory = path === ":memory:";
    this.keyFile = this.#memory ? null : `${resolve(path)}.key`;
    this.reach = this.#memory ? undefined : { kind: "sqlite", path: resolve(path) };
    this.#path = this.#memory ? path : resolve(path);
    this.#sync = options.sync ?? "full";
    this.#onNotice = options.onNotice ?? warn;
    this.#seams = seams;
  }

  open(): Promise<void> {
    if (this.#closed) return Promise.reject(this.#unusable());
    this.#opening ??= this.#open().catch(async (error) => {
      this.#opening = undefined; // it may be tried again
      await this.#release();
      throw explainSqlite(error, this.#path);
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    const problem = this.#memory ? undefined : checkPath(this.#path);
    if (problem !== undefined) throw problem;
    this.#writer = await this.#patiently(() => this.#makeWriter());
    this.#reader = this.#memory ? this.#writer.connection : await this.#patiently(() => this.#makeReader());
    await migrate(this, "sqlite");
  }

  #makeWriter(): SqliteWriter {
    return new SqliteWriter({
      path: this.#path,
      connect: () => new SqliteConnection(this.#path, this.#sync),
      renewed: () => this.#renewReader(),
      onNotice: this.#onNotice,
      seams: this.#seams,
    });
  }

  #makeReader(): SqliteConnection {
    const reader = new SqliteConnection(this.#path, this.#sync);
    reader.refuseWrites();
    return reader;
  }

  #renewReader(): void {
    const fresh = this.#memory ? this.#writer?.connection : this.#makeReader();
    if (!this.#memory) this.#reader?.close();
    this.#reader = fresh;
  }

  /** Two processes that make a database at once meet a lock even here. */
  async #patiently<T>(make: () => T): Promise<T> {
    const since = performance.now();
    for (let noticed = false; ; await sleep(1 + Math.random() * 4)) {
      try {
        return make();
      } catch (error) {
        if (!isBusy(error)) throw error;
      }
      if (noticed || performance.now() - since < NOTICE_AFTER_MS) continue;
      noticed = true;
      const who = lockHolder(this.#path);
      this.#onNotice(`${who} has locked ${this.#path} for over a second. Opening it waits until that ends.`);
    }
  }

  /** Tries for a while; a reader of another process may hold the log, and then the next checkpoint does it. */
  async expunge(): Promise<void> {
    for (let tries = 0; tries < 20; tries++) {
      try {
        if (this.#memory || this.#writer?.connection.emptyLog() !== false) return;
      } catch (error) {
        if (!isBusy(error)) throw explainSqlite(error, this.#path);
      }
      await sleep(10);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    await this.#opening?.catch(() => undefined);
    this.#closed = true;
    this.#changes.close();
    await this.#release();
  }

  async #release(): Promise<void> {
    const writer = this.#writer;
    const reader = this.#reader;
    this.#writer = undefined;
    this.#reader = undefined;
    await writer?.close();
    if (!this.#memory) reader?.close();
  }

  write<T>(work: Work<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const writer = this.#writer;
      if (writer === undefined) reject(this.#unusable());
      else writer.add(new WorkJob(this.#db, work, resolve, reject));
    });
  }

  append(entry: CommitEntry, with_?: Work<void>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const writer = this.#writer;
      if (writer === undefined) reject(this.#unusable());
      else writer.add(new AppendJob(this.#db, entry, with_, resolve, reject));
    });
  }

  async read<T>(work: Work<T>): Promise<T> {
    // Readers wait for nobody in WAL, but for a moment while the log is recovered or removed.
    for (; ; await sleep(2)) {
      const reader = this.#reader;
      if (reader === undefined) throw this.#unusable();
      try {
        reader.begin();
        const value = runSync(work(this.#db), (query) => reader.query(query));
        reader.commit();
        return value;
      } catch (error) {
        reader.rollback();
        if (!isBusy(error)) throw explainSqlite(error, this.#path);
      }
    }
  }

  onChange(listener: () => void): () => void {
    return this.#changes.add(listener);
  }

  /** Asks the write connection: what it commits itself does not count, so a store does not hear of its own writes. */
  #poll(): () => void {
    let seen = this.#dataVersion();
    const timer = setInterval(() => {
      const version = this.#dataVersion();
      if (version === undefined || version === seen) return;
      const first = seen === undefined;
      seen = version;
      if (!first) this.#changes.notify();
    }, POLL_MS).unref();
    return () => clearInterval(timer);
  }

  #dataVersion(): unknown {
    try {
      return this.#writer?.connection.dataVersion;
    } catch {
      return undefined; // locked for a moment, or being opened anew: the next look tells
    }
  }

  #unusable(): StoreError {
    return this.#closed
      ? new StoreError("closed", `The store ${this.name} is closed. Make another one to go on.`)
      : new StoreError("closed", `The store ${this.name} is not open. Call open() and wait for it first.`);
  }
}
