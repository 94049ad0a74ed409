import { execFile } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type CodeBlock, codeBlocks } from "./code-blocks.ts";
import { type Outcome, runPrograms } from "./run-programs.ts";

const root = resolve(import.meta.dirname, "..");
const timeoutMs = 120_000;

interface Snippet extends CodeBlock {
  title: string;
  file: string;
}

// Inside the project, so that `trackside` resolves; not in node_modules, where Node strips no types.
mkdirSync(join(root, ".trackside"), { recursive: true });
const home = mkdtempSync(join(root, ".trackside/docs-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const documents = ["README.md", ...globSync("docs/**/*.md", { cwd: root }).sort()];
const snippets = documents.flatMap((path) => (existsSync(join(root, path)) ? snippetsOf(path) : []));
// These have a test of their own, which provides what they need.
const withServices = ["examples/20-temporal.ts"];
const examples = globSync("examples/[0-9][0-9]-*.ts", { cwd: root })
  .filter((path) => !path.endsWith(".test.ts") && !withServices.includes(path))
  .sort();

function snippetsOf(path: string): Snippet[] {
  return codeBlocks(readFileSync(join(root, path), "utf8"), path).map((block) => {
    const file = join(home, `${path.replaceAll("/", "-")}-${block.line}.ts`);
    // `export {}` makes a module of a block without imports, so that blocks do not see each other's names.
    if (block.use !== "no-run") writeFileSync(file, `${block.code}\nexport {};\n`);
    return { ...block, file, title: `${path}:${block.line}` };
  });
}

test("the README shows code that runs, and there are examples", () => {
  expect(snippets.filter(({ title, use }) => title.startsWith("README.md") && use === "run")).not.toEqual([]);
  expect(examples).not.toEqual([]);
});

describe("each program ends by itself, with no API key and no error", () => {
  const programs = [
    ...examples.map((path) => ({ title: path, file: join(root, path) })),
    ...snippets.filter(({ use }) => use === "run"),
  ];
  let outcomes: ReadonlyMap<string, Outcome>;
  beforeAll(async () => {
    outcomes = await runPrograms(
      programs.map(({ file }) => file),
      { timeoutMs },
    );
  }, 600_000);

  test.each(programs)("$title", ({ file }) => {
    expect(outcomes.get(file)).toEqual({ output: expect.any(String) });
  });
});

test("code in the documents type-checks", { timeout: 300_000 }, async () => {
  const config = { extends: join(root, "tsconfig.json"), include: ["*.ts"], exclude: [] };
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify(config));
  if (snippets.every(({ use }) => use === "no-run")) return;
  const problems = await new Promise((resolve) => {
    execFile(join(root, "node_modules/.bin/tsc"), ["-p", home], (_, stdout) => resolve(stdout));
  });
  expect(problems).toBe("");
});
