import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Crashes, crashEverywhere } from "../support/crash-everywhere.ts";
import { Workers } from "../support/workers.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

// More than there are processors: a process waits for a timer or a disk now and then.
const AT_ONCE = 4;
/** The first of them waits for nearly all of it: hundreds of processes, one after the other. */
const PATIENCE_MS = 1_200_000;

describe("X2 X3 killed before and after every durable write", () => {
  const dir = mkdtempSync(join(tmpdir(), "trackside-crash-"));
  const workers = new Workers(AT_ONCE);
  const played = new Map<string, Promise<Crashes>>();

  beforeAll(() => {
    // All at once: the processes are kept busy to the last.
    for (const scenario of SCENARIOS) played.set(scenario.name, crashEverywhere(scenario, { workers, dir }));
  });

  afterAll(async () => {
    await Promise.allSettled(played.values());
    await workers.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  for (const { name } of SCENARIOS) {
    test(
      name,
      async () => {
        const crashes = await played.get(name);
        expect(crashes?.problems).toEqual([]);
        expect(crashes?.points).toBeGreaterThan(12); // it did die, and often
      },
      PATIENCE_MS,
    );
  }
});
