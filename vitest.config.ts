import { join } from "node:path";
import { defineConfig } from "vitest/config";
import ServicesSequencer from "./scripts/services/sequencer.ts";
import { makeRunFolder } from "./scripts/testing/run-folder.ts";

makeRunFolder();

// Programs that tests start load the same sources thousands of times: Node keeps what it made of them.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/compiled");

// Workspace packages load from their source, so that no test ever runs against a stale build.
const conditions = ["@trackside/source"];

const FILES = [
  "packages/*/src/**/*.test.{ts,tsx}",
  "packages/*/test/**/*.test.ts",
  "examples/**/*.test.ts",
  "scripts/**/*.test.ts",
];
const TEMPORAL = "packages/temporal/test/**/*.test.ts";
const CLI = "packages/cli/test/**/*.test.ts";
/** Browser tests: few modules of their own over many that they share. */
const WEB = "packages/web/test/**/*.test.ts";
/** Files that change nothing global: hundreds of small ones, which share the modules they load. */
const UNITS = [
  "packages/*/src/**/*.test.{ts,tsx}",
  "packages/core/test/**/*.test.ts",
  "packages/server/test/**/*.test.ts",
];

// The sandbox engine runs the loop in a context of its own, which takes modules in vm.
const EXEC = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];

export default defineConfig({
  resolve: { conditions: [...conditions, "node", "development|production"] },
  ssr: { resolve: { conditions: [...conditions, "node", "development|production"] } },
  test: {
    exclude: ["**/node_modules/**", "**/dist/**"],
    // Threads start faster than processes; what needs a process of its own spawns one.
    pool: "threads",
    // Left to itself, two cores get one worker, though most of the long suites wait rather than work.
    maxWorkers: 3,
    execArgv: EXEC,
    globalSetup: "./scripts/testing/global-setup.ts",
    silent: "passed-only",
    // One line for each file.
    slowTestThreshold: Number.POSITIVE_INFINITY,
    setupFiles: "./scripts/testing/setup.ts",
    // Only what never happens takes this long, also where others are at work.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // A test that passes on the second try hides what CI is there to find.
    retry: 0,
    // Building Temporal takes minutes, where it has to be built: what needs it comes last.
    sequence: { sequencer: ServicesSequencer },
    projects: [
      {
        extends: true,
        test: {
          name: "trackside",
          include: FILES,
          exclude: ["**/node_modules/**", "**/dist/**", TEMPORAL, CLI, WEB, ...UNITS],
        },
      },
      { extends: true, test: { name: "units", include: UNITS, isolate: false } },
      { extends: true, test: { name: "web", include: [WEB], isolate: false } },
      // Temporal's worker brings threads of its own, which do not start in a thread.
      { extends: true, test: { name: "temporal", include: [TEMPORAL], pool: "forks", isolate: false } },
      // Commands run in the test's process, loaded by Node itself: a process they can change the folder of, as it is from source.
      {
        extends: true,
        test: {
          name: "cli",
          include: [CLI],
          pool: "forks",
          isolate: false,
          setupFiles: ["./scripts/testing/setup.ts", "./packages/cli/test/support/setup.ts"],
          execArgv: [...EXEC, `--conditions=${conditions[0]}`],
        },
      },
    ],
    reporters: ["default", "./scripts/testing/summary-reporter.ts"],
  },
});
