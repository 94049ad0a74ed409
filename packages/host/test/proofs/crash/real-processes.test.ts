import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { playOnce } from "../support/crash-everywhere.ts";
import { differences } from "../support/judge.ts";
import { ProcessLives } from "../support/processes.ts";
import { makeTemplate } from "../support/template.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

/** `crash-points.test.ts` plays every point in threads. These show that real processes die, and are survived, alike. */
const POINTS: readonly { scenario: string; points: readonly string[]; why: string }[] = [
  {
    scenario: "one tool that happens once",
    points: ["2:before", "4:after", "5:before", "5:late"],
    why: "the run is opened; the tool is begun; its result is delivered, in vain and too late",
  },
  {
    scenario: "sub-agents beside each other, with tools that happen once",
    points: ["9:after"],
    why: "child runs are under way, in transactions of several runs",
  },
  {
    scenario: "approve, reject and edit",
    points: ["8:before"],
    why: "approvals are open while the process dies",
  },
];

describe("X2 X3 real processes killed with kill -9 at fixed points", () => {
  const dir = temporaryFolder("real");
  const lives = new ProcessLives(2);
  let template: string;

  beforeAll(async () => {
    template = await makeTemplate(dir);
  });

  afterAll(() => lives.stop());

  for (const { scenario: title, points, why } of POINTS)
    test(`${title}, ${points.join(" and ")}: ${why}`, async () => {
      const scenario = SCENARIOS.find(({ name }) => name === title);
      if (scenario === undefined) throw new Error(`there is no scenario ${title}`);
      const init = { lives, dir, template };
      const [calm, ...played] = await Promise.all(
        [[], ...points.map((point) => [point])].map((crashes) => playOnce(scenario, crashes, init)),
      );
      if (calm === undefined || typeof calm === "string") throw new Error(calm);
      for (const end of played) {
        if (typeof end === "string") throw new Error(end);
        expect(end.deaths).toBe(1);
        expect(differences(scenario, calm, end)).toEqual([]);
      }
    });
});
