import { rows, type Store } from "../../../src/store/index.ts";

/**
 * A store with a planted bug: it appends with whatever fence the run has, and checks the writer's fence only afterwards, in
 * another transaction. A write of an owner that has lost the run lands, though the owner is told that it did not.
 */
export function lateFence(store: Store): Store {
  const append = store.append.bind(store);
  const fenceOf = (runId: string) =>
    store.read(function* (db) {
      const [run] = yield* rows(db.selectFrom("runs").select("fence").where("id", "=", runId));
      return run?.fence ?? 0;
    });
  store.append = async (entry, with_) => {
    const landed = await append({ ...entry, fence: await fenceOf(entry.run_id) }, with_);
    return landed && (await fenceOf(entry.run_id)) === entry.fence;
  };
  return store;
}
