import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { crashEverywhere } from "../support/crash-everywhere.ts";
import { SimulatedLives } from "../support/simulated.ts";
import { makeTemplate } from "../support/template.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

describe("X2 X3 a simulated crash at every durable write", () => {
  const dir = temporaryFolder("crash");
  const lives = new SimulatedLives();
  let template: string;

  beforeAll(async () => {
    template = await makeTemplate(dir);
  });

  afterAll(() => lives.stop());

  test("while the tables are made", async () => {
    const [scenario] = SCENARIOS;
    if (scenario === undefined) throw new Error("there are no scenarios");
    const { problems, points } = await crashEverywhere(scenario, { lives, dir });
    expect(problems).toEqual([]);
    expect(points).toBeGreaterThan(30); // 11 migrations and 7 writes of the run, before and after each
  });

  for (const scenario of SCENARIOS)
    test(`${scenario.name}: the write did not land, or landed and was not acknowledged`, async () => {
      const { problems, points } = await crashEverywhere(scenario, { lives, dir, template });
      expect(problems).toEqual([]);
      expect(points).toBeGreaterThan(12); // it did die, and often
    });

  // A cancel is a write of the caller, not of the owner: it takes effect whenever it arrives, and ends the run another way.
  for (const scenario of SCENARIOS.filter(({ ends = [] }) => !ends.includes("cancelled")))
    test(`X4 ${scenario.name}: the write arrives after another owner has claimed the run`, async () => {
      const init = { lives, dir, template, whens: ["late"] } as const;
      const { problems, points } = await crashEverywhere(scenario, init);
      expect(problems).toEqual([]);
      expect(points).toBeGreaterThan(6);
    });
});
