import { join } from "node:path";
import { sqlite, Trackside } from "@trackside/host";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../scripts/testing/temporary-folder.ts";
import { call, makeAgents, script } from "./support/agents.ts";
import { historiesOf } from "./support/histories.ts";
import { KEYS } from "./support/keys.ts";
import { type Place, traceOf } from "./support/place.ts";
import { ownServerSuite } from "./support/suite.ts";

// The server suggests a new history after a few steps, instead of after some hundreds.
const settings = { "limit.historyCount.suggestContinueAsNew": 30 };
const STEPS = 20;

const steps = (n: string) => [
  ...Array.from({ length: STEPS }, (_, i) => {
    if (i === 7) return call("put", n, "gate");
    return i === 12 ? call("charge", n) : call("look", `${n}-${i}`);
  }),
  "done",
];

await ownServerSuite("a run of many steps", settings, (here) => {
  test("X9 goes on in new histories with nothing lost: the same events as on the durable engine", async () => {
    const { place } = here;
    const reference = durable(place);
    await place.inside();
    await place.inside();
    const one = await played(place, reference, "reference");
    const other = await played(place, place.trackside, "long");

    expect(place.marksOf("long", "model")).toHaveLength(STEPS + 1);
    expect(place.marksOf("long", "tool", "charge")).toHaveLength(1);
    expect(other.receipt).toEqual(one.receipt);
    const events = (trackside: Trackside, runId: string) => trackside.runs.events(runId);
    expect(traceOf(await events(place.trackside, other.runId), "long")).toEqual(
      traceOf(await events(reference, one.runId), "reference"),
    );
    const histories = await historiesOf(place.workflows, other.runId);
    expect(histories.length).toBeGreaterThan(4);
    for (const { events: all = [] } of histories) expect(all?.length).toBeLessThan(90);
  });

  test("X5 X9 is cancelled in whichever history it is", async () => {
    const place = await here.another();
    await place.inside();
    const n = "long-cancel";
    const all = [...Array.from({ length: 6 }, (_, i) => call("look", `${n}-${i}`)), call("put", n, "always")];
    const runId = await place.start("free", script(n, all));
    await place.marked(n, "tool", "put");
    expect((await historiesOf(place.workflows, runId)).length).toBeGreaterThan(1);
    await place.trackside.runs.cancel(runId);
    await expect(place.ended(runId)).rejects.toThrow();
    expect((await place.trackside.runs.events(runId)).at(-1)).toMatchObject({ status: "cancelled" });
  });
});

/** The same agents in this process. */
function durable(place: Place): Trackside {
  const dir = temporaryFolder("reference");
  const agents = makeAgents({ marks: place.marksFile });
  const trackside = new Trackside({
    store: sqlite(join(dir, "db"), { sync: "normal" }),
    agents,
    keyring: KEYS,
  });
  onTestFinished(() => trackside.close());
  return trackside;
}

/** A run to which somebody sends a message at one step and for which somebody decides at another. */
async function played(place: Place, trackside: Trackside, n: string) {
  const { runId } = await trackside.start("gated", script(n, steps(n)));
  await place.marked(n, "tool", "put");
  await trackside.steer(runId, "hurry", { requestId: n, wait: false });
  if (trackside === place.trackside) await signalled(place, runId); // else the message may join a step later
  place.opens(n);
  const { id } = await place.until("an approval", async () => (await trackside.approvals.list({ runId }))[0]);
  await trackside.approvals.decide(id, { choice: "approve", by: "ann" });
  const { text } = await trackside.runs.result(runId);
  expect(text).toBe("done");
  const receipt = await trackside.steer(runId, "hurry", { requestId: n });
  return { runId, receipt: receipt.state };
}

/** Waits until a worker has told the workflow that there is something for it. */
function signalled(place: Place, runId: string): Promise<unknown> {
  return place.until("a signal", async () => {
    const { events } = await place.workflows.getHandle(runId).fetchHistory();
    return events?.find((event) => event.workflowExecutionSignaledEventAttributes);
  });
}
