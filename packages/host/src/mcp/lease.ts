import { TracksideError } from "trackside";
import { abortable } from "./abortable.ts";
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

  /** Whether the server is left alone for now, because it kept failing. */
  get isWaiting(): boolean {
    return this.#connection === undefined && this.#pool.backoff(this.config).isWaiting;
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
    if (this.#released) throw this.#over();
    const held = await this.#held();
    if (held !== undefined) return held;
    const connection = await this.#pool.take(this.config);
    this.#learned(connection.listing);
    if (this.#released) {
      this.#pool.giveBack(connection);
      throw this.#over(); // from here on it may be another run's
    }
    this.#connection = connection;
    return connection;
  }

  #over(): TracksideError {
    return new TracksideError(
      "mcp_unavailable",
      `The run that had the MCP server "${this.config.name}" is over`,
    );
  }

  /** The connection we have, if it still works. */
  async #held(): Promise<Connection | undefined> {
    const held = this.#connection;
    if (held?.alive !== true) return undefined;
    try {
      this.#learned(await held.refreshed());
      if (this.#released) throw this.#over();
      return held;
    } catch {
      if (this.#released) throw this.#over();
      this.#connection = undefined;
      this.#pool.discard(held);
      return undefined;
    }
  }
}
