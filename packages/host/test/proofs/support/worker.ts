// A process that plays scenarios until it is told to die. Reads a job per line, answers each with a line. By hand:
//   echo '{"place":"/tmp/t.db","ledger":"/tmp/t.log","scenario":"one tool that happens once"}' |
//     TRACKSIDE_CRASH_AT=12:before node --conditions=@trackside/source packages/host/test/proofs/support/worker.ts
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { CRASH_AT } from "./crash-point.ts";
import type { Job } from "./job.ts";
import { type Player, play } from "./play.ts";

const player: Player = {
  /** No exit handlers, no flushing, nothing tidied up: as if the power of this process alone were cut. */
  die() {
    process.kill(process.pid, "SIGKILL");
    for (;;); // not one instruction of the program follows
  },
  /** Stops with all its threads. The harness claims its runs and lets it go on. */
  async overtaken() {
    writeSync(1, '{"held":true}\n');
    process.kill(process.pid, "SIGSTOP");
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const job: Job = JSON.parse(line);
  const done = await play({ ...job, crashAt: job.crashAt ?? process.env[CRASH_AT] }, player);
  process.stdout.write(`${JSON.stringify(done)}\n`);
}
