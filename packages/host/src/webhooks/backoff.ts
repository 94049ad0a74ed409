const FIRST_MS = 5_000;
const MOST_MS = 24 * 60 * 60 * 1000;

/**
 * How long to wait after the n-th attempt: twice as long each time, at most a day, and somewhere in the upper half of that,
 * so that a receiver that comes back is not met by everybody at once. A receiver may ask for more, up to a day.
 */
export function backoff(attempts: number, random: () => number, askedMs = 0): number {
  const most = Math.min(MOST_MS, FIRST_MS * 2 ** Math.min(attempts - 1, 30));
  const wait = most / 2 + (random() * most) / 2;
  return Math.round(Math.min(MOST_MS, Math.max(wait, askedMs)));
}

/** `Retry-After` in milliseconds: seconds, or a date. */
export function retryAfterMs(header: string | undefined, now: number): number {
  if (header === undefined) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
