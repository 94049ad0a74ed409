import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { AppendBatches } from "./append-batches.ts";
import { builderFor } from "./builder.ts";
import { ChangeWatch } from "./change-watch.ts";
import { messageOf } from "./message-of.ts";
import { migrate } from "./migrations/migrate.ts";
import { type OnNotice, warn } from "./notice.ts";
import { among, appendQuery, landedQuery } from "./postgres-appends.ts";
import { explainPostgres, isCollision, isDuplicate, isHopeless, isLost } from "./postgres-faults.ts";
import { listen } from "./postgres-listener.ts";
import { forgetOldMarks, type Mark, Marks } from "./postgres-marks.ts";
import { connectionConfig, createPool, describeTarget, query, type Statement } from "./postgres-pool.ts";
import { runAsync } from "./run-operation.ts";
import type { StoreSeams } from "./seams.ts";
import type { Builder, CommitEntry, QueryRows, Reach, Store, Work } from "./store.ts";
import { StoreError } from "./store-error.ts";

export interface PostgresOptions {
  /** Told when the server cannot be reached for a while. Default: a warning of the process. */
  readonly onNotice?: OnNotice;
  /**
   * How long `open()` waits for a server that is not there yet. Default: 10 s. It gives up in the end, because a wrong
   * address is more likely than a long outage; once open, a store waits as long as it takes.
   */
  readonly openWithinMs?: number;
}

/** One try: it worked, or it may be run again. `sent` says of a lone statement that it was on its way, and may have landed. */
type Attempt<T> = { readonly value: T } | { readonly again: unknown; readonly sent?: boolean };

const NOTICE_AFTER_MS = 1_000;
const OPEN_WITHIN_MS = 10_000;

/**
 * A store in PostgreSQL (13 or newer), for any number of machines. Takes a connection string or what `pg` takes for a pool.
 *
 * @example
 * const store = postgres("postgres://trackside@localhost/trackside");
 * await store.open();
 */
export function postgres(
  target: string | pg.PoolConfig,
  options: PostgresOptions = {},
  seams: StoreSeams = {},
): Store {
  return new PostgresStore(target, options, seams);
}

/** A password that is a function, or a certificate store, stays in its thread. */
function reachOf(config: object): Reach | undefined {
  try {
    return { kind: "postgres", config: structuredClone(config) };
  } catch {
    return undefined;
  }
}

class PostgresStore implements Store {
  readonly name: string;
  readonly reach: Reach | undefined;
  readonly #config: pg.PoolConfig & { application_name: string };
  readonly #onNotice: OnNotice;
  readonly #openWithinMs: number;
  readonly #seams: StoreSeams;
  readonly #db: Builder = builderFor("postgres");
  readonly #appends = new AppendBatches((entries) => this.#send(entries, false));
  readonly #changes: ChangeWatch;
  readonly #closing = new AbortController();
  readonly #marks = new Marks();
  readonly #underWay = new Set<Promise<unknown>>();
  #pool: pg.Pool | undefined;
  #opening: Promise<void> | undefined;
  /** Since when nothing has worked, and whether that was told. */
  #outage: { readonly since: number; told: boolean } | undefined;

