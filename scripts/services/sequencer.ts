import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { findTemporal } from "./temporal-program.ts";

/**
 * Where Temporal has to be built first, that begins at once and the files that need it come last, so that the build runs
 * beside all others. Everywhere else this is the order of vitest.
 */
export default class ServicesSequencer extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    if (findTemporal() !== undefined) return sorted;
    const waiting = new Set(sorted.filter(({ moduleId }) => needsTemporal(moduleId)));
    if (waiting.size > 0) beginToProvide();
    return [...sorted.filter((file) => !waiting.has(file)), ...waiting];
  }
}

/** Whether a test file, or what it imports by a relative path, names the server. */
export function needsTemporal(file: string, seen = new Set<string>()): boolean {
  if (seen.has(file)) return false;
  seen.add(file);
  const text = read(file);
  if (text.includes("temporalServer")) return true;
  return (
    [...text.matchAll(/\bfrom "(\.{1,2}\/[^"]+\.ts)"/g)]
      .map(([, path = ""]) => resolve(dirname(file), path))
      // Every suite imports these; only its own text says which of them it wants.
      .some((path) => dirname(path) !== import.meta.dirname && needsTemporal(path, seen))
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
function beginToProvide(): void {
  const code = `
    process.stdin.on("end", () => process.exit()).resume();
    const { provideTemporal } = await import(${JSON.stringify(join(import.meta.dirname, "temporal-program.ts"))});
    await provideTemporal();
    process.exit();
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["pipe", "ignore", "inherit"],
  });
  child.on("error", () => {}); // then the suites provide it themselves
  child.stdin.on("error", () => {});
  child.unref();
}
