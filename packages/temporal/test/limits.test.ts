import { expect, test } from "vitest";
import { call, script } from "./support/agents.ts";
import { historiesOf } from "./support/histories.ts";
import { measured } from "./support/measured.ts";
import { placeSuite } from "./support/suite.ts";

const STEPS = 500;
const MB = 1024 * 1024;

await placeSuite("what a run costs in Temporal", {}, (here) => {
  test("X9 500 steps with rails on every point stay far from every limit of the server", async () => {
    const { place } = here;
    await place.workers(2);
    const n = "limits";
    const from = Date.now();
    const all = [...Array.from({ length: STEPS }, (_, i) => call("look", `${n}-${i}`)), "done"];
    const runId = await place.start("guarded", script(n, all));
    expect((await place.ended(runId, 280_000)).text).toBe("done");
    measured(`${STEPS} steps with rails took`, Date.now() - from);

    const histories = await historiesOf(place.workflows, runId);
    const events = histories.flatMap((history) => history.events ?? []);
    const sizes = events.map((event) => Buffer.byteLength(JSON.stringify(event)));
    const bytes = sizes.reduce((sum, size) => sum + size, 0);
    measured("a step has", events.length / STEPS, "events");
    measured("the largest event has", Math.max(...sizes), "bytes as JSON");
    measured("all events have", bytes, "bytes as JSON");
    expect(events.length / STEPS).toBeLessThanOrEqual(13);
    expect(Math.max(...histories.map((history) => history.events?.length ?? 0))).toBeLessThan(10_000);
    expect(Math.max(...sizes)).toBeLessThan(MB / 4); // of 2 MB
    expect(bytes).toBeLessThan(20 * MB); // of 50 MB, for each of its histories
  });
});
