import { randomUUID } from "node:crypto";
import { expect, test, vi } from "vitest";
import { processesWith } from "./support/processes.ts";
import { printedBy } from "./support/program.ts";

interface Held {
  readonly resources: readonly string[];
  readonly listeners: readonly string[];
  readonly heap: number;
}

const noneLeft = (mark: string) =>
  vi.waitFor(() => expect(processesWith(mark)).toEqual([]), { timeout: 50_000, interval: 50 });

test.for([
  ["stdio", "250"],
  ["http", "250"],
] as const)(
  "M4 %s: %s times connecting, calling and closing leave no process, handle or listener",
  {
    timeout: 300_000,
  },
  async ([transport, cycles]) => {
    const mark = `mark-${randomUUID()}`;
    // What the program prints; nobody else writes it.
    const printed = (await printedBy("cycles", transport, mark, cycles, "10")) as {
      before: Held;
      after: Held;
    };
    const { before, after } = printed;
    expect(after.resources).toEqual(before.resources);
    expect(after.listeners).toEqual(before.listeners);
    // A leak of 250 connections would be far more.
    expect(after.heap - before.heap).toBeLessThan(16 << 20);
    await noneLeft(mark);
  },
);

test.for([
  ["floods-stdout", "flood", "flood"],
  ["floods-notifications", "logs", "list-changes", "progress", "strange-progress", "list-changes"],
])("M4 %s: a flood does not fill our memory", { timeout: 120_000 }, async ([fake = "", ...tools]) => {
  const mark = `mark-${randomUUID()}`;
  // As above.
  const { grownBy, ended } = (await printedBy("flooded", mark, fake, ...tools)) as {
    grownBy: number;
    ended: string[];
  };
  expect(ended.length).toBe(tools.length);
  for (const sentence of ended) expect(sentence).toMatch(/flood/);
  expect(grownBy).toBeLessThan(64 << 20);
  await noneLeft(mark);
});
