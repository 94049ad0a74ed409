import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { postgresServer, serviceSuite } from "../../../../../scripts/services/index.ts";
import { crashEverywhere } from "../support/crash-everywhere.ts";
import { Workers } from "../support/workers.ts";
import { SCENARIOS } from "./scenarios.ts";
import "../support/patience.ts";

const PATIENCE_MS = 900_000;
/** The others differ in what the loop does, not in how it is stored. */
const PLAYED = [
  "rails after a tool that happens once",
  "a message that joins the run",
  "sub-agents beside each other, with tools that happen once",
];

await serviceSuite(
  "X2 X3 killed before or after every durable write to PostgreSQL",
  postgresServer,
  (server) => {
    const dir = mkdtempSync(join(tmpdir(), "trackside-crash-postgres-"));
    const workers = new Workers(4);
    const place = () => server.createDatabase();

    afterAll(async () => {
      await workers.stop();
      rmSync(dir, { recursive: true, force: true });
    });

    for (const scenario of SCENARIOS.filter(({ name }) => PLAYED.includes(name))) {
      test(
        scenario.name,
        async () => {
          const { problems, points } = await crashEverywhere(scenario, {
            workers,
            dir,
            place,
            inTurns: true,
          });
          expect(problems).toEqual([]);
          expect(points).toBeGreaterThan(12);
        },
        PATIENCE_MS,
      );
    }
  },
);
