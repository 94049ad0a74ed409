import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../../scripts/services/index.ts";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { crashEverywhere } from "../support/crash-everywhere.ts";
import { PostgresPlaces } from "../support/postgres-places.ts";
import { SimulatedLives } from "../support/simulated.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

/** One with every kind of write to the store: appends, outcomes, the inbox, child runs. The others differ in the loop. */
const PLAYED = [
  "rails after a tool that happens once",
  "a message that joins the run",
  "sub-agents beside each other, with tools that happen once",
];

await serviceSuite(
  "X2 X3 a simulated crash at every durable write to PostgreSQL",
  sharedPostgres,
  (server) => {
    const dir = temporaryFolder("crash-postgres");
    // Frozen lives keep their connections, and a server has a hundred.
    const lives = new SimulatedLives({ atOnce: 3, mostFrozen: 6 });
    let places: PostgresPlaces;

    beforeAll(async () => {
      places = await PostgresPlaces.open(server);
    });

    afterEach(async () => {
      await lives.stopThreads();
      await places.clear();
    });

    afterAll(async () => {
      await lives.stop();
      await places.close();
    });

    for (const scenario of SCENARIOS.filter(({ name }) => PLAYED.includes(name)))
      test(scenario.name, async () => {
        const { problems, points } = await crashEverywhere(scenario, {
          lives,
          dir,
          place: () => places.create(),
        });
        expect(problems).toEqual([]);
        expect(points).toBeGreaterThan(12);
      });
  },
);
