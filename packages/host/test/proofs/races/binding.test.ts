import type { Approval } from "trackside";
import { expect, test } from "vitest";
import { rows } from "../../../src/store/index.ts";
import { script } from "./support/agents.ts";
import { onAnyStore, type Place, type Worker } from "./support/place.ts";
import type { Got } from "./support/protocol.ts";

await onAnyStore("binding", (fresh) => {
  test("L3 arguments edited in the record behind the engine's back do not run, before or after the decision", async () => {
    const place = await fresh();
    const worker = await place.process();
    await worker.start([gated(1), gated(2)]);
    const [one, two] = await place.pending(2);
    await tamper(place, one, (record) => ({ ...record, arguments: { n: 666 } }));
    // The digest in the record is no proof: whoever can edit the one can edit the other.
    await tamper(place, two, (record) => ({ ...record, arguments: { n: 667 }, digest: "edited too" }));
    for (const approval of [one, two])
      expect(await approve(worker, approval)).toMatchObject({ state: "approved" });
    await place.ended(2);
    expect(place.ran()).toEqual(new Map());
    const results = await toolTexts(place);
    expect(results).toEqual(Array(2).fill(expect.stringContaining("arguments")));

    await worker.start([gated(3)]);
    const [three] = await place.pending(1);
    await worker.kill();
    const desk = await place.process({ role: "desk" });
    expect(await approve(desk, three)).toMatchObject({ state: "approved" });
    await tamper(place, three, (record) => ({ ...record, arguments: { n: 668 } }));
    await place.process();
    await place.ended(3);
    expect(place.ran()).toEqual(new Map());
  });

  test("L4 a decision that is sent again runs nothing again", async () => {
    const place = await fresh();
    const worker = await place.process();
    await worker.start([gated(1)]);
    const [approval] = await place.pending(1);
    for (let i = 0; i < 3; i += 1)
      expect(await approve(worker, approval)).toMatchObject({ state: "approved" });
    await place.ended(1);
    expect(await approve(worker, approval)).toEqual({ state: "approved", by: "ann" });
    await worker.kill();
    const next = await place.process();
    expect(await approve(next, approval)).toEqual({ state: "approved", by: "ann" });
    expect(place.ran()).toEqual(new Map([[1, 1]]));
  });

  test("L4 after the deadline, from another tenant, of another run: nothing executes", async () => {
    const place = await fresh();
    const worker = await place.process({ timeoutSeconds: 0.2 });
    await worker.start([gated(1)]);
    await place.ended(1);
    const [late] = await place.approvals();
    expect(await approve(worker, late)).toMatchObject({
      code: "approval_conflict",
      message: expect.stringContaining("its deadline has passed"),
    });
    await worker.kill();

    const patient = await place.process();
    await patient.start([gated(2), gated(2)]); // two runs that ask the very same thing
    const [mine, theirs] = await place.pending(2);
    for (const tenant of ["other", ""])
      expect(await approve(patient, mine, tenant)).toMatchObject({ code: "approval_unknown" });
    expect(place.ran()).toEqual(new Map());
    // The other run's decision, put in the place of this one's.
    expect(await approve(patient, theirs)).toMatchObject({ state: "approved" });
    const [decided] = (await place.approvals()).filter(({ id }) => id === theirs?.id);
    await tamper(place, mine, () => ({ ...decided }));
    // A later run ends after 2.1 s in the same process, which looks at all its records every second.
    const slow = script(3, [{ calls: [{ tool: "look", args: { n: 3, ms: 2_100 } }] }, "done"]);
    const [other = ""] = await patient.start([{ agent: "free", input: slow }]);
    await patient.ask({ do: "result", runs: [other] });
    expect(place.ran()).toEqual(new Map([[2, 1]]));
  });

  test("L3 a tool whose schema changed between the decision and its execution does not run", async () => {
    const place = await fresh();
    const worker = await place.process();
    await worker.start([gated(1)]);
    const [approval] = await place.pending(1);
    await worker.kill();
    const desk = await place.process({ role: "desk" });
    expect(await approve(desk, approval)).toMatchObject({ state: "approved" });
    await place.process({ changed: true });
    await place.ended(1);
    expect(place.ran()).toEqual(new Map());
    expect(await toolTexts(place)).toEqual([expect.stringContaining("changed")]);
  });

  test("these tests would notice: an untouched record runs, in the process that takes the run over, too", async () => {
    const place = await fresh();
    const worker = await place.process();
    await worker.start([gated(1)]);
    const [approval] = await place.pending(1);
    await worker.kill();
    await tamper(place, approval, (record) => ({ ...record }));
    const desk = await place.process({ role: "desk" });
    expect(await approve(desk, approval)).toMatchObject({ state: "approved" });
    await place.process();
    await place.ended(1);
    expect(place.ran()).toEqual(new Map([[1, 1]]));
  });
});

function gated(n: number) {
  return {
    agent: "gated" as const,
    input: script(n, [{ calls: [{ tool: "charge", args: { n } }] }, "done"]),
  };
}

async function approve(
  worker: Worker,
  approval: Approval | undefined,
  tenant = "default",
): Promise<Got | undefined> {
  const decision = { choice: "approve", by: "ann" };
  const [got] = await worker.ask({ do: "decide", tenant, decisions: [{ id: approval?.id ?? "", decision }] });
  return got;
}

async function tamper(
  place: Place,
  approval: Approval | undefined,
  edit: (record: object) => object,
): Promise<void> {
  const id = approval?.id ?? "";
  await place.store.write(function* (db) {
    const [row] = yield* rows(db.selectFrom("approvals").select("body").where("id", "=", id));
    const edited: { state?: string } = edit(JSON.parse(row?.body ?? "{}"));
    const state = edited.state ?? "pending";
    yield* rows(
      db
        .updateTable("approvals")
        .set({ state, body: JSON.stringify({ v: 1, ...edited }) })
        .where("id", "=", id),
    );
  });
}

/** What the model was told of its calls. */
async function toolTexts(place: Place): Promise<readonly string[]> {
  const found = await place.store.read((db) => rows(db.selectFrom("commits").select("body")));
  return found
    .flatMap(({ body }) => JSON.parse(body).messages ?? [])
    .filter(({ role }: { role: string }) => role === "tool")
    .map((message: object) => JSON.stringify(message));
}
