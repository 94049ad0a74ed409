// Runs on Temporal: any number of workers perform them. Here the one that has a tool under way is killed, and another goes on.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Connection } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime } from "@temporalio/worker";
import { sqlite, Trackside } from "@trackside/host";
import { temporal } from "@trackside/temporal";
import { createWorker } from "@trackside/temporal/worker";
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { someServer } from "./temporal-server.ts";

const count = defineTool({
  name: "count_stock",
  effect: "idempotent", // may run again when its worker is gone; for `once`, the default, a human would be asked
  execute: async () => {
    process.send?.("counting");
    await once(process, "message");
    return "12 lamps";
  },
});
// A function instead of a model, so that this runs without a key, and with nothing to remember: any worker may be asked.
const answer = scriptedModel(
  [
    ({ prompt }) =>
      prompt.at(-1)?.role === "tool" ? "There are 12 lamps." : { calls: [{ tool: "count_stock" }] },
  ],
  { loop: true },
);
const clerk = new Agent({ name: "clerk", model: answer, tools: [count] });

/** What every process is made of. On several machines the store is `postgres(url)`, and there is a `bus: redisBus(url)`. */
async function open(address: string, path: string) {
  const taskQueue = `example:${path}`;
  const connection = await Connection.connect({ address });
  const engine = temporal({ connection, taskQueue }); // the line that changes the engine
  const trackside = new Trackside({ store: sqlite(path), agents: [clerk], engine });
  return { trackside, taskQueue, close: () => trackside.close().then(() => connection.close()) };
}

async function work(address: string, path: string): Promise<void> {
  Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
  const { trackside, taskQueue, close } = await open(address, path);
  const connection = await NativeConnection.connect({ address });
  const worker = await createWorker({ connection, taskQueue, trackside });
  process.once("disconnect", () => worker.shutdown());
  process.send?.("ready");
  await worker.run();
  await close();
  await connection.close();
}

async function main(address: string): Promise<void> {
  const path = join(mkdtempSync(join(tmpdir(), "trackside-example-")), "trackside.db");
  const { trackside, close } = await open(address, path);
  await trackside.open();
  const workers = [1, 2].map(() => fork(import.meta.filename, ["worker", address, path]));
  const heard = async (worker: ChildProcess) => (await once(worker, "message")) && worker;
  await Promise.all(workers.map(heard));

  const { result } = await trackside.start("clerk", "How many lamps are there?");
  const first = await Promise.race(workers.map(heard));
  first.kill("SIGKILL");
  console.log("the worker that counted is gone");
  for (const other of workers.filter((worker) => worker !== first)) {
    await heard(other);
    console.log("the other one counts");
    other.send("done");
    console.log((await result()).output);
    other.disconnect(); // it lets go of what it has, and ends
    await once(other, "exit");
  }
  await close();
}

const [role, given = "", path = ""] = process.argv.slice(2);
if (role === "worker") await work(given, path);
else {
  const server = await someServer();
  if (server !== undefined) await main(server.address).finally(() => server.stop());
  else
    console.log(
      "There is no Temporal here. Install its CLI and start `temporal server start-dev`, then run this again with TEMPORAL_ADDRESS=127.0.0.1:7233.",
    );
}
