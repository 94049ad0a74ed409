import { onTestFinished } from "vitest";
import { serviceSuite, sharedPostgres } from "../../../../scripts/services/index.ts";
import { postgres, type Store } from "../../src/store/index.ts";
import { accessSuite } from "./suite/index.ts";

await serviceSuite("access on PostgreSQL", sharedPostgres, (server) => {
  accessSuite(async (count) => {
    const url = await server.createDatabase();
    const first = postgres(url);
    const all: [Store, ...Store[]] = [first, ...Array.from({ length: count - 1 }, () => postgres(url))];
    onTestFinished(async () => {
      for (const store of all) await store.close();
    });
    for (const store of all) await store.open();
    return all;
  });
});
