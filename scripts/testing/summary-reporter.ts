import { readFileSync } from "node:fs";
import { relative } from "node:path";
import type { Reporter, TestModule, Vitest } from "vitest/node";
import { runLog } from "./run-log.ts";

type RunEnd = Parameters<NonNullable<Reporter["onTestRunEnd"]>>;

/** Lines of the run's log that are printed when a test failed. */
const LOG_LINES = 200;

/**
 * Ends a run with a table of the time each part took and, as the very last line, `N passed, N failed, N skipped`. A run
 * with failures also prints the end of the run's log.
 */
export default class SummaryReporter implements Reporter {
  #root = "";
  #table = "";
  #log = "";
  // Until a run has ended nothing is known to have passed.
  #counts: Counts = { passed: 0, failed: 1, skipped: 0 };

  onInit({ config }: Vitest): void {
    this.#root = config.root;
    // After services have stopped, so that their CPU time counts and a failed teardown shows.
    process.once("exit", (code) => {
      const { passed, failed, skipped } = this.#counts;
      const atLeast = code === 0 ? failed : Math.max(failed, 1);
      process.stdout.write(
        `${this.#log}${this.#table}${cpuLine()}\n${passed} passed, ${atLeast} failed, ${skipped} skipped\n`,
      );
    });
  }

  onTestRunEnd(...[modules, unhandledErrors, reason]: RunEnd): void {
    this.#counts = count(modules, unhandledErrors.length, reason);
    this.#table = table(partsOf(modules, this.#root));
    if (this.#counts.failed > 0) this.#log = endOfLog();
  }
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

function count(modules: readonly TestModule[], unhandledErrors: number, reason: RunEnd[2]): Counts {
  let passed = 0;
  let failed = unhandledErrors;
  let skipped = 0;
  for (const module of modules) {
    // A file that fails to import, or a hook that throws, has no failed test to show for it.
    if (module.errors().length > 0) failed++;
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) failed++;
    for (const test of module.children.allTests()) {
      const { state } = test.result();
      if (state === "passed") passed++;
      else if (state === "skipped") skipped++;
      else failed++;
    }
  }
  if (reason !== "passed" && failed === 0) failed = 1;
  return { passed, failed, skipped };
}

interface Part {
  files: number;
  tests: number;
  seconds: number;
}

/** A folder of tests, or all unit tests of a package, which are many and short. */
function partOf(path: string): string {
  const folders = path.split("/").slice(0, -1);
  const depth = folders[2] === "src" ? 3 : 4;
  return folders.slice(0, depth).join("/");
}

function partsOf(modules: readonly TestModule[], root: string): ReadonlyMap<string, Part> {
  const parts = new Map<string, Part>();
  for (const module of modules) {
    const name = partOf(relative(root, module.moduleId).replaceAll("\\", "/"));
    const part = parts.get(name) ?? { files: 0, tests: 0, seconds: 0 };
    const { collectDuration, setupDuration, duration } = module.diagnostic();
    part.files += 1;
    part.tests += [...module.children.allTests()].length;
    part.seconds += (collectDuration + setupDuration + duration) / 1000;
    parts.set(name, part);
  }
  return parts;
}

/** Parts by time, longest first. Files run beside each other, so that the times add up to more than the run took. */
function table(parts: ReadonlyMap<string, Part>): string {
  const rows = [...parts].toSorted(([, a], [, b]) => b.seconds - a.seconds);
  const width = Math.max(4, ...rows.map(([name]) => name.length));
  const line = (name: string, ...cells: readonly string[]) =>
    `${name.padEnd(width)}${cells.map((cell) => cell.padStart(9)).join("")}\n`;
  const all = rows.reduce((sum, [, part]) => sum + part.seconds, 0);
  return [
    `\n${line("part", "files", "tests", "seconds")}`,
    ...rows.map(([name, { files, tests, seconds }]) =>
      line(name, String(files), String(tests), seconds.toFixed(1)),
    ),
    line("all", "", "", all.toFixed(1)),
  ].join("");
}

/** CPU time of this process, its threads, and the child processes that have ended. */
function cpuLine(): string {
  const { user, system } = process.cpuUsage();
  const seconds = Math.round((user + system) / 1e6 + childSeconds());
  const wall = Math.round(process.uptime());
  return `took ${minutes(wall)}, ${minutes(seconds)} of CPU time\n`;
}

const minutes = (seconds: number) => `${Math.floor(seconds / 60)} min ${seconds % 60} s`;

function childSeconds(): number {
  try {
    // After the command in parentheses: state is field 3, cutime and cstime are fields 16 and 17, in ticks of 10 ms.
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return 0; // not Linux
  }
}

function endOfLog(): string {
  try {
    const lines = readFileSync(runLog(), "utf8").trimEnd().split("\n");
    return `\nend of the run's log:\n${lines.slice(-LOG_LINES).join("\n")}\n`;
  } catch {
    return ""; // nothing was logged
  }
}
