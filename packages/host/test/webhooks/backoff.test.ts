import fc from "fast-check";
import { expect, test } from "vitest";
import { backoff, retryAfterMs } from "../../src/webhooks/backoff.ts";

const DAY = 24 * 60 * 60 * 1000;

test("waits grow to a day at most and never fall to nothing", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 1000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, random) => {
        const wait = backoff(attempts, () => random);
        expect(wait).toBeGreaterThanOrEqual(2500);
        expect(wait).toBeLessThanOrEqual(DAY);
        expect(backoff(attempts + 1, () => random)).toBeGreaterThanOrEqual(wait);
      },
    ),
  );
  expect([1, 2, 3, 20].map((n) => backoff(n, () => 1))).toEqual([5000, 10_000, 20_000, DAY]);
});

test("a receiver may ask for more time, up to a day", () => {
  expect(backoff(1, () => 0, retryAfterMs("60", 0))).toBe(60_000);
  expect(backoff(1, () => 0, retryAfterMs("99999999", 0))).toBe(DAY);
  expect(retryAfterMs(new Date(90_000).toUTCString(), 30_000)).toBe(60_000);
  for (const odd of [undefined, "", "soon", "-5", "1e9"])
    expect(backoff(1, () => 0, retryAfterMs(odd, Date.now()))).toBe(2500);
});
