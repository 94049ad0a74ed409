import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { crashEverywhere } from "../support/crash-everywhere.ts";
import type { Broken } from "../support/stage.ts";
import { Workers } from "../support/workers.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

const PATIENCE_MS = 300_000;

/** What is broken, and how that shows. */
const WAYS: readonly { broken: Broken; title: string; shows: RegExp; lifeMs?: number }[] = [
  {
    broken: "lying-effect",
    title: "a tool that is said to bear a second execution, and does not",
    shows: /pay for .* happened 2 times/,
  },
  {
    broken: "always-run",
    title: 'somebody who says "run it" without looking',
    shows: /pay for .* happened 2 times/,
  },
  {
    broken: "early-answer",
    title: "a store that says it has written what it has not",
    shows: /happened 2 times|the transcript has|ended as|row \d+/,
    lifeMs: 12_000,
  },
  {
    broken: "never-claims",
    title: "an engine that leaves unfinished runs alone",
    shows: /it was not over after \d+ ms: a run was lost/,
    lifeMs: 3_000,
  },
];

describe("what is broken is found by killing it everywhere", () => {
  const dir = mkdtempSync(join(tmpdir(), "trackside-broken-"));
  const workers = new Workers(4);
  const scenario = SCENARIOS.find(({ name }) => name === "one tool that happens once");

  afterAll(async () => {
    await workers.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  for (const { broken, title, shows, ...more } of WAYS) {
    test(
      title,
      async () => {
        if (scenario === undefined) throw new Error("the scenario has another name");
        const { problems } = await crashEverywhere(scenario, { workers, dir, broken, until: shows, ...more });
        expect(problems.filter((problem) => shows.test(problem))).not.toEqual([]);
      },
      PATIENCE_MS,
    );
  }
});
