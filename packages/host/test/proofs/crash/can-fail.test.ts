import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { crashEverywhere } from "../support/crash-everywhere.ts";
import { ProcessLives } from "../support/processes.ts";
import { SimulatedLives } from "../support/simulated.ts";
import type { Broken } from "../support/stage.ts";
import { makeTemplate } from "../support/template.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

/** A planted bug, and how it shows. `from` is the first point at which it can: real processes begin there. */
const BUGS: readonly {
  broken: Broken;
  title: string;
  shows: RegExp;
  from: number;
  whens?: readonly ["late"];
  lifeMs?: number;
}[] = [
  {
    broken: "lying-effect",
    title: "a tool that is said to bear a second execution, and does not",
    shows: /pay for .* happened 2 times/,
    from: 4,
  },
  {
    broken: "always-run",
    title: 'a decider who says "run it" without looking',
    shows: /pay for .* happened 2 times/,
    from: 4,
  },
  {
    broken: "early-answer",
    title: "a store that acknowledges a write before it has made it",
    shows: /happened 2 times|the transcript has|ended as|row \d+/,
    from: 1,
    lifeMs: 12_000,
  },
  {
    broken: "late-fence",
    title: "a store that checks the fence after the write, in another transaction",
    shows: /rows landed after another owner had claimed the run/,
    from: 4,
    whens: ["late"],
  },
  {
    broken: "never-claims",
    title: "an engine that leaves unfinished runs alone",
    shows: /it was not over after \d+ ms: a run was lost/,
    from: 4,
    lifeMs: 3_000,
  },
];

describe("a planted bug is found by crashing everywhere", () => {
  const dir = temporaryFolder("broken");
  const simulated = new SimulatedLives();
  const real = new ProcessLives(2);
  const scenario = SCENARIOS.find(({ name }) => name === "one tool that happens once");
  let template: string;

  beforeAll(async () => {
    template = await makeTemplate(dir);
  });

  afterAll(async () => {
    await simulated.stop();
    await real.stop();
  });

  for (const { title, shows, from, ...bug } of BUGS)
    for (const [kind, lives, first] of [
      ["simulated", simulated, 1],
      ["real", real, from],
    ] as const)
      test(`${title}, ${kind}`, async () => {
        if (scenario === undefined) throw new Error("the scenario has another name");
        const init = { lives, dir, template, until: shows, from: first, ...bug };
        const { problems } = await crashEverywhere(scenario, init);
        expect(problems.filter((problem) => shows.test(problem))).not.toEqual([]);
      });
});
