import { expect, test } from "vitest";
import { call, script } from "./support/agents.ts";
import { measured } from "./support/measured.ts";
import { placeSuite } from "./support/suite.ts";

// What people decide while no worker is there, and workers that leave or come back (L4, L5, X4).

await placeSuite("people decide, workers come and go", {}, (here) => {
  test("L4 L5 nobody runs while somebody thinks; who has only the store decides, and another worker goes on", async () => {
    const { place } = here;
    await place.workers(2);
    const steps = (n: string) => [call("look", n), call("charge", n), "done"];
    const calm = "calm-approval";
    const undisturbed = await place.start("gated", script(calm, steps(calm)));
    const first = await place.pending(undisturbed);
    await place.trackside.approvals.decide(first.id, { choice: "approve", by: "ann" });
    await place.ended(undisturbed);

    const n = "dies-approval";
    const runId = await place.start("gated", script(n, steps(n)));
    const { id } = await place.pending(runId);
    await place.killAll();
    const before = place.marksOf(n).length;
    const decided = await place.decides({ id, choice: "approve", by: "ann" });
    expect(decided).toEqual({ state: "approved", by: "ann" });
    expect(place.marksOf(n)).toHaveLength(before);
    await place.workers(2);
    const up = Date.now();
    const charged = await place.marked(n, "tool", "charge");
    measured("an approved tool runs after a worker is up", charged.at - up);
    expect(await place.text(runId)).toBe("done");
    expect(place.marksOf(n, "tool", "charge")).toHaveLength(1);
    expect(place.marksOf(n, "model")).toHaveLength(3);
    expect(await place.trace(runId, n)).toEqual(await place.trace(undisturbed, calm));
  });

  test("L4 two people decide at once from two processes: one wins, and the tool runs once or not at all", async () => {
    const { place } = here;
    await place.workers(2);
    const n = "two-people";
    const runId = await place.start("gated", script(n, [call("charge", n), "done"]));
    const { id } = await place.pending(runId);
    const at = Date.now() + 3_000; // both are up by then
    const [yes, no] = await Promise.all([
      place.decides({ id, choice: "approve", by: "ann", at }),
      place.decides({ id, choice: "reject", by: "bob", at }),
    ]);
    const isApproved = yes.state === "approved";
    expect(isApproved ? no : yes).toEqual({ code: "approval_conflict" });
    expect(isApproved ? yes : no).toEqual(
      isApproved ? { state: "approved", by: "ann" } : { state: "rejected", by: "bob" },
    );
    expect(await place.text(runId)).toBe("done");
    expect(place.marksOf(n, "tool")).toHaveLength(isApproved ? 1 : 0);
  });

  test("X4 a worker that froze and comes back changes nothing of what went on without it", async () => {
    const { place } = here;
    await place.workers(2);
    const n = "frozen";
    const runId = await place.start("free", script(n, [call("look", n, "first"), "done"]));
    const { pid } = await place.marked(n, "tool", "look");
    process.kill(pid, "SIGSTOP");
    expect(await place.text(runId)).toBe("done");
    const before = await place.trackside.runs.events(runId);
    process.kill(pid, "SIGCONT");
    await place.marked(n, "aborted", "look"); // it hears that it was given up
    expect(await place.trackside.runs.events(runId)).toEqual(before);
    expect(place.marksOf(n, "tool")).toHaveLength(2);
  });

  test("X9 a worker that is told to stop leaves the tool it has under way to another", async () => {
    const { place } = here;
    await place.workers(2);
    const n = "leaves";
    const runId = await place.start("free", script(n, [call("look", n, "first"), "done"]));
    const { pid } = await place.marked(n, "tool", "look");
    process.kill(pid, "SIGTERM");
    expect(await place.text(runId)).toBe("done");
    const results = (await place.trackside.runs.events(runId)).filter(({ type }) => type === "tool_result");
    expect(results).toMatchObject([{ success: true }]);
    expect(place.marksOf(n, "tool")).toHaveLength(2);
  });
});
