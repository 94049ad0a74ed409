import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { type Behaviour, behavioursFor, engineSuite } from "trackside/testing";
import { beforeAll, describe, test } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../scripts/services/index.ts";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { DurableEngine } from "../../src/journal/durable-engine.ts";
import { postgres, type Store, sqlite } from "../../src/store/index.ts";

/** Runs behaviours on engines that each have a store of their own. */
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
        await Promise.all(engines.map((engine) => engine.close()));
      }
    });
  }
}

/** Creates the tables once: every engine gets a copy of the database. */
async function migrate(store: Store): Promise<void> {
  await store.open();
  await store.close();
}

describe("the durable engine on SQLite", () => {
  const folder = temporaryFolder("conformance");
  const template = join(folder, "template.db");
  let copies = 0;
  beforeAll(() => migrate(sqlite(template, { sync: "normal" })));

  conforms(behavioursFor(engineSuite, "sqlite"), async () => {
    copies += 1;
    const copy = join(folder, `${copies}.db`);
    copyFileSync(template, copy);
    return sqlite(copy, { sync: "normal" });
  });
});

await serviceSuite("the durable engine on PostgreSQL", sharedPostgres, (server) => {
  let template = "";
  beforeAll(async () => {
    template = await server.createDatabase();
    await migrate(postgres(template));
  });

  conforms(behavioursFor(engineSuite, "postgres"), async () =>
    postgres(await server.createDatabase(template)),
  );
});
