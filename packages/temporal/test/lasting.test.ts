import { expect, test } from "vitest";
import { call, script } from "./support/agents.ts";
import { historiesOf } from "./support/histories.ts";
import { measured } from "./support/measured.ts";
import { placeSuite } from "./support/suite.ts";

/** Enough to see that a step costs what the one before it did. TRACKSIDE_STEPS=500 makes them all. */
const STEPS = Number(process.env["TRACKSIDE_STEPS"] ?? 100);
const ALL = 500;
const MB = 1024 * 1024;

// Workers with other code, which wait for better ones, beside a run of many steps: both wait more than they work.

await placeSuite("what takes its time", {}, (here) => {
  test.concurrent("X9 a run that none of them could run is refused at submit, and what is missing is named", async () => {
    const { place } = here;
    place.worker({ without: "look" });
    await place.announced(1);
    await expect(place.start("free", script("refused", ["done"]))).rejects.toThrow(/the tool "look"/);
    await expect(place.start("guarded", script("refused", ["done"]))).rejects.toThrow(/"look"/);
    expect(await place.trackside.runs.list()).toEqual([]);
    await place.killAll();
  });

  test.concurrent("X9 beside workers with the right code they pass a run on", async () => {
    const place = await here.another();
    const other = place.worker({ without: "guard" });
    const right = place.worker();
    await Promise.all([other.ready, right.ready, place.announced(2)]);
    const { text } = await place.run("guarded", script("mixed", [call("look", "mixed"), "done"]));
    expect(text).toBe("done");
    for (const { pid } of place.marks) expect(pid).toBe(right.pid);
  });

  test.concurrent("X2 X9 alone with a run they cannot go on with, they park it: it says what is missing and can be resumed", async () => {
    const place = await here.another();
    const first = place.worker();
    await first.ready;
    const n = "parked";
    const runId = await place.start("free", script(n, [call("put", n), call("look", n, "first"), "done"]));
    await place.kill(await place.marked(n, "tool", "look"));
    await place.worker({ without: "look" }).ready;
    await place.until("the run to be parked", async () => {
      const { status } = await place.trackside.runs.get(runId);
      return status === "parked" ? status : undefined;
    });
    const parked = (await place.trackside.runs.events(runId)).at(-1);
    expect(parked).toMatchObject({ type: "status", status: "parked" });
    expect(JSON.stringify(parked)).toContain('the tool \\"look\\"');
    await place.killAll();
    await place.worker().ready;
    await place.trackside.runs.resume(runId);
    expect(await place.text(runId)).toBe("done");
    expect(place.marksOf(n, "tool", "put")).toHaveLength(1);
    expect(place.marksOf(n, "model")).toHaveLength(3);
  });

  test.concurrent("X9 500 steps with rails on every point stay far from every limit of the server", async () => {
    const place = await here.another();
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
    const tenth = Math.floor(sizes.length / 10);
    const most = (from: number) => Math.max(...sizes.slice(from, from + tenth));
    measured("a step has", events.length / STEPS, "events");
    measured("the largest event has", Math.max(...sizes), "bytes as JSON");
    measured(`the events of ${ALL} steps have`, Math.round((bytes / STEPS) * ALL), "bytes as JSON");
    expect(events.length / STEPS).toBeLessThanOrEqual(13);
    expect(most(8 * tenth)).toBeLessThan(most(tenth) * 1.2); // what is said does not grow with what was said
    expect(Math.max(...sizes)).toBeLessThan(MB / 4); // of 2 MB
    expect((bytes / STEPS) * ALL).toBeLessThan(10 * MB); // of 50 MB
    expect((events.length / STEPS) * ALL).toBeLessThan(10_000); // of 50,000
  });
});
