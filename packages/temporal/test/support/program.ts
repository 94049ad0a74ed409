// A worker as a process of its own, which tests kill, freeze and stop.
import { flushCompileCache } from "node:module";
import { startWorker, type WorkerInit } from "./worker.ts";

const init: WorkerInit = JSON.parse(process.argv[2] ?? "");
const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const worker = await startWorker(init, (notice) => say({ notice }));
process.on("SIGTERM", () => worker.shutdown());
process.stdin.on("end", () => process.exit()).resume(); // the test's process is gone
process.stdin.unref();
say({ ready: true });
flushCompileCache(); // most of these processes are killed, and would leave nothing to the next
await worker.ended;
