import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { randomKills } from "../support/random-kills.ts";
import "../support/patience.ts";

const PATIENCE_MS = 900_000;
const places: string[] = [];

function place(): string {
  const dir = mkdtempSync(join(tmpdir(), "trackside-kills-"));
  places.push(dir);
  return dir;
}

afterAll(() => {
  for (const dir of places) rmSync(dir, { recursive: true, force: true });
});

describe("X2 X3 killed every 0.5 to 3 seconds, all runs end and nothing happens twice", () => {
  for (const { title, ...given } of [
    { title: "300 runs in one process at a time", runs: 300, seed: 5 },
    { title: "100 runs in two processes, each killed apart", runs: 100, seed: 6, processes: 2 },
  ]) {
    test(
      title,
      async () => {
        const { kills, ended, unknown, problems } = await randomKills({ ...given, dir: place() });
        expect(problems).toEqual([]);
        expect(ended).toEqual({ completed: given.runs });
        expect(kills).toBeGreaterThan(2);
        expect(unknown).toBeGreaterThan(0); // some died in the middle of something, and somebody said what happened
      },
      PATIENCE_MS,
    );
  }
});
