import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { hasChromium } from "./chromium.ts";
import { findTemporal } from "./temporal-program.ts";

/** What takes minutes to have where it is missing: its name in test files, and how it is looked for and had. */
const SLOW = [
  {
    name: "temporalServer",
    isThere: () => findTemporal() !== undefined,
    provide: ["provideTemporal", "temporal-program.ts"],
  },
  { name: "chromiumBrowser", isThere: hasChromium, provide: ["provideChromium", "chromium.ts"] },
] as const;

/**
 * Where Temporal has to be built first, or a browser installed, that begins at once and the files that need it come last,
 * so that it happens beside all others. Everywhere else this is the order of vitest.
 */
export default class ServicesSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const waiting = new Set<TestSpecification>();
    for (const { name, provide } of SLOW.filter((service) => !service.isThere())) {
      const needing = sorted.filter(({ moduleId }) => needs(name, moduleId));
      if (needing.length > 0) beginToProvide(...provide);
      for (const file of needing) waiting.add(file);
    }
    return [...sorted.filter((file) => !waiting.has(file)), ...waiting];
  }
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
