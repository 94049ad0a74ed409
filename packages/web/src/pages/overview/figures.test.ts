import { expect, test } from "vitest";
import { totalsOf, verdictNames, verdictOfNow } from "./figures.ts";
import { presetOf, rangeOf } from "./range.ts";

const bucket = (given: object = {}) => ({
  from: 0,
  to: 1,
  runs: 0,
  completed: 0,
  errors: 0,
  cancelled: 0,
  input_tokens: 0,
  output_tokens: 0,
  cost: 0,
  latency_p50_ms: null,
  latency_p95_ms: null,
  verdicts: {},
  ...given,
});

test("totals add up, and an unpriced part leaves the cost unknown", () => {
  const priced = bucket({ runs: 3, errors: 1, input_tokens: 10, output_tokens: 5, cost: 0.5 });
  expect(totalsOf([priced, bucket({ runs: 1, cost: 0.25, verdicts: { skip: 2 } })])).toEqual({
    runs: 4,
    errors: 1,
    errorRate: 0.25,
    tokens: 15,
    cost: 0.75,
    verdicts: 2,
  });
  expect(totalsOf([priced, bucket({ cost: null })]).cost).toBeNull();
  expect(totalsOf([bucket()]).errorRate).toBeNull();
});

test("verdicts are named by how often they were said", () => {
  expect(
    verdictNames([bucket({ verdicts: { skip: 1, ask: 2 } }), bucket({ verdicts: { skip: 4 } })]),
  ).toEqual(["skip", "ask"]);
});

test("what is wrong is said first, or that nothing is", () => {
  const now = { running: 2, waiting: 0, parked: 0, pending_approvals: 0 };
  const stats = { from: 0, to: 1, buckets: [], now };
  expect(verdictOfNow(stats, 0)).toBe("Nothing is wrong.");
  expect(verdictOfNow({ ...stats, now: { ...now, parked: 1, pending_approvals: 2 } }, 1)).toBe(
    "1 run parked: somebody has to look. 2 approvals waiting for somebody. 1 run failed in this time.",
  );
});

test("a range is the last day, a preset of the URL, or what was dragged over a plot", () => {
  expect(rangeOf({}, 100_000_000)).toEqual({ from: 13_600_000, to: 100_000_000 });
  expect(rangeOf({ range: "1h" }, 100_000_000)).toEqual({ from: 96_400_000, to: 100_000_000 });
  expect(rangeOf({ range: "1h", from: "5", to: "9" }, 100)).toEqual({ from: 5, to: 9 });
  expect(presetOf({ from: "5", to: "9" })).toBeUndefined();
  expect(presetOf({ range: "nonsense" })).toBe("24h");
});
