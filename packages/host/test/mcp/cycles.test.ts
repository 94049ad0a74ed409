import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { connectCycles, noneLeft } from "./support/connect-cycles.ts";
import { printedBy } from "./support/program.ts";

// A handle or a listener shows after one cycle. `npm run prove` repeats them often enough for a leak of memory to show.
connectCycles("stdio", 20);
connectCycles("http", 240);

test.for([
  ["floods-stdout", "flood", "flood"],
  ["floods-notifications", "logs", "list-changes", "progress", "strange-progress", "list-changes"],
])("M4 %s: a flood does not fill our memory", { timeout: 120_000 }, async ([fake = "", ...tools]) => {
  const mark = `mark-${randomUUID()}`;
  // As flooded.ts prints.
  const { grownBy, ended } = (await printedBy("flooded", mark, fake, ...tools)) as {
    grownBy: number;
    ended: string[];
  };
  expect(ended.length).toBe(tools.length);
  for (const sentence of ended) expect(sentence).toMatch(/flood/);
  expect(grownBy).toBeLessThan(64 << 20);
  await noneLeft(mark);
});
