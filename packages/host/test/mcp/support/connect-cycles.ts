import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { processesWith } from "./processes.ts";
import { printedBy } from "./program.ts";

interface Held {
  readonly resources: string;
  readonly listeners: readonly string[];
  readonly heap: number;
}

/** Waits until every process with the mark has ended. */
export const noneLeft = (mark: string) =>
  vi.waitFor(() => expect(processesWith(mark)).toEqual([]), { timeout: 50_000, interval: 50 });

/** The number of cycles is a multiple of 20: ten run at once, and every second one has a hub of its own. */
export function connectCycles(transport: "stdio" | "http", cycles: number): void {
  test(`M4 ${transport}: ${cycles} times connecting, calling and closing leave no process, handle or listener`, {
    timeout: 300_000,
  }, async () => {
    const mark = `mark-${randomUUID()}`;
    const printed = await printedBy("cycles", transport, mark, String(cycles), "10");
    const { atStart, before, after } = printed as { atStart: string; before: Held; after: Held }; // as cycles.ts prints
    expect(before.resources).toBe(atStart);
    expect(after.resources).toBe(atStart);
    expect(after.listeners).toEqual(before.listeners);
    // 64 kB for each connection: a kept connection holds more.
    expect(after.heap - before.heap).toBeLessThan(Math.max(cycles, 250) << 16);
    await noneLeft(mark);
  });
}
