import { TracksideError } from "trackside";
import type { Connection } from "./connection.ts";
import type { Pool } from "./pool.ts";
import type { ServerConfig } from "./server-config.ts";
import type { Listing } from "./tool-listing.ts";

/** A run's hold on one server: a connection of its own, replaced by a new one when it breaks. */
export class Lease {
  readonly config: ServerConfig;
  readonly #pool: Pool;
  readonly #learned: (listing: Listing) => void;
  #connection: Connection | undefined;
  #opening: Promise<Connection> | undefined;
  #released = false;

  constructor(config: ServerConfig, pool: Pool, learned: (listing: Listing) => void) {
    this.config = config;
    this.#pool = pool;
    this.#learned = learned;
  }

  /** The connection, with its tools as they are now. Several calls that find it broken wait for one new one. */
  async ready(signal?: AbortSignal): Promise<Connection> {
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return await abortable(this.#opening, signal);
  }

  /** Whether the last call went well, for when the server is to be tried again. */
  report(well: boolean): void {
    const backoff = this.#pool.backoff(this.config);
    if (well) backoff.succeeded();
    else backoff.failed();
  }

  release(): void {
    this.#released = true;
    const held = this.#connection;
    this.#connection = undefined;
    if (held !== undefined) this.#pool.giveBack(held);
  }

  async #open(): Promise<Connection> {
    if (this.#released)
      throw new TracksideError(
        "mcp_unavailable",
        `The run that had the MCP server "${this.config.name}" is over`,
      );
    const held = await this.#held();
    if (held !== undefined) return held;
    const connection = await this.#pool.take(this.config);
    this.#learned(connection.listing);
    // Whoever waits for it may use it once more; a run that is over gives it back at once.
    if (this.#released) this.#pool.giveBack(connection);
    else this.#connection = connection;
    return connection;
  }

  /** The connection we have, if it still works. */
  async #held(): Promise<Connection | undefined> {
    const held = this.#connection;
    if (held?.alive !== true) return undefined;
    try {
      this.#learned(await held.refreshed());
      return held;
    } catch {
      if (this.#connection === held) this.#connection = undefined;
      this.#pool.discard(held);
      return undefined;
    }
  }
}

/** Waits for something that goes on without us when we stop waiting. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await promise;
  promise.catch(() => undefined);
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}
