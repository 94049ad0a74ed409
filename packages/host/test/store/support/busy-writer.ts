// One of several processes on one database: writes wakes and deliveries, then says so.

import { aRun } from "../../../src/store/conformance/behaviour.ts";
import { postgres, rows, sqlite } from "../../../src/store/index.ts";

const [kind, target = "", name = "", count = "0"] = process.argv.slice(2);
const store = kind === "sqlite" ? sqlite(target) : postgres(target);
await store.open();
await store.write((db) => rows(db.insertInto("runs").values(aRun(name))));
for (let i = 0; i < Number(count); i += 1) {
  const landed = await store.append({ run_id: name, ord: i, seq: i, body: '{"v":1}', fence: 1 });
  if (!landed) throw new Error(`${name} ${i} did not land`);
  await store.write((db) => rows(db.insertInto("wakes").values({ run_id: name, what: `${i}`, at: i })));
}
await store.close();
console.log("done");
