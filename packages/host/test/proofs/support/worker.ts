// A process that plays scenarios until it is told to die. Reads a job per line, answers each with a line. By hand:
//   echo '{"place":"/tmp/t.db","ledger":"/tmp/t.log","scenario":"one tool that happens once"}' |
//     TRACKSIDE_CRASH_AT=12:before node --conditions=@trackside/source packages/host/test/proofs/support/worker.ts
import { createInterface } from "node:readline";
import { play } from "./play.ts";

for await (const line of createInterface({ input: process.stdin })) {
  const done = await play(JSON.parse(line));
  process.stdout.write(`${JSON.stringify(done)}\n`);
}
