import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { randomKills } from "../support/random-kills.ts";

const RUNS = 300;
const PATIENCE_MS = 300_000;

const dir = mkdtempSync(join(tmpdir(), "trackside-kills-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test(
  `X2 X3 ${RUNS} runs end, each effect once, though their process is killed again and again`,
  async () => {
    const { kills, ended, unknown, problems } = await randomKills({ runs: RUNS, seed: 5, dir });
    expect(problems).toEqual([]);
    expect(ended).toEqual({ completed: RUNS });
    expect(kills).toBeGreaterThan(2);
    expect(unknown).toBeGreaterThan(0); // some died in the middle of something
  },
  PATIENCE_MS,
);
