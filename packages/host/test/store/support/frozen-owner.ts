// Owns the run "r", and freezes inside the transaction of its delivery until a file appears.
import { existsSync, writeSync } from "node:fs";
import { postgres } from "../../../src/store/index.ts";

const [url = "", thawed = ""] = process.argv.slice(2);
let frozen = false;
const pause = new Int32Array(new SharedArrayBuffer(4));
const store = postgres(
  url,
  {},
  {
    beforeCommit() {
      if (frozen || !armed) return;
      frozen = true;
      writeSync(1, "frozen\n");
      while (!existsSync(thawed)) Atomics.wait(pause, 0, 0, 20);
    },
  },
);
let armed = false;
await store.open();
armed = true;
const entry = { run_id: "r", ord: 1, seq: 1, body: '{"v":1,"by":"zombie"}', fence: 1 };
const landed = await store.append(entry, function* () {});
writeSync(1, `${landed}\n`);
process.exit(0);
