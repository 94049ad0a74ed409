import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { RunDesk } from "../../../src/approvals/desk.ts";
import { Hearing } from "../../../src/journal/hearing.ts";
import { aRun } from "../../../src/store/conformance/behaviour.ts";
import { rows, type Store, sqlite } from "../../../src/store/index.ts";
import { tempDir, until } from "./support/place.ts";

test("a wake that becomes visible after a later one is heard without waiting for the next look at everything", async () => {
  const { store, hearing, cancelled } = await listening(["early", "late", "other"]);
  await wake(store, 10, "other");
  hearing.hear("some"); // the first look: everything before it is the past
  await until("the first look", () => (cancelled.length === 3 ? true : undefined));
  cancelled.length = 0;
  await wake(store, 12, "late");
  hearing.hear("some");
  await until("the later one", () => (cancelled.length === 1 ? true : undefined));
  await wake(store, 11, "early");
  hearing.hear("some");
  await until("the one that was passed over", () => (cancelled.length === 2 ? true : undefined));
  expect(cancelled).toEqual(["late", "early"]);
});

test("looks do not overlap, and one that is asked for meanwhile is made afterwards", async () => {
  const { store, hearing, cancelled } = await listening(["a"]);
  let under = 0;
  let most = 0;
  const read = store.read.bind(store);
  store.read = async (work) => {
    under += 1;
    most = Math.max(most, under);
    await new Promise((resolve) => setTimeout(resolve, 5));
    const found = await read(work);
    under -= 1;
    return found;
  };
  for (let i = 0; i < 50; i += 1) hearing.hear("all");
  await until("a second look", () => (cancelled.length >= 2 ? true : undefined));
  await hearing.close();
  expect(most).toBe(1);
  expect(cancelled).toHaveLength(2);
});

/** Runs that are to be cancelled, and who was told so. */
async function listening(ids: readonly string[]) {
  const store = sqlite(join(tempDir(), "trackside.db"));
  onTestFinished(() => store.close());
  await store.open();
  const cancelled: string[] = [];
  // Only what is asked of a desk here.
  const desk = { waitingFor: [], decided() {} } as unknown as RunDesk;
  const runs = new Map(
    ids.map((id) => [id, { desk, host: { cancelRun: () => void cancelled.push(id), call() {} } }]),
  );
  await store.write(function* (db) {
    for (const id of ids) yield* rows(db.insertInto("runs").values({ ...aRun(id), cancel_reason: "enough" }));
  });
  const hearing = new Hearing({ store, runs, queued() {} });
  onTestFinished(() => hearing.close());
  return { store, hearing, cancelled };
}

async function wake(store: Store, n: number, runId: string): Promise<void> {
  await store.write((db) => rows(db.insertInto("wakes").values({ n, run_id: runId, what: "cancel", at: n })));
}
