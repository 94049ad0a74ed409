import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Anchor, anchoredEstimate, correction } from "../../../src/context/anchor.ts";

const tokens = fc.integer({ min: 0, max: 2_000_000 });
const anchors = fc.record<Anchor>({
  reported: fc.integer({ min: 1, max: 2_000_000 }),
  estimated: fc.integer({ min: 1, max: 2_000_000 }),
});

describe("B6 the estimate of the next request", () => {
  it("B6 is what the provider counted, and our estimate of what was added", () => {
    const anchor: Anchor = { reported: 10_000, estimated: 10_000 };
    expect(anchoredEstimate(anchor, { whole: 10_500, added: 500 })).toBe(10_500);
  });

  it("B6 corrects what was added by how far the estimate was off", () => {
    const anchor: Anchor = { reported: 24_000, estimated: 19_000 };
    expect(anchoredEstimate(anchor, { whole: 20_000, added: 1_000 })).toBe(25_250);
  });

  it("B6 does not take for denser text what a provider adds to a small request unseen", () => {
    expect(correction({ reported: 500, estimated: 50 })).toBeLessThan(1.5);
    expect(correction({ reported: 50_000, estimated: 25_000 })).toBeGreaterThan(1.9);
  });

  it("B6 is our own estimate before anything was reported, and where zero was", () => {
    expect(anchoredEstimate(null, { whole: 700, added: null })).toBe(700);
    expect(anchoredEstimate({ reported: 0, estimated: 700 }, { whole: 900, added: 200 })).toBe(900);
    expect(anchoredEstimate({ reported: Number.NaN, estimated: 1 }, { whole: 9, added: 1 })).toBe(9);
  });

  it("B6 after a compaction the anchor is a correction only", () => {
    const anchor: Anchor = { reported: 150_000, estimated: 120_000 };
    const next = anchoredEstimate(anchor, { whole: 20_000, added: null });
    expect(next).toBeGreaterThan(24_000);
    expect(next).toBeLessThan(25_000);
  });

  it("B6 is never below what was counted while a request only grows, and grows with it", () => {
    fc.assert(
      fc.property(anchors, tokens, tokens, (anchor, whole, added) => {
        const next = anchoredEstimate(anchor, { whole, added });
        expect(next).toBeGreaterThanOrEqual(anchor.reported);
        expect(next).toBeLessThanOrEqual(anchor.reported + 2 * added + 1);
        expect(anchoredEstimate(anchor, { whole, added: added + 1 })).toBeGreaterThanOrEqual(next);
      }),
    );
  });

  it("B6 is whole and within bounds of our own estimate, whatever was reported", () => {
    fc.assert(
      fc.property(fc.option(anchors), tokens, (anchor, whole) => {
        const next = anchoredEstimate(anchor, { whole, added: null });
        expect(Number.isInteger(next)).toBe(true);
        expect(next).toBeGreaterThanOrEqual(whole / 2);
        expect(next).toBeLessThanOrEqual(2 * whole + 1);
      }),
    );
  });

  it("B6 errors do not build up: after every report only the last step is estimated", () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0.6, max: 1.8, noNaN: true }),
        fc.array(fc.integer({ min: 50, max: 5_000 }), { minLength: 2, maxLength: 60 }),
        (density, steps) => {
          let [estimated, anchor]: [number, Anchor | null] = [0, null];
          for (const added of steps) {
            estimated += added;
            const next = anchoredEstimate(anchor, {
              whole: estimated,
              added: anchor === null ? null : added,
            });
            const real = Math.round(estimated * density);
            if (anchor !== null) expect(Math.abs(next - real)).toBeLessThanOrEqual(added + 2);
            anchor = { reported: real, estimated };
          }
        },
      ),
    );
  });
});
