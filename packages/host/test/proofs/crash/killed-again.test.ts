import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { type CrashAt, crashEverywhere } from "../support/crash-everywhere.ts";
import { SimulatedLives } from "../support/simulated.ts";
import { makeTemplate } from "../support/template.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

/** As many durable writes as a life makes that resumes a short run and ends it. */
const RECOVERY_WRITES = 8;
const PLAYED = [
  "rails after a tool that happens once",
  "approve, reject and edit",
  "sub-agents beside each other, with tools that happen once",
];

/** A second point for each first one: another every time, so that all of them have their turn. */
const again = ({ n, when }: CrashAt): readonly CrashAt[] => [
  { n: 1 + ((n * 3) % RECOVERY_WRITES), when: when === "before" ? "after" : "before" },
];

describe("X2 X3 a second crash while the run is resumed", () => {
  const dir = temporaryFolder("killed-again");
  const lives = new SimulatedLives();
  let template: string;

  beforeAll(async () => {
    template = await makeTemplate(dir);
  });

  afterAll(() => lives.stop());

  for (const scenario of SCENARIOS.filter(({ name }) => PLAYED.includes(name)))
    test(scenario.name, async () => {
      const { problems, points, deaths } = await crashEverywhere(scenario, { lives, dir, template, again });
      expect(problems).toEqual([]);
      expect(deaths).toBeGreaterThan(points); // some died twice
    });
});
