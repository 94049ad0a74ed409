import { setTimeout as sleep } from "node:timers/promises";

/** Loading it takes a tenth of a second, which is spared everybody who has no Redis. */
export const loadRedis = () => import("redis");

type Redis = Awaited<ReturnType<typeof loadRedis>>;
export type RedisOptions = NonNullable<Parameters<Redis["createClient"]>[0]>;

const CONNECT_MS = 5000;
const MIN_WAIT_MS = 50;
const MAX_WAIT_MS = 2000;

export type Client = ReturnType<typeof makeClient>;

/** What a session does with its connection. It ends by throwing: when a command fails, or when `signal` aborts it. */
export type Session = (client: Client, tools: SessionTools) => Promise<void>;

export interface SessionTools {
  readonly signal: AbortSignal;
  /** To be called when the server has answered. */
  alive(): void;
  /** Whether the server answered with an error: the connection itself is well. */
  isRefusal(error: unknown): boolean;
}

export interface SessionListener {
  onLost(error: unknown): void;
  onAlive(): void;
}

/**
 * Keeps a session with Redis going: when the connection is lost, or never came about, there is a new one after a while.
 * The client's own reconnecting is switched off, since it would wait for ever on a server that accepts and does not answer.
 */
export class RedisSession {
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(options: RedisOptions, session: Session, listener: SessionListener) {
    this.#ended = this.#keep(options, session, listener);
  }

  close(): Promise<void> {
    this.#stop.abort();
    return this.#ended;
  }

  async #keep(options: RedisOptions, session: Session, { onLost, onAlive }: SessionListener): Promise<void> {
    const { signal } = this.#stop;
    let wait = MIN_WAIT_MS;
    const alive = () => {
      wait = MIN_WAIT_MS;
      onAlive();
    };
    while (!signal.aborted) {
      try {
        const redis = await loadRedis();
        const isRefusal = (error: unknown) => error instanceof redis.ErrorReply;
        await withClient(redis, options, signal, (client, lost) =>
          session(client, { signal: lost, alive, isRefusal }),
        );
      } catch (error) {
        if (signal.aborted) return;
        onLost(error);
      }
      // Not all processes at once, when a server comes back.
      await sleep(wait * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
      wait = Math.min(wait * 2, MAX_WAIT_MS);
    }
  }
}

function makeClient(redis: Redis, options: RedisOptions) {
  return redis.createClient({
    ...options,
    RESP: 2,
    maintNotifications: "disabled",
    disableOfflineQueue: true,
    socket: { connectTimeout: CONNECT_MS, ...options.socket, reconnectStrategy: false },
  });
}

/** The connection is gone when this ends, whatever happened. `lost` is aborted when it breaks meanwhile. */
async function withClient(
  redis: Redis,
  options: RedisOptions,
  stop: AbortSignal,
  work: (client: Client, lost: AbortSignal) => Promise<void>,
): Promise<void> {
  const client = makeClient(redis, options);
  const broken = new AbortController();
  client.on("error", (error) => broken.abort(error));
  client.on("end", () => broken.abort(new Error("Redis closed the connection")));
  const lost = AbortSignal.any([stop, broken.signal]);
  try {
    await within(CONNECT_MS, client.connect(), lost);
    await unless(lost, work(client, lost));
  } finally {
    broken.abort(new Error("the session has ended"));
    if (client.isOpen) client.destroy();
  }
}

/** The work, or the reason why it cannot go on, also when it waits for something else just then. */
function unless(lost: AbortSignal, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    lost.addEventListener("abort", () => reject(lost.reason), { once: true });
    work.then(resolve, reject);
  });
}

/** The answer, or an error when it does not come in time: a server that is frozen keeps its connections. */
export function within<T>(ms: number, answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => fail(new Error(`Redis did not answer within ${ms} ms`)), ms);
    const onAbort = () => fail(signal.reason);
    const end = () => {
      clearTimeout(late);
      signal.removeEventListener("abort", onAbort);
    };
    const fail = (error: unknown) => {
      end();
      reject(error);
    };
    signal.addEventListener("abort", onAbort);
    if (signal.aborted) onAbort();
    answer.then((value) => {
      end();
      resolve(value);
    }, fail);
  });
}
