// A process that works through many runs until it is killed; the next one goes on. Says "ready" when it has opened the
// store, and how the database stands when everything is over. Arguments: the place, the ledger, runs, runs at once.
import { setTimeout as sleep } from "node:timers/promises";
import { DurableEngine } from "../../../src/journal/durable-engine.ts";
import { postgres, rows, sqlite } from "../../../src/store/index.ts";
import { busyAgent } from "./busy-agent.ts";
import { Ledger } from "./ledger.ts";
import { decideAll } from "./people.ts";
import { isBusy, report } from "./report.ts";
import { Stage } from "./stage.ts";

const LOOK_MS = 20;
const [place = "", ledger = "", runs = "0", atOnce = "1"] = process.argv.slice(2);
const stage = new Stage(new Ledger(ledger));
const agent = busyAgent(stage);
const store = place.startsWith("postgres:") ? postgres(place) : sqlite(place, { sync: "normal" });
const engine = new DurableEngine({
  store,
  agents: [agent],
  notice: (message) => process.stdout.write(`${JSON.stringify({ notice: message })}\n`),
});
stage.engine = engine;
await engine.open();
process.stdout.write('{"ready":true}\n');

const deciding = decideAll(
  engine,
  stage,
  () => ({ choice: "approve", by: "harness" }),
  () => sleep(LOOK_MS),
);
const over = await endedRequests();
const left = Array.from({ length: Number(runs) }, (_, i) => `run ${i}`).filter((id) => !over.has(id));
await Promise.all(Array.from({ length: Number(atOnce) }, startOneAfterTheOther));
while (await isBusy(engine)) await sleep(LOOK_MS);
process.stdout.write('{"over":true}\n'); // whoever kills processes lets this one finish its sentence
deciding.stop();
process.stdout.write(`${JSON.stringify({ report: { ...(await report(engine)), transcript: [] } })}\n`);
await engine.close();

async function startOneAfterTheOther(): Promise<void> {
  for (let id = left.shift(); id !== undefined; id = left.shift())
    await engine.start(agent, id, { requestId: id }).result.catch(() => {}); // the report says how it ended
}

/** What an earlier process started and saw the end of. */
async function endedRequests(): Promise<ReadonlySet<string>> {
  const found = await store.read((db) =>
    rows(
      db
        .selectFrom("requests")
        .innerJoin("runs", "runs.id", "requests.record_id")
        .select("requests.request_id")
        .where("runs.ended_at", "is not", null),
    ),
  );
  return new Set(found.map(({ request_id }) => request_id));
}
