import { TracksideError } from "trackside";
import { Backoff } from "./backoff.ts";
import { Connection, type KnownLegacy, OpenError } from "./connection.ts";
import type { HubSettings } from "./options.ts";
import { redact, type ServerConfig } from "./server-config.ts";

/** More idle connections to one server than this are closed. */
const MAX_IDLE = 8;

/** Connections that no run has, by what they lead to. A run takes one for itself and gives it back. */
export class Pool {
  readonly #settings: HubSettings;
  readonly #idle = new Map<string, Idle[]>();
  readonly #all = new Set<Connection>();
  readonly #opening = new Set<Promise<unknown>>();
  readonly #closing = new Set<Promise<void>>();
  readonly #backoff = new Map<string, Backoff>();
  readonly #legacy: KnownLegacy = new Set();
  readonly #over = new AbortController();

  constructor(settings: HubSettings) {
    this.#settings = settings;
  }

  /** A connection that is open, with its tools as they are now. */
  async take(config: ServerConfig): Promise<Connection> {
    for (let idle = this.#takeIdle(config); idle !== undefined; idle = this.#takeIdle(config)) {
      try {
        await idle.refreshed();
        return idle;
      } catch {
        this.discard(idle); // it died or fell silent while nobody used it
      }
    }
    const opening = this.#open(config);
    this.#opening.add(opening);
    try {
      return await opening;
    } catch (error) {
      throw this.#over.signal.aborted ? closedHub() : unavailable(config, error);
    } finally {
      this.#opening.delete(opening);
    }
  }

  async #open(config: ServerConfig): Promise<Connection> {
    const { signal } = this.#over;
    const backoff = this.backoff(config);
    await backoff.turn(signal);
    try {
      const connection = await Connection.open(config, this.#settings, this.#legacy, signal);
      this.#all.add(connection);
      connection.onClose(() => this.#all.delete(connection));
      return connection;
    } catch (error) {
      backoff.failed();
      throw error;
    }
  }

  /** How a server is doing that is reached over several connections. */
  backoff({ poolKey }: ServerConfig): Backoff {
    const known = this.#backoff.get(poolKey);
    if (known !== undefined) return known;
    const fresh = new Backoff();
    this.#backoff.set(poolKey, fresh);
    return fresh;
  }

  giveBack(connection: Connection): void {
    const { poolKey } = connection.config;
    const idle = this.#idle.get(poolKey) ?? [];
    const wanted =
      connection.clean && !this.#over.signal.aborted && this.#settings.keepMs > 0 && idle.length < MAX_IDLE;
    if (!wanted) {
      this.discard(connection);
      return;
    }
    connection.hold(false);
    const timer = setTimeout(() => {
      this.#remove(poolKey, connection);
      this.discard(connection);
    }, this.#settings.keepMs);
    timer.unref();
    this.#idle.set(poolKey, [...idle, { connection, timer }]);
  }

  /** Closes a connection that nobody shall have any more. */
  discard(connection: Connection): void {
    const closing = connection.close();
    this.#closing.add(closing);
    void closing.finally(() => {
      this.#closing.delete(closing);
      this.#all.delete(connection);
    });
  }

  async close(): Promise<void> {
    this.#over.abort(closedHub());
    for (const { timer } of [...this.#idle.values()].flat()) clearTimeout(timer);
    this.#idle.clear();
    for (const connection of this.#all) this.discard(connection);
    // Those that are only being opened give up; one may just have made it.
    await Promise.allSettled([...this.#opening]);
    for (const connection of this.#all) this.discard(connection);
    await Promise.allSettled([...this.#closing]);
  }

  #takeIdle({ poolKey }: ServerConfig): Connection | undefined {
    const found = this.#idle.get(poolKey)?.at(-1);
    if (found === undefined) return undefined;
    clearTimeout(found.timer);
    this.#remove(poolKey, found.connection);
    if (!found.connection.alive) return this.#takeIdle({ poolKey } as ServerConfig);
    found.connection.hold(true);
    return found.connection;
  }

  #remove(poolKey: string, connection: Connection): void {
    const rest = (this.#idle.get(poolKey) ?? []).filter((one) => one.connection !== connection);
    if (rest.length === 0) this.#idle.delete(poolKey);
    else this.#idle.set(poolKey, rest);
  }
}

interface Idle {
  readonly connection: Connection;
  readonly timer: NodeJS.Timeout;
}

export function closedHub(): TracksideError {
  return new TracksideError("mcp_unavailable", "The MCP hub is closed; make a new one");
}

/** A server could not be reached: which, how it was tried, and what it said. */
export function unavailable(config: ServerConfig, error: unknown): TracksideError {
  const { target } = config;
  const tried =
    target.kind === "stdio" ? `started ${JSON.stringify(target.command)}` : `asked ${target.url.origin}`;
  const reason = error instanceof Error ? error.message : String(error);
  const symptoms = error instanceof OpenError ? error.symptoms : [];
  const told = [reason, ...symptoms].map((one) => redact(config, one)).join("; ");
  return new TracksideError(
    "mcp_unavailable",
    `The MCP server "${config.name}" cannot be reached (${tried}): ${told}`,
    { cause: error },
  );
}
