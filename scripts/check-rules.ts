import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { testTitles } from "./test-titles.ts";

/** Suites that other packages run, such as the engine conformance suite, are tests too. */
const testFiles = [
  "packages/*/{src,test}/**/*.{test,prove}.{ts,tsx}",
  "packages/*/src/testing/**/*.ts",
  "packages/*/src/**/conformance/**/*.ts",
  "examples/**/*.test.ts",
];

/**
 * Holds the tests below `root` against docs/contract.md: every rule in its table "Built so far" needs a test that
 * carries its number, and no test may name a rule that is not there. One line per problem.
 */
export function checkRules(root: string): { built: string[]; problems: string[] } {
  const contract = readFileSync(join(root, "docs/contract.md"), "utf8");
  const rules = new Set(firsts(contract, /^- ([A-Z]\d+) /gm));
  const built = firsts(contract, /^\| ([A-Z]\d+) \|/gm);
  const letters = [...new Set([...rules].map((rule) => rule[0]))].join("");
  const mention = new RegExp(`\\b[${letters}]\\d{1,2}\\b`, "g");

  const tested = new Set<string>();
  const problems: string[] = [];
  if (built.length === 0)
    problems.push("docs/contract.md lists no rule as built, so there is nothing to check");
  for (const path of globSync(testFiles, { cwd: root }).sort()) {
    for (const { title, line } of testTitles(path, readFileSync(join(root, path), "utf8"))) {
      for (const [rule] of title.matchAll(mention)) {
        if (rules.has(rule)) tested.add(rule);
        else problems.push(`${path}:${line} names ${rule}, which is not in docs/contract.md: "${title}"`);
      }
    }
  }
  for (const rule of built) {
    if (!rules.has(rule)) problems.push(`docs/contract.md lists ${rule} as built but has no such rule`);
    else if (!tested.has(rule)) problems.push(`${rule} is built but no test title carries its number`);
  }
  return { built, problems };
}

function firsts(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].flatMap((match) => match[1] ?? []);
}

if (import.meta.main) {
  const { built, problems } = checkRules(process.cwd());
  for (const problem of problems) console.error(problem);
  console.log(
    problems.length === 0
      ? `rules: ${built.length} built, each carried by a test`
      : `rules: ${problems.length} problems, ${built.length} rules built`,
  );
  process.exitCode = problems.length === 0 ? 0 : 1;
}
