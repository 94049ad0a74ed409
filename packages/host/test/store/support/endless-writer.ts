// Writes pairs of rows until it is killed, and says which are acknowledged.
import { writeSync } from "node:fs";
import { rows, sqlite } from "../../../src/store/index.ts";

const [path = "", name = ""] = process.argv.slice(2);
const store = sqlite(path);
await store.open();
for (let i = 0; ; i += 1) {
  const turn = ["a", "b", "c"].map((lane) =>
    store.write(function* (db) {
      for (const what of ["first", "second"])
        yield* rows(db.insertInto("wakes").values({ run_id: `${name} ${i} ${lane}`, what, at: i }));
    }),
  );
  await Promise.all(turn);
  for (const lane of ["a", "b", "c"]) writeSync(1, `${name} ${i} ${lane}\n`);
}
