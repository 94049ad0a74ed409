import { setTimeout as sleep } from "node:timers/promises";
import type { Trackside } from "../../../src/index.ts";
import { rows } from "../../../src/store/index.ts";

/** Looks until there is something. The test's own time limit ends it. */
export async function until<T>(look: () => Promise<T | undefined> | T | undefined): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(10);
  }
}

/** A message that was sent is in the store: whoever goes on now meets it. */
export async function queued(trackside: Trackside, runId: string): Promise<void> {
  await until(async () => {
    const [row] = await trackside.engine.store.read((db) =>
      rows(db.selectFrom("inbox").select("id").where("run_id", "=", runId)),
    );
    return row;
  });
}
