import { RunCancelledError } from "trackside";
import { expect, test } from "vitest";
import { call, script, spawning } from "./support/agents.ts";
import type { Place } from "./support/place.ts";
import { placeSuite } from "./support/suite.ts";

await placeSuite("a cancel", {}, (here) => {
  test("X5 X9 stops a tool, an approval and sub-agents with a model and a tool under way, on other processes", async () => {
    const { place } = here;
    await place.workers(2);
    const n = "everything";
    const children = [
      script(`${n}-model`, [{ text: "one two three four", hangAfter: 4 }]),
      script(`${n}-tool`, [call("look", `${n}-tool`, "always")]),
    ];
    const { calls = [] } = spawning(...children);
    const all = [...(call("put", n, "always").calls ?? []), ...(call("charge", n).calls ?? []), ...calls];
    const runId = await place.start("gated", script(n, [{ calls: all }, "never"]));
    await Promise.all([
      place.marked(n, "tool", "put"),
      place.marked(`${n}-model`, "model", "0"),
      place.marked(`${n}-tool`, "tool", "look"),
      place.pending(runId),
    ]);
    await place.trackside.runs.cancel(runId, { reason: "enough" });
    await Promise.all([place.marked(n, "aborted", "put"), place.marked(`${n}-tool`, "aborted", "look")]);
    await expect(place.ended(runId)).rejects.toThrow(RunCancelledError);

    const [parent, ...below] = await ends(place, runId);
    expect(parent).toEqual({ id: runId, status: "cancelled", terminals: ["cancelled"], loose: [] });
    expect(below.map(({ status, terminals, loose }) => ({ status, terminals, loose }))).toEqual([
      { status: "cancelled", terminals: ["cancelled"], loose: [] },
      { status: "cancelled", terminals: ["cancelled"], loose: [] },
    ]);
    expect(await place.trackside.approvals.list({ rootRunId: runId })).toEqual([]);
    expect(place.marksOf(n, "tool", "charge")).toEqual([]);
    // Temporal has nothing left to do either: each workflow completes.
    for (const id of [runId, ...below.map((one) => one.id)]) await place.workflows.getHandle(id).result();
  });

  test("X5 ends a run whose worker is dead and was not missed yet", async () => {
    const { place } = here;
    await place.workers(2);
    const n = "dead";
    const runId = await place.start("free", script(n, [call("look", n, "always"), "never"]));
    await place.kill(await place.marked(n, "tool", "look"));
    await place.trackside.runs.cancel(runId, { reason: "enough" });
    await expect(place.ended(runId)).rejects.toThrow(RunCancelledError);
    const [ended] = await ends(place, runId);
    expect(ended).toEqual({ id: runId, status: "cancelled", terminals: ["cancelled"], loose: [] });
    expect(place.marksOf(n, "tool")).toHaveLength(1);
  });

  test("X5 is heard when no worker is up, and nothing runs again", async () => {
    const { place } = here;
    await place.workers(1);
    const n = "nobody";
    const runId = await place.start("free", script(n, [call("look", n, "always"), "never"]));
    await place.marked(n, "tool", "look");
    await place.killAll();
    await place.trackside.runs.cancel(runId, { reason: "enough" });
    await place.inside();
    await expect(place.ended(runId)).rejects.toThrow(RunCancelledError);
    expect(await ends(place, runId)).toEqual([
      { id: runId, status: "cancelled", terminals: ["cancelled"], loose: [] },
    ]);
    expect(place.marksOf(n, "tool")).toHaveLength(1);
  });
});

const TERMINAL = ["completed", "error", "cancelled"];

/** How a run and its sub-agents ended, and the calls of each that have no result. */
async function ends({ trackside }: Place, runId: string) {
  const below = await trackside.runs.list({ parent: runId });
  return Promise.all(
    [runId, ...below.map(({ id }) => id)].map(async (id) => {
      const { status } = await trackside.runs.get(id);
      const events = await trackside.runs.events(id);
      const done = new Set(events.flatMap((event) => (event.type === "tool_result" ? [event.call_id] : [])));
      return {
        id,
        status,
        terminals: events.flatMap((event) =>
          event.type === "status" && TERMINAL.includes(event.status) ? [event.status] : [],
        ),
        loose: events.flatMap((event) =>
          event.type === "tool_call" && !done.has(event.call_id) ? [event.call_id] : [],
        ),
      };
    }),
  );
}
