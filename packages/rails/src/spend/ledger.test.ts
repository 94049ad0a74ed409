import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Ledger } from "./ledger.ts";

/** Counters of a run tree, as an engine keeps them. */
function counters() {
  const used = new Map<string, number>();
  const reserve = async (counter: string, n: number, max: number) => {
    await Promise.resolve();
    const before = used.get(counter) ?? 0;
    const granted = before + n <= max;
    if (granted) used.set(counter, before + n);
    return { granted, used: granted ? before + n : before, max };
  };
  return { reserve, used };
}

test("of 50 runs of one tree that call at the same time exactly those are let through that fit", async () => {
  const { reserve, used } = counters();
  const ledger = new Ledger("spend", { tokens: 1_000, cost: 5_000 });
  const runs = Array.from({ length: 50 }, (_, i) => ({ runId: `run${i}`, reserve }));
  const refusals = await Promise.all(runs.map((run) => ledger.open(run, { tokens: 100, cost: 1 })));
  expect(refusals.filter((refusal) => refusal === undefined)).toHaveLength(10);
  expect(used.get("spend/tokens")).toBe(1_000);
  expect(used.get("spend/cost")).toBe(10);
  await Promise.all(runs.map((run) => ledger.settle(run, {})));
  expect([...used.values()].every((left) => left === 0)).toBe(true);
});

test("whatever happens to the calls, the ledger ends with what was spent and is never overdrawn by estimates", async () => {
  const call = fc.record({
    run: fc.integer({ min: 0, max: 4 }),
    estimate: fc.record({ tokens: fc.integer({ min: 1, max: 300 }), cost: fc.integer({ min: 0, max: 300 }) }),
    ends: fc.constantFrom("settled", "failed", "lost", "unreported"),
    factor: fc.integer({ min: 0, max: 100 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 30 }), async (calls) => {
      const { reserve, used } = counters();
      const limits = { tokens: 1_000, cost: 800 };
      const ledger = new Ledger("spend", limits);
      const spent = { tokens: 0, cost: 0 };
      for (const { run, estimate, ends, factor } of calls) {
        const ctx = { runId: `run${run}`, reserve };
        const refused = (await ledger.open(ctx, estimate)) !== undefined;
        expect(used.get("spend/tokens") ?? 0).toBeLessThanOrEqual(limits.tokens);
        expect(used.get("spend/cost") ?? 0).toBeLessThanOrEqual(limits.cost);
        if (refused || ends === "lost") continue;
        const really = {
          tokens: Math.floor((estimate.tokens * factor) / 100),
          cost: Math.floor((estimate.cost * factor) / 100),
        };
        if (ends === "settled") await ledger.settle(ctx, really);
        if (ends === "failed") await ledger.settle(ctx, {});
        if (ends === "unreported") await ledger.keep(ctx);
        const counted = { settled: really, failed: { tokens: 0, cost: 0 }, unreported: estimate }[ends];
        spent.tokens += counted.tokens;
        spent.cost += counted.cost;
      }
      for (let run = 0; run < 5; run++) await ledger.settle({ runId: `run${run}`, reserve }, {});
      expect(used.get("spend/tokens") ?? 0).toBe(spent.tokens);
      expect(used.get("spend/cost") ?? 0).toBe(spent.cost);
    }),
  );
});
