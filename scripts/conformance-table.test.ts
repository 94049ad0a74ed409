import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { behaviour, behavioursFor, type ConformanceSuite, engineSuite } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { conformancePage, section, suites } from "./conformance-table.ts";

const root = join(import.meta.dirname, "..");

test("docs/conformance.md is up to date", () => {
  expect(readFileSync(join(root, "docs/conformance.md"), "utf8")).toBe(conformancePage());
});

describe.each(suites)("$title", (suite) => {
  test("every behaviour has a title of its own and an area", () => {
    const titles = suite.behaviours.map(({ title }) => title);
    expect(titles.filter((title, i) => titles.indexOf(title) !== i)).toEqual([]);
    expect(suite.behaviours.filter(({ tags }) => tags.length === 0)).toEqual([]);
  });

  test("the order of the behaviours changes no coverage", () => {
    const orders = [suite.behaviours.toReversed(), suite.behaviours.toSorted(byTitle)];
    for (const engine of suite.engines)
      for (const behaviours of orders) {
        const selected = behavioursFor({ ...suite, behaviours }, engine);
        expect(titlesOf(selected)).toEqual(titlesOf(behavioursFor(suite, engine)));
      }
  });

  test("every empty cell has a reason, and every exception empties a cell", () => {
    for (const { tag, engines, reason } of suite.exceptions) {
      expect(reason).toMatch(/^[A-Z].{20,}\.$/);
      expect(suite.behaviours.filter(({ tags }) => tags.includes(tag))).not.toEqual([]);
      expect(engines.filter((engine) => !suite.engines.includes(engine))).toEqual([]);
    }
  });

  test("every behaviour runs on at least one engine", () => {
    const run = new Set(suite.engines.flatMap((engine) => titlesOf(behavioursFor(suite, engine))));
    expect(suite.behaviours.filter(({ title }) => !run.has(title))).toEqual([]);
  });
});

test("every engine of the engine suite has a test file that runs its behaviours", () => {
  const files = globSync("packages/*/test/**/conformance.test.ts", { cwd: root });
  const code = files.map((file) => readFileSync(join(root, file), "utf8")).join("\n");
  for (const engine of engineSuite.engines)
    expect(code).toContain(`behavioursFor(engineSuite, ${JSON.stringify(engine)})`);
});

test("an exception leaves a numbered cell and its reason below the table", () => {
  const check = async () => {};
  const suite: ConformanceSuite = {
    title: "Sample",
    engines: ["local", "temporal"],
    behaviours: [behaviour("A | B", ["area"], check), behaviour("C", ["area", "clock"], check)],
    exceptions: [{ tag: "clock", engines: ["temporal"], reason: "Its server has the clock." }],
  };
  expect(section(suite)).toBe(
    [
      "## Sample",
      "",
      "| behaviour | local | Temporal |",
      "| --- | :-: | :-: |",
      "| **area** |  |  |",
      "| A \\| B | ✓ | ✓ |",
      "| C | ✓ | (1) |",
      "",
      "1. Its server has the clock.",
      "",
    ].join("\n"),
  );
});

test("a known defect leaves a cross; its check fails in another way than the known one, and once it is fixed", async () => {
  let error: Error | undefined = new Error("it should have been refused");
  const check = async () => {
    if (error !== undefined) throw error;
  };
  const suite: ConformanceSuite = {
    title: "Sample",
    engines: ["local"],
    behaviours: [behaviour("A", ["area"], check)],
    exceptions: [{ tag: "area", engines: ["local"], reason: "It is not refused.", fails: /refused/ }],
  };
  expect(section(suite)).toContain("| A | ✗ (1) |");
  const [known] = behavioursFor(suite, "local");
  await known?.check(() => expect.unreachable());
  error = new Error("the server is away");
  await expect(known?.check(() => expect.unreachable())).rejects.toThrow("the server is away");
  error = undefined;
  await expect(known?.check(() => expect.unreachable())).rejects.toThrow("remove its exception");
});

function titlesOf(behaviours: readonly { title: string }[]): readonly string[] {
  return behaviours.map(({ title }) => title).sort();
}

function byTitle(a: { title: string }, b: { title: string }): number {
  return a.title < b.title ? -1 : 1;
}
