import { serviceSuite, sharedPostgres } from "../../../../scripts/services/index.ts";
import { postgres } from "../../src/index.ts";
import { conforms } from "./conforms.ts";
import { LocalStage } from "./local-stage.ts";

await serviceSuite("a host on PostgreSQL", sharedPostgres, (server) => {
  let migrated: Promise<string> | undefined;
  conforms("postgres", async () => {
    migrated ??= migratedDatabase();
    const url = await server.createDatabase(await migrated);
    return new LocalStage(() => postgres(url));
  });

  /** A database with all tables: copying it is faster than making them anew. */
  async function migratedDatabase(): Promise<string> {
    const url = await server.createDatabase();
    const store = postgres(url);
    await store.open();
    await store.close();
    return url;
  }
});
