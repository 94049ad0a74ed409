import { describe, expect, test, vi } from "vitest";
import { memoryBus } from "../../src/bus/index.ts";
import { busConformance } from "./conformance.ts";
import { hasType, RUN, text, until, wake } from "./items.ts";

describe("the bus in memory", () => {
  busConformance((limits) => {
    const bus = memoryBus(limits);
    return { into: bus, outOf: bus };
  });

  test("what a run showed is forgotten when nothing happens for long, and its readers know", async () => {
    vi.useFakeTimers();
    try {
      const bus = memoryBus({ ttlMs: 1000 });
      const before = bus.subscribe(RUN);
      bus.publish(RUN, text(0, "a"));
      await before.next();
      await vi.advanceTimersByTimeAsync(3000);
      expect(await before.next()).toEqual({ done: false, value: { type: "gap", run_id: RUN } });
      const late = bus.subscribe(RUN);
      bus.publish(RUN, wake("x"));
      expect(await until(late, hasType("wake"))).toEqual([wake("x")]);
      await bus.close();
    } finally {
      vi.useRealTimers();
    }
  });
});
