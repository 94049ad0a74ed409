import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Scenario } from "./scenario.ts";

const RUNS = 1000;
const HARNESS = join(import.meta.dirname, "../../packages/host/test/proofs/support/random-kills.ts");

/** What the harness of the crash tests answers. It is loaded when it is needed: it builds its programs from source. */
interface Harness {
  randomKills(init: { runs: number; seed: number; dir: string }): Promise<{
    readonly kills: number;
    readonly unknown: number;
    readonly ended: Readonly<Record<string, number>>;
    readonly problems: readonly string[];
  }>;
}

export const kills: Scenario = {
  title: "1,000 runs in a process that is killed every 0.5 to 3 s",
  contestants: ["trackside"],
  once: true,
  metrics: [
    { key: "kills", label: "kills", digits: 0 },
    { key: "unfinished", label: "runs that did not end", digits: 0 },
    { key: "problems", label: "lost, parked or done twice", digits: 0 },
    { key: "unknown", label: "outcomes a human was asked about", digits: 0 },
    { key: "seconds", label: "s in all", digits: 0 },
  ],
  async measure() {
    const dir = mkdtempSync(join(tmpdir(), "trackside-bench-"));
    try {
      const { randomKills }: Harness = await import(HARNESS);
      const start = performance.now();
      const found = await randomKills({ runs: RUNS, seed: 7, dir });
      for (const problem of found.problems) console.error(problem);
      return {
        values: {
          kills: found.kills,
          unfinished: RUNS - (found.ended["completed"] ?? 0),
          problems: found.problems.length,
          unknown: found.unknown,
          seconds: (performance.now() - start) / 1e3,
        },
      };
    } finally {
      rmSync(dir, { recursive: true });
    }
  },
};
