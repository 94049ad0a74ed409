import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { expect, test, vi } from "vitest";
import { fixture } from "../fixture.ts";

vi.setConfig({ testTimeout: 300_000 }); // a whole vitest starts, several times

const root = resolve(import.meta.dirname, "../..");

/** The last line that vitest prints for these test files, and its exit code. */
function lastLine(files: Record<string, string>): [string | undefined, number | null] {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const reporter = join(root, "scripts/testing/summary-reporter.ts");
  const args = [vitest, "run", "--globals", "--root", fixture(files)];
  const { stdout, status } = spawnSync(
    process.execPath,
    [...args, "--reporter", "default", "--reporter", reporter],
    { encoding: "utf8" },
  );
  return [stdout.trimEnd().split("\n").at(-1), status];
}

test("the last line counts what passed, failed and was skipped", () => {
  const text = `test("a", () => {}); test("b", () => { throw 1; }); test.skip("c", () => {}); test.todo("d");`;
  expect(lastLine({ "a.test.ts": text })).toEqual(["1 passed, 1 failed, 2 skipped", 1]);
});

test("a file that fails to import, a hook that throws and a stray rejection count as failed", () => {
  const good = `test("a", () => {});`;
  expect(lastLine({ "a.test.ts": good, "b.test.ts": `import "./gone.ts"; ${good}` })).toEqual([
    "1 passed, 1 failed, 0 skipped",
    1,
  ]);
  const hook = `describe("g", () => { beforeAll(() => { throw 1; }); ${good} });`;
  expect(lastLine({ "a.test.ts": hook })).toEqual(["0 passed, 1 failed, 1 skipped", 1]);
  const stray = `test("a", async () => { void Promise.reject(new Error("x")); await new Promise((r) => setTimeout(r, 50)); });`;
  expect(lastLine({ "a.test.ts": stray })).toEqual(["1 passed, 1 failed, 0 skipped", 1]);
});

test("no test file at all counts as failed", () => {
  expect(lastLine({ "a.ts": "" })).toEqual(["0 passed, 1 failed, 0 skipped", 1]);
});
