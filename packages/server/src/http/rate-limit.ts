import { HttpProblem } from "./problem.ts";

/** So many at once, and so many a second after that. */
export interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** So many callers are remembered. Whoever has not come for the longest begins anew, with a full bucket. */
const MAX_CALLERS = 10_000;

/** Token buckets by caller. */
export class RateLimit {
  readonly #rate: Rate;
  readonly #now: () => number;
  readonly #buckets = new Map<string, { left: number; at: number }>();

  constructor(rate: Rate, now: () => number = Date.now) {
    this.#rate = rate;
    this.#now = now;
  }

  /** Takes one, or refuses and says when to come back. */
  take(caller: string): void {
    const { burst, perSecond } = this.#rate;
    const now = this.#now();
    const known = this.#buckets.get(caller);
    const regained = known === undefined ? burst : known.left + ((now - known.at) / 1000) * perSecond;
    const left = Math.min(burst, regained);
    this.#buckets.delete(caller); // the order of the map is the order of the last visits
    this.#buckets.set(caller, { left: left < 1 ? left : left - 1, at: now });
    if (this.#buckets.size > MAX_CALLERS) this.#forgetOldest();
    if (left >= 1) return;
    const seconds = Math.max(1, Math.ceil((1 - left) / perSecond));
    const detail = `Too many requests. Try again in ${seconds} second${seconds === 1 ? "" : "s"}.`;
    throw new HttpProblem(429, "too_many_requests", detail, { retryAfterSeconds: seconds });
  }

  #forgetOldest(): void {
    const [oldest] = this.#buckets.keys();
    if (oldest !== undefined) this.#buckets.delete(oldest);
  }
}
