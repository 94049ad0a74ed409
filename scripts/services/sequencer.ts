import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { hasChromium } from "./chromium.ts";
import { durations } from "./durations.ts";
import { findTemporal } from "./temporal-program.ts";

/** What takes minutes to have where it is missing: its name in test files, and how it is looked for and had. */
const SLOW = [
  {
    name: "temporalServer",
    isThere: () => findTemporal() !== undefined,
    provide: "provideTemporal",
    from: "temporal-program.ts",
  },
  { name: "sharedChromium", isThere: hasChromium, provide: "provideChromium", from: "chromium.ts" },
];

/**
 * Where Temporal has to be built first, or a browser installed, that begins at once and the files that need it come last,
 * so that it happens beside all others. Of the rest the longest come first, whatever project they are of: else a worker is
 * left alone with one of them at the end.
 */
export default class ServicesSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = longestFirst(await super.sort(files), this.ctx.config.root);
    const waiting = new Set<TestSpecification>();
    for (const { name, provide, from } of SLOW.filter((service) => !service.isThere())) {
      const needing = sorted.filter(({ moduleId }) => needs(name, moduleId));
      if (needing.length > 0) beginToProvide(provide, from);
      for (const file of needing) waiting.add(file);
    }
    return [...sorted.filter((file) => !waiting.has(file)), ...waiting];
  }
}

/** Those that are not known to be long stay in the order they are in. */
function longestFirst(files: readonly TestSpecification[], root: string): TestSpecification[] {
  const known = durations();
  const seconds = ({ moduleId }: TestSpecification) =>
    known.get(relative(root, moduleId).replaceAll(sep, "/")) ?? 0;
  return files.toSorted((a, b) => seconds(b) - seconds(a));
}

/** Whether a test file, or what it imports by a relative path, names the service. */
export function needs(service: string, file: string, seen = new Set<string>()): boolean {
  if (seen.has(file)) return false;
  seen.add(file);
  const text = read(file);
  if (text.includes(service)) return true;
  return (
    [...text.matchAll(/\bfrom "(\.{1,2}\/[^"]+\.ts)"/g)]
      .map(([, path = ""]) => resolve(dirname(file), path))
      // Every suite imports these; only its own text says which of them it wants.
      .some((path) => dirname(path) !== import.meta.dirname && needs(service, path, seen))
  );
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // vitest says so, and better
  }
}

/** In a process of its own, which nothing here waits for and which ends with us: its input is a pipe from us. */
function beginToProvide(provide: string, module: string): void {
  const code = `
    process.stdin.on("end", () => process.exit()).resume();
    const { ${provide} } = await import(${JSON.stringify(join(import.meta.dirname, module))});
    await ${provide}();
    process.exit();
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  child.on("error", () => {}); // then the suites provide it themselves
  child.stdin.on("error", () => {});
  child.unref();
}
