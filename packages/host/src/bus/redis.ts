import { randomUUID } from "node:crypto";
import { TracksideError } from "trackside";
import { type Bus, type BusItem, type BusLimits, DEFAULT_LIMITS, type Subscription } from "./bus.ts";
import type { Position } from "./cursor.ts";
import { MemoryBus } from "./memory.ts";
import { keysOf } from "./redis-keys.ts";
import { RedisReader } from "./redis-reader.ts";
import { loadRedis, type RedisOptions, RedisSession } from "./redis-session.ts";
import { RedisWriter } from "./redis-writer.ts";

export interface RedisBusOptions extends Partial<BusLimits> {
  /** `redis://[user[:password]@]host[:port][/database]`, or `rediss://` for TLS. */
  readonly url: string;
  /** More options of the `redis` client, such as certificates. */
  readonly client?: RedisOptions;
  /** What all keys begin with: processes see each other when it is the same. */
  readonly prefix?: string;
  /** How long deltas are collected before they are sent. */
  readonly flushMs?: number;
  /** Told once when Redis is lost, and again when it is lost after it was back. The bus goes on by itself. */
  readonly onError?: (error: Error) => void;
}

const CLOSE_MS = 500;

/**
 * A bus across processes, on Redis Streams. Readers in the process that publishes are served from memory, so Redis that is
 * slow or away is noticed by the others only, and they read the store meanwhile.
 */
export function redisBus(options: string | RedisBusOptions): Bus {
  const given = typeof options === "string" ? { url: options } : options;
  checkUrl(given.url);
  return new RedisBus(given);
}

/** A connection that is not there yet will come; one that is written wrongly will not. The URL may hold a password. */
function checkUrl(url: string): void {
  const { protocol } = URL.parse(url) ?? {};
  if (protocol === "redis:" || protocol === "rediss:") return;
  const given = protocol === undefined ? "is no URL" : `begins with "${protocol}//"`;
  throw new TracksideError(
    "bus_url_invalid",
    `The address of Redis ${given}. Give it as redis://[user[:password]@]host[:port][/database], or rediss:// for TLS.`,
  );
}

class RedisBus implements Bus {
  readonly #client: RedisOptions;
  readonly #onError: (error: Error) => void;
  readonly #memory: MemoryBus;
  readonly #writer: RedisWriter;
  readonly #reader: RedisReader;
  #writing: RedisSession | undefined;
  #reading: RedisSession | undefined;
  #troubled = false;
  #closed = false;

  constructor({
    url,
    client,
    prefix = "trackside:",
    flushMs = 5,
    onError = () => {},
    ...limits
  }: RedisBusOptions) {
    this.#client = { ...client, url };
    this.#onError = onError;
    this.#memory = new MemoryBus({ ...DEFAULT_LIMITS, ...limits });
    // Now, not while a run waits for its first delta to be published. If it fails, the sessions report it.
    loadRedis().catch(() => {});
    const id = randomUUID();
    const keys = keysOf(prefix);
    this.#writer = new RedisWriter(this.#memory, keys, { id, flushMs });
    this.#reader = new RedisReader(this.#memory, keys, id);
    this.#memory.onForgotten = (runId) => this.#writer.forget(runId);
  }

  publish(runId: string, item: BusItem): void {
    if (this.#closed) return;
    this.#write();
    this.#memory.publish(runId, item);
    this.#writer.publish(runId, item);
  }

  subscribe(runId: string, from: Position = { seq: 0 }): Subscription {
    if (this.#closed) return this.#memory.subscribe(runId, from);
    const isNew = this.#reader.follow(runId);
    const subscription = this.#memory.read(runId, from, { onClose: () => this.#reader.unfollow(runId) });
    this.#write();
    this.#reading ??= new RedisSession(this.#client, this.#reader.session, {
      onLost: (error) => {
        this.#reader.lose();
        this.#report(error);
      },
      onAlive: () => this.#recover(),
    });
    if (isNew) this.#writer.ring();
    return subscription;
  }

  finish(runId: string): void {
    if (this.#closed) return;
    this.#memory.finish(runId);
    this.#write();
    this.#writer.finish(runId);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#writer.idle(CLOSE_MS);
    await Promise.all([this.#writing?.close(), this.#reading?.close()]);
    await this.#memory.close();
  }

  #write(): void {
    this.#writing ??= new RedisSession(this.#client, this.#writer.session, {
      onLost: (error) => this.#report(error),
      onAlive: () => this.#recover(),
    });
  }

  #report(error: unknown): void {
    if (this.#troubled) return;
    this.#troubled = true;
    try {
      this.#onError(error instanceof Error ? error : new Error(String(error)));
    } catch {
      // Whoever listens for trouble must not make more of it.
    }
  }

  #recover(): void {
    this.#troubled = false;
  }
}
