import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { type CrashAt, crashEverywhere } from "../support/crash-everywhere.ts";
import { ProcessLives } from "../support/processes.ts";
import { SimulatedLives } from "../support/simulated.ts";
import { makeTemplate } from "../support/template.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

const PATIENCE_MS = 3_600_000;
const RECOVERY_WRITES = 8;
/** Played by real processes too: rails, approvals and child runs write the most beside the journal. */
const REAL = [
  "rails after a tool that happens once",
  "approve, reject and edit",
  "sub-agents beside each other, with tools that happen once",
];

/** Every second point for every first one. */
const everywhere = (): readonly CrashAt[] =>
  Array.from({ length: RECOVERY_WRITES }, (_, i) => i + 1).flatMap((n) => [
    { n, when: "before" },
    { n, when: "after" },
  ]);

describe("X2 X3 a second crash at every write while the run is resumed", () => {
  const dir = temporaryFolder("killed-again");
  const simulated = new SimulatedLives();
  const real = new ProcessLives(4);
  let template: string;

  beforeAll(async () => {
    template = await makeTemplate(dir);
  });

  afterAll(async () => {
    await simulated.stop();
    await real.stop();
  });

  for (const scenario of SCENARIOS)
    for (const [kind, lives] of [
      ["simulated", simulated],
      ["real", real],
    ] as const)
      test.runIf(kind === "simulated" || REAL.includes(scenario.name))(
        `${scenario.name}, ${kind}`,
        async () => {
          const init = { lives, dir, template, again: everywhere };
          const { problems, points, deaths } = await crashEverywhere(scenario, init);
          expect(problems).toEqual([]);
          expect(deaths).toBeGreaterThan(points); // some died twice
        },
        PATIENCE_MS,
      );
});
