import { expect, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { randomKills } from "../support/random-kills.ts";
import "../support/patience.ts";

const ROUND = 12;

test("X2 X3 a process killed at random moments: all runs end and nothing happens twice", async () => {
  const dir = temporaryFolder("kills");
  let kills = 0;
  let unknown = 0;
  // A fast machine may finish a round before it is killed: there are more runs until it died often enough, once in a tool.
  for (let runs = ROUND; kills < 2 || unknown === 0; runs += ROUND) {
    const played = await randomKills({ runs, seed: runs, dir, atOnce: 6, killAfterMs: [50, 400] });
    expect(played.problems).toEqual([]);
    expect(played.ended).toEqual({ completed: runs });
    kills += played.kills;
    unknown = played.unknown;
  }
});
