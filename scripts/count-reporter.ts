import type { Reporter, TestModule } from "vitest/node";

type RunEnd = Parameters<NonNullable<Reporter["onTestRunEnd"]>>;

/** Prints `N passed, N failed, N skipped` as the very last line, for readers that look no further. */
export default class CountReporter implements Reporter {
  onInit(): void {
    process.once("exit", () => process.stdout.write(`\n${this.line}\n`));
  }

  // Until a run has ended nothing is known to have passed.
  private line = "0 passed, 1 failed, 0 skipped";

  onTestRunEnd(...[modules, unhandledErrors, reason]: RunEnd): void {
    this.line = countLine(modules, unhandledErrors.length, reason);
  }
}

export function countLine(
  modules: readonly TestModule[],
  unhandledErrors: number,
  reason: RunEnd[2],
): string {
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
  return `${passed} passed, ${failed} failed, ${skipped} skipped`;
}
