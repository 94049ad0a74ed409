import { afterAll, beforeAll, expect, test } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../../scripts/services/index.ts";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { crashEverywhere } from "../support/crash-everywhere.ts";
import { PostgresPlaces } from "../support/postgres-places.ts";
import { ProcessLives } from "../support/processes.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

const PATIENCE_MS = 3_600_000;

await serviceSuite("X2 X3 a real process killed at every write to PostgreSQL", sharedPostgres, (server) => {
  const dir = temporaryFolder("crash-postgres");
  const lives = new ProcessLives(4);
  let places: PostgresPlaces;

  beforeAll(async () => {
    places = await PostgresPlaces.open(server);
  });

  afterAll(async () => {
    await lives.stop();
    await places.clear();
    await places.close();
  });

  for (const scenario of SCENARIOS)
    test(
      scenario.name,
      async () => {
        const place = () => places.create();
        const { problems, points } = await crashEverywhere(scenario, { lives, dir, place });
        await places.clear();
        expect(problems).toEqual([]);
        expect(points).toBeGreaterThan(12);
      },
      PATIENCE_MS,
    );
});
