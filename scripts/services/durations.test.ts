import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { durations, longest } from "./durations.ts";

const root = resolve(import.meta.dirname, "../..");

test("the files that are known to be long exist: else run `node scripts/services/durations.ts` after the tests", () => {
  const files = [...durations().keys()];
  expect(files.length).toBeGreaterThan(0);
  expect(files.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test("of what vitest remembers the long ones are kept, longest first, in whole seconds", () => {
  const took = (duration: number) => ({ duration, failed: false });
  const projects = {
    one: { files: { "a.test.ts": took(6400), "b.test.ts": took(10), "gone.test.ts": took(90_000) } },
    two: { files: { "c.test.ts": took(60_200) } },
  };
  const kept = longest({ projects }, (path) => path !== "gone.test.ts");
  expect(Object.entries(kept)).toEqual([
    ["c.test.ts", 60],
    ["a.test.ts", 6],
  ]);
});
