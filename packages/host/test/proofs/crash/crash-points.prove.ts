import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { type Crashes, crashEverywhere } from "../support/crash-everywhere.ts";
import { ProcessLives } from "../support/processes.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

// More than there are processors: a process waits for a timer or a disk now and then.
const AT_ONCE = 4;
/** The first test waits for nearly all of it: thousands of processes, one after the other. */
const PATIENCE_MS = 3_600_000;

describe("X2 X3 a real process killed before and after every durable write", () => {
  const dir = temporaryFolder("crash");
  const lives = new ProcessLives(AT_ONCE);
  const played = new Map<string, Promise<Crashes>>();

  beforeAll(() => {
    // All at once: the processes are kept busy to the last.
    for (const scenario of SCENARIOS) played.set(scenario.name, crashEverywhere(scenario, { lives, dir }));
  });

  afterAll(async () => {
    await Promise.allSettled(played.values());
    await lives.stop();
  });

  for (const { name } of SCENARIOS)
    test(
      name,
      async () => {
        const crashes = await played.get(name);
        expect(crashes?.problems).toEqual([]);
        expect(crashes?.points).toBeGreaterThan(12);
      },
      PATIENCE_MS,
    );
});
