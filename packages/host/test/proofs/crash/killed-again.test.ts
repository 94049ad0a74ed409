import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { type CrashAt, crashEverywhere } from "../support/crash-everywhere.ts";
import { Workers } from "../support/workers.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

const PATIENCE_MS = 900_000;
/** As many durable writes as a process makes that takes a short run up and ends it. */
const RECOVERY_WRITES = 8;
/** With this every pair of points is played, of every scenario. It takes an hour or so. */
const isThorough = process.env["TRACKSIDE_CRASH_ALL"] === "1";
const PLAYED = [
  "rails after a tool that happens once",
  "approve, reject and edit",
  "sub-agents beside each other, with tools that happen once",
];

/** A second point for each first one: another every time, so that all of them have their turn. */
function again({ n, when }: CrashAt): readonly CrashAt[] {
  const every = Array.from({ length: RECOVERY_WRITES }, (_, i) => i + 1);
  if (isThorough)
    return every.flatMap((m) => [{ n: m, when: "before" } as const, { n: m, when: "after" } as const]);
  return [{ n: 1 + ((n * 3) % RECOVERY_WRITES), when: when === "before" ? "after" : "before" }];
}

describe("X2 X3 killed again while it is taken up", () => {
  const dir = mkdtempSync(join(tmpdir(), "trackside-killed-again-"));
  const workers = new Workers(4);

  afterAll(async () => {
    await workers.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  for (const scenario of SCENARIOS.filter(({ name }) => isThorough || PLAYED.includes(name))) {
    test(
      scenario.name,
      async () => {
        const { problems, points, deaths } = await crashEverywhere(scenario, { workers, dir, again });
        expect(problems).toEqual([]);
        expect(deaths).toBeGreaterThan(points); // some died twice
      },
      PATIENCE_MS,
    );
  }
});
