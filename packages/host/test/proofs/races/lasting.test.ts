import { expect, test } from "vitest";
import { rows } from "../../../src/store/index.ts";
import { script } from "./support/agents.ts";
import { onAnyStore, type Place } from "./support/place.ts";

const DAY_MS = 86_400_000;

await onAnyStore("approvals that last", (fresh) => {
  test("L5 decided while no engine is up, by a process that has only the store: it runs once, with the same record", async () => {
    const place = await fresh();
    const first = await place.process();
    await first.start(Array.from({ length: 10 }, (_, n) => gated(n)));
    const before = await place.pending(10);
    await first.kill();
    const desk = await place.process({ role: "desk" });
    const decisions = before.map(({ id }, i) => ({
      id,
      decision:
        i % 2 === 0 ? { choice: "approve", by: "ann" } : { choice: "reject", by: "bob", reason: "no" },
    }));
    const got = await desk.ask({ do: "decide", decisions });
    expect(got.map(({ state }) => state)).toEqual(
      decisions.map((_, i) => (i % 2 === 0 ? "approved" : "rejected")),
    );
    await desk.close();
    expect(place.ran()).toEqual(new Map());

    const [second, third] = await Promise.all([place.process(), place.process()]);
    const ended = await place.ended(10);
    expect(ended.map(({ status }) => status)).toEqual(Array(10).fill("completed"));
    const after = await place.approvals();
    expect(after.map(({ id, deadline, requested_at }) => ({ id, deadline, requested_at }))).toEqual(
      before.map(({ id, deadline, requested_at }) => ({ id, deadline, requested_at })),
    );
    for (const { state, arguments: args } of after)
      expect(place.ran().get(Number(args?.["n"])) ?? 0).toBe(state === "approved" ? 1 : 0);
    await Promise.all([second.kill(), third.kill()]);
    await place.process();
    expect(place.ran().size).toBe(5);
  });

  test("L5 a deadline that passes while nobody runs has passed: it times out, whoever comes, and nothing runs", async () => {
    const place = await fresh();
    const first = await place.process();
    await first.start([gated(1), gated(2)]);
    const [one] = await place.pending(2);
    await first.kill();
    await letPass(place);
    expect(await place.approvals("pending")).toHaveLength(2); // nobody was there to close them
    const desk = await place.process({ role: "desk" });
    const [late] = await desk.ask({
      do: "decide",
      decisions: [{ id: one?.id ?? "", decision: { choice: "approve", by: "ann" } }],
    });
    expect(late).toMatchObject({ code: "approval_conflict", message: expect.stringContaining("deadline") });
    await place.process();
    await place.ended(2);
    expect((await place.approvals()).map(({ state }) => state)).toEqual(["timed_out", "timed_out"]);
    expect(place.ran()).toEqual(new Map());
  });

  test("L5 a deadline further away than timers reach does not fire at once, nor after a restart", async () => {
    const place = await fresh();
    const far = { timeoutSeconds: (60 * DAY_MS) / 1000 };
    const first = await place.process(far);
    await first.start([gated(1)]);
    const [approval] = await place.pending(1);
    expect((approval?.deadline ?? 0) - Date.now()).toBeGreaterThan(59 * DAY_MS);
    await first.kill();
    const second = await place.process(far);
    // A timer that is set for too long fires at once: long before a later run of the same process has ended.
    const later = script(2, [{ calls: [{ tool: "look", args: { n: 2, ms: 200 } }] }, "done"]);
    const [other = ""] = await second.start([{ agent: "free", input: later }]);
    await second.ask({ do: "result", runs: [other] });
    expect(await place.approvals("pending")).toHaveLength(1);
    await second.ask({
      do: "decide",
      decisions: [{ id: approval?.id ?? "", decision: { choice: "approve", by: "ann" } }],
    });
    await place.ended(2);
    expect(place.ran()).toEqual(new Map([[1, 1]]));
  });

  test("L5 it is the deadline of the record that counts, not that of the process which goes on", async () => {
    const place = await fresh();
    const first = await place.process({ timeoutSeconds: 3600 });
    await first.start([gated(1)]);
    await place.pending(1);
    await first.kill();
    await letPass(place);
    await place.process({ timeoutSeconds: 3600 });
    await place.ended(1);
    expect((await place.approvals()).map(({ state }) => state)).toEqual(["timed_out"]);
    expect(place.ran()).toEqual(new Map());
  });
});

/** Puts the deadline of everything that waits into the past: time flies while nobody is there. */
async function letPass(place: Place): Promise<void> {
  const deadline = Date.now() - 1;
  for (const approval of await place.approvals("pending")) {
    const body = JSON.stringify({ v: 1, ...approval, deadline });
    await place.store.write((db) =>
      rows(db.updateTable("approvals").set({ body, deadline }).where("id", "=", approval.id)),
    );
  }
}

function gated(n: number) {
  return {
    agent: "gated" as const,
    input: script(n, [{ calls: [{ tool: "charge", args: { n } }] }, "done"]),
  };
}