  constructor(target: string | pg.PoolConfig, options: PostgresOptions, seams: StoreSeams) {
    this.#config = connectionConfig(target);
    this.name = describeTarget(this.#config);
    this.reach = reachOf(this.#config);
    this.#onNotice = options.onNotice ?? warn;
    this.#openWithinMs = options.openWithinMs ?? OPEN_WITHIN_MS;
    this.#seams = seams;
    this.#changes = new ChangeWatch(() => listen(this.#config, this.#changes.notify));
  }

  open(): Promise<void> {
    if (this.#closing.signal.aborted) return Promise.reject(this.#unusable());
    this.#opening ??= this.#open().catch(async (error) => {
      this.#opening = undefined; // it may be tried again
      await this.#release();
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<void> {
    this.#pool = createPool(this.#config);
    await this.#patiently(() => this.#attemptRead(function* () {}), this.#openWithinMs);
    // Of the tables themselves no mark is needed: whoever makes them looks first, and there is none yet.
    const write = <T>(work: Work<T>) => this.#patiently(() => this.#attempt(work, false));
    await migrate({ name: this.name, read: (work) => this.read(work), write }, "postgres");
    await this.#patiently(() => this.#single({ sql: forgetOldMarks(), parameters: [] }));
  }

  /** What is under way comes to its end; what waits for a server that is gone is rejected. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#changes.close();
    await this.#opening?.catch(() => undefined);
    await Promise.allSettled(this.#underWay);
    await this.#release();
  }

  async #release(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await pool?.end();
  }

  write<T>(work: Work<T>): Promise<T> {
    return this.#tracked(() => this.#patiently(() => this.#attempt(work, true)));
  }

  read<T>(work: Work<T>): Promise<T> {
    return this.#tracked(() => this.#patiently(() => this.#attemptRead(work)));
  }

  append(entry: CommitEntry, with_?: Work<void>): Promise<boolean> {
    if (with_ === undefined) return this.#tracked(() => this.#appends.add(entry));
    return this.write(function* (db) {
      const landed = (yield appendQuery([entry])).changed === 1;
      if (landed) yield* with_(db);
      return landed;
    });
  }

  #tracked<T>(run: () => Promise<T>): Promise<T> {
    if (this.#pool === undefined || this.#closing.signal.aborted) return Promise.reject(this.#unusable());
    const running = run();
    this.#underWay.add(running);
    const over = () => this.#underWay.delete(running);
    running.then(over, over);
    return running;
  }

  onChange(listener: () => void): () => void {
    return this.#changes.add(listener);
  }

  /** Tries until it works, without an end unless one is given: a database that restarts is not the caller's business. */
  async #patiently<T>(
    attempt: () => Promise<Attempt<T>>,
    giveUpAfter = Number.POSITIVE_INFINITY,
  ): Promise<T> {
    const since = performance.now();
    for (let pause = 10; ; pause = Math.min(pause * 2, 1_000)) {
      const result = await attempt();
      if ("value" in result) {
        this.#outage = undefined;
        return result.value;
      }
      if (this.#closing.signal.aborted) throw this.#unusable(result.again);
      if (performance.now() - since > giveUpAfter) throw explainPostgres(result.again, this.name);
      if (isLost(result.again)) this.#tell(result.again);
      await sleep(pause * (0.5 + Math.random() / 2), undefined, { signal: this.#closing.signal }).catch(
        () => undefined,
      );
    }
  }

  #tell(error: unknown): void {
    const now = performance.now();
    this.#outage ??= { since: now, told: false };
    if (this.#outage.told || now - this.#outage.since < NOTICE_AFTER_MS) return;
    this.#outage.told = true;
    const next = "Everything waits until it is back: check that the server runs.";
    this.#onNotice(`${this.name} has not been reachable for over a second (${messageOf(error)}). ${next}`);
  }

  /** One transaction. It leaves a mark, so that its outcome can be found out when the answer to COMMIT is lost. */
  async #attempt<T>(work: Work<T>, marked: boolean): Promise<Attempt<T>> {
    const connected = await this.#connect();
    if ("again" in connected) return connected;
    const client = connected.value;
    const mark = this.#marks.take();
    let done: { readonly value: T } | undefined;
    let wrote = false;
    try {
      await client.query(marked ? mark.begin : "BEGIN");
      const value = await runAsync(work(this.#db), async (compiled) => {
        const found = await query(client, compiled);
        wrote ||= found.wrote;
        return found;
      });
      done = { value };
      if (wrote) this.#seams.beforeCommit?.();
      // Where nothing was written there is nothing to sync either.
      await client.query(wrote ? "COMMIT" : "ROLLBACK");
    } catch (error) {
      const again = await this.#giveBack(client, error);
      if (done !== undefined && !wrote) return done;
      if (!again) throw explainPostgres(error, this.name);
      const committing = done !== undefined && marked && isLost(error);
      return committing && done && (await this.#committed(mark)) ? done : { again: error };
    } finally {
      this.#marks.free(mark);
    }
    client.release();
    if (wrote) this.#seams.afterCommit?.();
    return done;
  }

  /** Of one moment, whatever is committed between its queries. */
  async #attemptRead<T>(work: Work<T>): Promise<Attempt<T>> {
    const connected = await this.#connect();
    if ("again" in connected) return connected;
    const client = connected.value;
    try {
      await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
      const value = await runAsync(work(this.#db), (compiled) => query(client, compiled));
      // Nothing hangs on how it ends, so nobody waits for it.
      client.query("COMMIT").then(
        () => client.release(),
        () => client.release(true),
      );
      return { value };
    } catch (error) {
      if (await this.#giveBack(client, error)) return { again: error };
      throw explainPostgres(error, this.name);
    }
  }

  async #connect(): Promise<Attempt<pg.PoolClient>> {
    if (this.#pool === undefined) throw this.#unusable();
    try {
      return { value: await this.#pool.connect() };
    } catch (error) {
      if (isLost(error) && !isHopeless(error)) return { again: error };
      throw explainPostgres(error, this.name);
    }
  }

  /** Ends a transaction that failed, and answers whether it may be run again. */
  async #giveBack(client: pg.PoolClient, error: unknown): Promise<boolean> {
    const lost = isLost(error);
    if (lost) client.release(true);
    else
      await client.query("ROLLBACK").then(
        () => client.release(),
        () => client.release(true),
      );
    return (lost && !isHopeless(error)) || isCollision(error);
  }

  /** Whether a transaction of which only the answer was lost has committed. */
  async #committed(mark: Mark): Promise<boolean> {
    const find = { sql: mark.find, parameters: [] };
    const { rows } = await this.#patiently(() => this.#single(find)).catch((error) => {
      throw this.#inDoubt(error);
    });
    const [row] = rows as readonly { mark: string }[]; // as the query names it
    return row?.mark === mark.mark;
  }

  /** One statement, which is a transaction by itself. */
  async #single(compiled: Statement): Promise<Attempt<QueryRows>> {
    const connected = await this.#connect();
    if ("again" in connected) return connected;
    const client = connected.value;
    try {
      const value = await query(client, compiled);
      client.release();
      return { value };
    } catch (error) {
      const lost = isLost(error);
      client.release(lost);
      if ((lost && !isHopeless(error)) || isCollision(error)) return { again: error, sent: lost };
      throw error;
    }
  }

  /**
   * Appends a batch in one statement. When a connection is lost on the way nobody knows whether the rows landed
   * (`unsure`): then the rows themselves are asked, before each further try and again for what that try did not write, as
   * the lost statement may still be under way.
   */
  async #send(entries: readonly CommitEntry[], unsure: boolean): Promise<Map<CommitEntry, boolean | Error>> {
    const landed = new Set<CommitEntry>();
    let doubtful = unsure;
    const look = async () => {
      const missing = entries.filter((entry) => !landed.has(entry));
      if (missing.length === 0) return;
      const found = await this.#patiently(() => this.#single(landedQuery(missing)));
      for (const entry of among(missing, found.rows)) landed.add(entry);
    };
    try {
      await this.#patiently(async () => {
        if (doubtful) await look();
        const missing = entries.filter((entry) => !landed.has(entry));
        if (missing.length === 0) return { value: undefined };
        this.#seams.beforeCommit?.();
        const sent = await this.#single(appendQuery(missing));
        if ("again" in sent) {
          doubtful ||= sent.sent ?? false;
          return sent;
        }
        this.#seams.afterCommit?.();
        for (const entry of among(missing, sent.value.rows)) landed.add(entry);
        return { value: undefined };
      });
    } catch (error) {
      if (doubtful && isClosed(error)) throw this.#inDoubt(error);
      if (doubtful && isDuplicate(error)) await look();
      return this.#apart(entries, landed, error, doubtful);
    }
    if (doubtful) await look();
    return new Map(entries.map((entry) => [entry, landed.has(entry)]));
  }

