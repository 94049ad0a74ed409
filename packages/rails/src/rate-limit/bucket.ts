/** So many calls in so much time, some of them at once. */
export interface Rate {
  readonly calls: number;
  readonly perMs: number;
  readonly burst: number;
}

interface Bucket {
  /** When it would be full again; in the past it is full. */
  fullAt: number;
  /** Who waits, and until when: their place is taken already. */
  readonly waiting: Map<string, number>;
}

/** Above this, what is idle is forgotten. */
const MANY = 1_000;

/**
 * Token buckets by key, for the whole process. Who comes too early gets the next free place and is told how long to wait,
 * so that everybody is served in order and nobody has to try twice.
 */
export class Buckets {
  readonly #buckets = new Map<string, Bucket>();

  /** How long to wait for a place; 0 when there was one. With `longest`, nobody waits longer: undefined, and no place is taken. */
  take(
    wanted: readonly { readonly key: string; readonly rate: Rate }[],
    who: string,
    now: number,
    longest: number,
  ): number | undefined {
    if (this.#buckets.size > MANY) this.#forget(now);
    const places = wanted.map(({ key, rate }) => this.#place(key, rate, who, now));
    const wait = Math.max(0, ...places.map(({ at }) => at - now));
    if (wait > longest) return undefined;
    for (const { bucket, at, fullAt } of places) {
      bucket.fullAt = fullAt;
      if (wait > 0) bucket.waiting.set(who, at);
      else bucket.waiting.delete(who);
    }
    return wait;
  }

  #place(key: string, { calls, perMs, burst }: Rate, who: string, now: number) {
    let bucket = this.#buckets.get(key);
    if (bucket === undefined) {
      bucket = { fullAt: now, waiting: new Map() };
      this.#buckets.set(key, bucket);
    }
    const held = bucket.waiting.get(who);
    if (held !== undefined) return { bucket, at: held, fullAt: bucket.fullAt };
    const interval = perMs / calls;
    const fullAt = Math.max(now, bucket.fullAt) + interval;
    return { bucket, at: Math.max(now, fullAt - burst * interval), fullAt };
  }

  /** A full bucket is as good as none, and whoever has not come for a place by then will not. */
  #forget(now: number): void {
    for (const [key, bucket] of this.#buckets) {
      for (const [who, at] of bucket.waiting) if (at < now - LATE_MS) bucket.waiting.delete(who);
      if (bucket.fullAt <= now && bucket.waiting.size === 0) this.#buckets.delete(key);
    }
  }
}

const LATE_MS = 60_000;
