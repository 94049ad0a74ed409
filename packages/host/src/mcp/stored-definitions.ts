import { rows, type Store } from "../store/store.ts";
import type { DefinitionStore } from "./options.ts";

/** Approved definitions in the store: every process and every later start knows them (M5). */
export function storedDefinitions(store: Store, now: () => number): DefinitionStore {
  return {
    async get(key) {
      const [found] = await store.read((db) =>
        rows(db.selectFrom("tool_definitions").select("digest").where("key", "=", key)),
      );
      return found?.digest;
    },
    async set(key, digest) {
      const updated_at = now();
      await store.write((db) =>
        rows(
          db
            .insertInto("tool_definitions")
            .values({ key, digest, updated_at })
            .onConflict((known) => known.column("key").doUpdateSet({ digest, updated_at })),
        ),
      );
    },
  };
}
