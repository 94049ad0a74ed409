import { behavioursFor, engineSuite } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../scripts/services/index.ts";
import { DurableEngine } from "../../src/journal/durable-engine.ts";
import { postgres, type Store, sqlite } from "../../src/store/index.ts";
import { databaseFile } from "../engine/support/database.ts";
import { compareRequests, type MakeDurable } from "./support/tapped.ts";

const over =
  (makeStore: () => Promise<Store>): MakeDurable =>
  async (options) => {
    const engine = new DurableEngine({ ...options, store: await makeStore() });
    await engine.open();
    return { engine, close: () => engine.close() };
  };

describe("R4 on SQLite requests are rebuilt as they were sent, whatever runs do", () => {
  const make = over(async () => sqlite(databaseFile(), { sync: "normal" }));
  let compared = 0;
  for (const behaviour of behavioursFor(engineSuite, "sqlite"))
    test(behaviour.title, async () => {
      compared += await compareRequests(behaviour, make);
    });

  test("R4 and there were many", () => {
    expect(compared).toBeGreaterThan(500);
  });
});

/** Every store returns the same rows, so the rules whose runs leave most rows are enough. */
const TELLING = ["R4", "H2", "H4", "H5", "B4", "P2", "S7", "X6"];

await serviceSuite("R4 on PostgreSQL the same", sharedPostgres, (server) => {
  const make = over(async () => postgres(await server.createDatabase()));
  const behaviours = behavioursFor(engineSuite, "postgres");
  for (const behaviour of behaviours.filter(({ tags }) => TELLING.some((rule) => tags.includes(rule))))
    test(behaviour.title, async () => {
      expect(await compareRequests(behaviour, make)).toBeGreaterThanOrEqual(0);
    });
});