  /** A batch was refused because of one of its entries: each is sent by itself, so that only that one fails. */
  async #apart(
    entries: readonly CommitEntry[],
    landed: ReadonlySet<CommitEntry>,
    error: unknown,
    unsure: boolean,
  ): Promise<Map<CommitEntry, boolean | Error>> {
    const answers = new Map<CommitEntry, boolean | Error>();
    for (const entry of entries) {
      if (landed.has(entry)) answers.set(entry, true);
      else if (entries.length === 1) answers.set(entry, asError(explainPostgres(error, this.name)));
      else for (const [one, answer] of await this.#send([entry], unsure)) answers.set(one, answer);
    }
    return answers;
  }

  /** The answer is lost, and now nobody can be asked any more. */
  #inDoubt(cause: unknown): StoreError {
    const why = `The answer of ${this.name} to a write was lost, and it could not be asked again (${messageOf(cause)})`;
    const next = "Look whether the write is there before it is made again.";
    return new StoreError(isClosed(cause) ? "closed" : "unavailable", `${why}. ${next}`, {
      cause,
      unknown: true,
    });
  }

  #unusable(cause?: unknown): StoreError {
    const closed = this.#closing.signal.aborted;
    const message = closed
      ? `The store ${this.name} is closed, so this was not done. Make another one to go on.`
      : `The store ${this.name} is not open. Call open() and wait for it first.`;
    return new StoreError("closed", message, { cause });
  }
}

function isClosed(error: unknown): boolean {
  return error instanceof StoreError && error.fault === "closed";
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
