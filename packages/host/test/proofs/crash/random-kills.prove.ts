import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { randomKills } from "../support/random-kills.ts";
import "../support/patience.ts";

const PATIENCE_MS = 900_000;

describe("X2 X3 killed every 0.5 to 3 seconds, all runs end and nothing happens twice", () => {
  for (const { title, ...given } of [
    { title: "300 runs in one process at a time", runs: 300, seed: 5 },
    { title: "100 runs in two processes, each killed apart", runs: 100, seed: 6, processes: 2 },
  ])
    test(
      title,
      async () => {
        const dir = temporaryFolder("kills");
        const { kills, ended, unknown, problems } = await randomKills({ ...given, dir });
        expect(problems).toEqual([]);
        expect(ended).toEqual({ completed: given.runs });
        expect(kills).toBeGreaterThan(2);
        expect(unknown).toBeGreaterThan(0); // some died in the middle of a tool, and a decider said what happened
      },
      PATIENCE_MS,
    );
});
