/**
 * How long the longest test files take, so that they start first and no worker is left alone with one at the end. Vitest
 * remembers that by itself, but not in a fresh clone. After a whole `npm test`:
 *
 *     node scripts/services/durations.ts
 */
import { globSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");
const FILE = join(import.meta.dirname, "durations.json");
/** What is shorter fits in anywhere. */
const WORTH_SECONDS = 5;

/** Seconds by path from the root; of some files, the longest. */
export function durations(file = FILE): ReadonlyMap<string, number> {
  return new Map(Object.entries(JSON.parse(readFileSync(file, "utf8")) as Record<string, number>)); // as written below
}

interface VitestResults {
  readonly projects: Readonly<Record<string, { readonly files: Readonly<Record<string, Result>> }>>;
}
interface Result {
  readonly duration: number;
  readonly failed: boolean;
}

/** What vitest remembers of its last runs, as far as it is worth knowing. */
export function longest(results: VitestResults, exists: (path: string) => boolean): Record<string, number> {
  const files = Object.values(results.projects).flatMap((project) => Object.entries(project.files));
  const seconds = files.map(([path, { duration }]) => [path, Math.round(duration / 1000)] as const);
  return Object.fromEntries(
    seconds
      .filter(([path, took]) => took >= WORTH_SECONDS && exists(path))
      .sort(([a, tookA], [b, tookB]) => tookB - tookA || a.localeCompare(b)),
  );
}

if (import.meta.main) {
  const [given] = process.argv.slice(2);
  const [found] =
    given === undefined ? globSync(join(root, "node_modules/.vite/vitest/*/results.json")) : [given];
  if (found === undefined) throw new Error("vitest has no results here: run `npm test` first");
  const exists = (path: string) => statSync(join(root, path), { throwIfNoEntry: false }) !== undefined;
  const worth = longest(JSON.parse(readFileSync(found, "utf8")), exists);
  writeFileSync(FILE, `${JSON.stringify(worth, null, 2)}\n`);
  console.log(`${Object.keys(worth).length} test files take ${WORTH_SECONDS} s or more`);
}
