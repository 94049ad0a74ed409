// Records the histories that replay.test.ts replays: node --conditions=@trackside/source packages/temporal/test/support/record-histories.ts
// Do so when the loop changes on purpose in a way that runs under way cannot follow, and say so in the change.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { Connection, WorkflowClient } from "@temporalio/client";
import { DefaultLogger, NativeConnection, Runtime } from "@temporalio/worker";
import { sqlite, Trackside } from "@trackside/host";
import { temporalServer } from "../../../../scripts/services/temporal.ts";
import { temporal } from "../../src/client/index.ts";
import { createWorker } from "../../src/worker/index.ts";
import { call, makeAgents, marksIn, script, spawning } from "./agents.ts";
import { historiesOf, writeHistory } from "./histories.ts";
import { KEYS } from "./keys.ts";

const HISTORIES = new URL("../histories/", import.meta.url);
const taskQueue = "recorded";

const dir = mkdtempSync(join(tmpdir(), "trackside-histories-"));
const marks = join(dir, "marks");
const server = await temporalServer({ settings: { "limit.historyCount.suggestContinueAsNew": 60 } });
if ("missing" in server) throw new Error(server.missing);
Runtime.install({ logger: new DefaultLogger("ERROR"), shutdownSignals: [] });
const { address } = server;
const connection = await Connection.connect({ address });
const native = await NativeConnection.connect({ address });
const workflows = new WorkflowClient({ connection });
const trackside = new Trackside({
  store: sqlite(join(dir, "db")),
  keyring: KEYS,
  agents: makeAgents({ marks }),
  engine: temporal({ connection, taskQueue }),
});
const worker = await createWorker({ connection: native, taskQueue, trackside });
const running = worker.run();
rmSync(HISTORIES, { recursive: true, force: true });
mkdirSync(HISTORIES);

const start = async (agent: string, ...steps: Parameters<typeof script>[1]) =>
  (await trackside.start(agent, script("n", steps))).runId;

const guarded = await start(
  "guarded",
  call("look", "n"),
  { calls: [{ tool: "put", args: { n: "n" } }] },
  "done",
);
await trackside.runs.result(guarded);
await keep("tools-with-rails", guarded);

const gated = await start("gated", call("charge", "n"), "done");
const { id } = await until(async () => (await trackside.approvals.list({ runId: gated }))[0]);
await trackside.approvals.decide(id, { choice: "approve", by: "ann" });
await trackside.runs.result(gated);
await keep("approval", gated);

const parent = await start(
  "free",
  spawning(script("one", [call("look", "one"), "first"]), script("two", ["second"])),
  "done",
);
await trackside.runs.result(parent);
await keep("sub-agents", parent);
for (const [i, child] of (await trackside.runs.list({ parent })).entries())
  await keep(`sub-agent-${i}`, child.id);

const long = await start("free", ...Array.from({ length: 7 }, () => call("look", "n")), "done");
await trackside.runs.result(long);
await keep("new-history", long);

const stopped = await start("free", call("put", "stopped", "always"), "never");
await until(() => marksIn(marks).find(({ n }) => n === "stopped"));
await trackside.runs.cancel(stopped, { reason: "enough" });
await trackside.runs.result(stopped).catch(() => {}); // as it should be
await keep("cancel", stopped);

worker.shutdown();
await running;
await trackside.close();
await native.close();
await connection.close();
await server.stop();
rmSync(dir, { recursive: true, force: true });

/** Writes the histories of a run, once its workflow has ended. */
async function keep(name: string, runId: string): Promise<void> {
  await workflows.getHandle(runId).result();
  const names = [`${process.pid}@${hostname()}`, hostname()];
  const all = await historiesOf(workflows, runId);
  for (const [i, history] of all.entries()) {
    const file = all.length === 1 ? `${name}.jsonl` : `${name}-${i + 1}.jsonl`;
    writeFileSync(new URL(file, HISTORIES), writeHistory(history, names));
    process.stdout.write(`${file}: ${history.events?.length} events\n`);
  }
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
