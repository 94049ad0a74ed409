import { expect, test } from "vitest";
import { call, script } from "./support/agents.ts";
import { placeSuite } from "./support/suite.ts";

// What people decide while no worker is there, and workers that leave or come back (L4, L5, X4).

await placeSuite("people decide, workers come and go", {}, (here) => {
  test("L4 L5 nobody runs while somebody thinks; who has only the store decides, and another worker goes on", async () => {
    const { place } = here;
    await place.workers(1);
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
    const desk = await place.desk();
    const decided = await desk.approvals.decide(id, { choice: "approve", by: "ann" });
    expect(decided).toMatchObject({ state: "approved", decision: { by: "ann" } });
    expect(place.marksOf(n)).toHaveLength(before);
    await place.inside();
    expect(await place.text(runId)).toBe("done");
    expect(place.marksOf(n, "tool", "charge")).toHaveLength(1);
    expect(place.marksOf(n, "model")).toHaveLength(3);
    expect(await place.trace(runId, n)).toEqual(await place.trace(undisturbed, calm));
  });

  test("L4 two people decide at once from two hosts: one wins, and the tool runs once or not at all", async () => {
    const place = await here.another();
    await place.inside();
    const n = "two-people";
    const runId = await place.start("gated", script(n, [call("charge", n), "done"]));
    const { id } = await place.pending(runId);
    const [ann, bob] = [await place.desk(), await place.desk()];
    const [yes, no] = await Promise.allSettled([
      ann.approvals.decide(id, { choice: "approve", by: "ann" }),
      bob.approvals.decide(id, { choice: "reject", by: "bob" }),
    ]);
    const [won, lost] = yes.status === "fulfilled" ? [yes, no] : [no, yes];
    const isApproved = won === yes;
    expect(won).toMatchObject({
      value: isApproved
        ? { state: "approved", decision: { by: "ann" } }
        : { state: "rejected", decision: { by: "bob" } },
    });
    expect(lost).toMatchObject({ reason: { code: "approval_conflict" } });
    expect(await place.text(runId)).toBe("done");
    expect(place.marksOf(n, "tool")).toHaveLength(isApproved ? 1 : 0);
  });

  test("X4 a worker that froze and comes back changes nothing of what went on without it", async () => {
    const place = await here.another();
    await place.workers(1);
    const n = "frozen";
    const runId = await place.start("free", script(n, [call("look", n, "first"), "done"]));
    const { pid } = await place.marked(n, "tool", "look");
    process.kill(pid, "SIGSTOP");
    await place.inside();
    expect(await place.text(runId)).toBe("done");
    const before = await place.trackside.runs.events(runId);
    process.kill(pid, "SIGCONT");
    await place.marked(n, "aborted", "look"); // it hears that it was given up
    expect(await place.trackside.runs.events(runId)).toEqual(before);
    expect(place.marksOf(n, "tool")).toHaveLength(2);
  });

  test("X9 a worker that is told to stop leaves the tool it has under way to another", async () => {
    const place = await here.another();
    await place.workers(1);
    const n = "leaves";
    const runId = await place.start("free", script(n, [call("look", n, "first"), "done"]));
    const { pid } = await place.marked(n, "tool", "look");
    process.kill(pid, "SIGTERM");
    await place.inside();
    expect(await place.text(runId)).toBe("done");
    const results = (await place.trackside.runs.events(runId)).filter(({ type }) => type === "tool_result");
    expect(results).toMatchObject([{ success: true }]);
    expect(place.marksOf(n, "tool")).toHaveLength(2);
  });
});
