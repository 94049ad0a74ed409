import { type Behaviour, behavioursFor, engineSuite } from "trackside/testing";
import { describe, test } from "vitest";
import { postgresServer, serviceSuite } from "../../../../scripts/services/index.ts";
import { DurableEngine } from "../../src/journal/durable-engine.ts";
import { postgres, type Store, sqlite } from "../../src/store/index.ts";
import { databaseFile } from "./support/database.ts";

/** The same promises on every engine: here over a store. */
function conforms(behaviours: readonly Behaviour[], makeStore: () => Promise<Store>): void {
  for (const { title, check } of behaviours) {
    test(title, async () => {
      const engines: DurableEngine[] = [];
      try {
        await check(async (options) => {
          const engine = new DurableEngine({ ...options, store: await makeStore() });
          engines.push(engine);
          await engine.open();
          return engine;
        });
      } finally {
        for (const engine of engines) await engine.close();
      }
    });
  }
}

describe("the durable engine on SQLite", () => {
  conforms(behavioursFor(engineSuite, "sqlite"), async () => sqlite(databaseFile(), { sync: "normal" }));
});

await serviceSuite("the durable engine on PostgreSQL", postgresServer, (server) => {
  conforms(behavioursFor(engineSuite, "postgres"), async () => postgres(await server.createDatabase()));
});
