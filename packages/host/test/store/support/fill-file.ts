// Appends until the kernel refuses to let the log grow, then says how far it got and what it was told.
import { aRun } from "../../../src/store/conformance/behaviour.ts";
import { rows, StoreError, sqlite } from "../../../src/store/index.ts";

const store = sqlite(process.argv[2] ?? "");
await store.open();
await store.write((db) => rows(db.insertInto("runs").values(aRun("r"))));
const body = JSON.stringify({ v: 1, text: "x".repeat(20_000) });
let acknowledged = 0;
const errors: unknown[] = [];
for (let tries = 0; errors.length < 3 && tries < 1_000; tries += 1) {
  try {
    await store.append({ run_id: "r", ord: acknowledged + 1, seq: 1, body, fence: 1 });
    acknowledged += 1;
  } catch (error) {
    errors.push(
      error instanceof StoreError
        ? { fault: error.fault, message: error.message, unknown: error.unknown }
        : `${error}`,
    );
  }
}
const there = await store.read((db) => rows(db.selectFrom("commits").select("ord")));
console.log(JSON.stringify({ acknowledged, there: there.length, errors }));
