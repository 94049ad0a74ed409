import { describe, expect, test } from "vitest";
import { checkRules } from "./check-rules.ts";
import { fixture } from "./fixture.ts";

const contract = `
| rule | what is built |
| --- | --- |
| R1 | all |

- R1 one
- R2 two, see R1
- R11 eleven
- E1 event
`;

const check = (text: string, path = "packages/core/src/a.test.ts", doc = contract) =>
  checkRules(fixture({ "docs/contract.md": doc, [path]: text })).problems;

const untested = ["R1 is built but no test title carries its number"];

describe("a rule counts as tested", () => {
  test.each([
    `test("R1 works", () => {})`,
    `it('works (R1)', () => {})`,
    `test(\`R1 in \${engine}\`, () => {})`,
    `test.each([1])("R1 %s", () => {})`,
    `test.each\`a\${1}\`("R1 $a", () => {})`,
    `test.concurrent.for([1])("R1 %s", () => {})`,
    `describe("R1", () => { test("works", () => {}) })`,
    `describe.each(engines)("%s", () => { describe("in", () => { it("R1, E1", () => {}) }) })`,
    `for (const e of engines) if (e) test("R1 works", () => {})`,
  ])("%s", (code) => {
    expect(check(code)).toEqual([]);
  });

  test("in a suite that other packages run", () => {
    expect(check(`behaviour("R1 works", async () => {})`, "packages/core/src/testing/suite.ts")).toEqual([]);
  });
});

describe("a rule counts as untested", () => {
  test.each([
    `test("R11 works", () => {})`,
    `test("XR1 works", () => {})`,
    `// test("R1 works", () => {})`,
    `const said = 'test("R1 works")'; const title = "R1";`,
    `test("works", () => { expect(title, "R1").toBe(1) })`,
    `test.skip("R1 works", () => {})`,
    `test.todo("R1 works")`,
    `describe("R1", () => {})`,
    `describe("R1", () => { test.skip("works", () => {}) })`,
    `describe.skip("all", () => { test("R1 works", () => {}) })`,
  ])("%s", (code) => {
    expect(check(code)).toEqual(untested);
  });

  test("in a file that is no test", () => {
    expect(check(`test("R1 works", () => {})`, "packages/core/src/a.ts")).toEqual(untested);
  });
});

test("a test that names an unknown rule is reported with its place", () => {
  expect(check(`test("R1", () => {});\ntest("R12 and E2 and UTF16", () => {})`)).toEqual([
    'packages/core/src/a.test.ts:2 names R12, which is not in docs/contract.md: "R12 and E2 and UTF16"',
    'packages/core/src/a.test.ts:2 names E2, which is not in docs/contract.md: "R12 and E2 and UTF16"',
  ]);
});

test("a built rule that the contract does not have is reported", () => {
  const doc = `${contract}\n| R3 | all |\n`;
  expect(check(`test("R1", () => {})`, undefined, doc)).toEqual([
    "docs/contract.md lists R3 as built but has no such rule",
  ]);
});

test("an empty table is no pass", () => {
  expect(check("", undefined, "- R1 one")).toEqual([
    "docs/contract.md lists no rule as built, so there is nothing to check",
  ]);
});
