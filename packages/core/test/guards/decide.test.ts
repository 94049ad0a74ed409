import { Agent, defineTool, type RunStream, TracksideError } from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { collect } from "../support/collect.ts";
import { ENGINES, outputs, pause } from "./stage.ts";

function paying(seconds: number | null = 60, calls = 1, thinks = true) {
  const ran: number[] = [];
  // A schema that takes its time: both deciders are past it when the first one wins.
  const amount = z.number().refine(async (n) => {
    await pause(2);
    return n <= 1000;
  }, "at most 1000");
  const pay = defineTool({
    name: "pay",
    input: z.object({ amount: thinks ? amount : z.number() }),
    execute: ({ amount }) => {
      ran.push(amount);
      return `paid ${amount}`;
    },
  });
  const batch = Array.from({ length: calls }, (_, i) => ({ tool: "pay", args: { amount: 100 + i } }));
  const model = scriptedModel([{ calls: batch }, "done"]);
  return {
    agent: new Agent({ name: "a", model, tools: [pay], hitlTools: ["pay"], hitlTimeoutSeconds: seconds }),
    ran,
  };
}

type AnyStream = Pick<RunStream<unknown, never>, "pending" | "decide" | "result" | "cancel">;

/** Waits until so many approvals are open, and answers their ids. */
async function open(stream: AnyStream, count = 1): Promise<string[]> {
  for (let i = 0; i < 500 && stream.pending.length < count; i++) await pause(1);
  expect(stream.pending).toHaveLength(count);
  return stream.pending.map(({ id }) => id).toSorted(); // in call order
}

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "won",
    (error: unknown) => (error instanceof TracksideError ? error.code : String(error)),
  );

describe.each(ENGINES)("L4 the record decides, on the %s engine", (_name, make) => {
  test("L4 two deciders at once: one winner, one execution", async () => {
    for (let round = 0; round < 5; round++) {
      const { agent, ran } = paying();
      const stream = agent.stream("Go", { engine: make() });
      const [id = ""] = await open(stream);
      const decisions = await Promise.all([
        codeOf(stream.decide(id, { choice: "approve", by: "ann" })),
        codeOf(stream.decide(id, { choice: "reject", by: "bob" })),
        codeOf(stream.decide(id, { choice: "approve", by: "eve", editedArguments: { amount: 1 } })),
      ]);
      await stream.result;

      expect(decisions.toSorted()).toEqual(["approval_conflict", "approval_conflict", "won"]);
      expect(ran.length).toBe(decisions[1] === "won" ? 0 : 1);
    }
  });

  test("L4 the same decision again returns the same record, before and after the run has ended", async () => {
    const { agent, ran } = paying();
    const stream = agent.stream("Go", { engine: make() });
    const [id = ""] = await open(stream);
    const decision = { choice: "approve", by: "ann", editedArguments: { amount: 7 } };
    const [first, same] = await Promise.all([stream.decide(id, decision), stream.decide(id, decision)]);
    await stream.result;
    const later = await stream.decide(id, { ...decision, by: "bob" });

    expect(same).toEqual(first);
    expect(later).toEqual(first);
    expect(first).toMatchObject({
      state: "approved",
      decision: { choice: "approve", by: "ann", edited_arguments: { amount: 7 } },
    });
    expect(ran).toEqual([7]);
    expect(stream.pending).toEqual([]);
  });

  test("L4 a different decision gets a conflict that names the winner, and changes nothing", async () => {
    const { agent, ran } = paying();
    const stream = agent.stream("Go", { engine: make() });
    const [id = ""] = await open(stream);
    await stream.decide(id, { choice: "reject", by: "ann", reason: "no" });

    for (const other of [
      { choice: "approve", by: "bob" },
      { choice: "approve", by: "bob", editedArguments: { amount: 1 } },
    ]) {
      const error = await stream.decide(id, other).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "approval_conflict" });
      expect(String(error)).toContain("it was rejected by ann");
    }
    expect(outputs(await stream.result)).toEqual(["rejected"]);
    expect(ran).toEqual([]);
  });

  test("L4 an invalid edit changes nothing: the record stays open and can still be decided", async () => {
    const { agent, ran } = paying();
    const stream = agent.stream("Go", { engine: make() });
    const [id = ""] = await open(stream);
    const wrong: object[] = [
      { choice: "approve", editedArguments: { amount: 5000 } },
      { choice: "approve", editedArguments: { amount: "five" } },
      { choice: "approve", editedArguments: {} },
      { choice: "approve", editedArguments: { amount: () => 5 } },
      { choice: "maybe" },
      {},
    ];
    for (const decision of wrong) {
      expect(await codeOf(stream.decide(id, decision as never))).toBe("decision_invalid");
      expect(stream.pending).toMatchObject([
        { id, state: "pending", arguments: { amount: 100 }, decision: null },
      ]);
    }
    expect(await codeOf(stream.decide("nowhere", { choice: "approve" }))).toBe("approval_unknown");

    await stream.decide(id, { choice: "approve" });
    await stream.result;
    expect(ran).toEqual([100]);
  });

  test("L4 what was decided cannot be changed by whoever decided it", async () => {
    const { agent, ran } = paying();
    const stream = agent.stream("Go", { engine: make() });
    const [id = ""] = await open(stream);
    const editedArguments = { amount: 7 };
    const deciding = stream.decide(id, { choice: "approve", editedArguments });
    editedArguments.amount = 999; // while it is checked
    const record = await deciding;
    editedArguments.amount = 998; // and after
    await stream.result;

    expect(record.decision?.edited_arguments).toEqual({ amount: 7 });
    expect(ran).toEqual([7]);
    expect(() => Object.assign(record, { state: "rejected" })).toThrow(TypeError);
  });

  test("L4 after the deadline it is closed, whatever is decided then", async () => {
    const clock = manualClock();
    const { agent, ran } = paying(5, 1, false);
    const stream = agent.stream("Go", { engine: make({ clock }) });
    const [id = ""] = await open(stream);
    await clock.finish(stream.result);

    for (const choice of ["approve", "reject"]) {
      const error = await stream.decide(id, { choice }).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "approval_conflict" });
      expect(String(error)).toContain("its deadline has passed");
    }
    expect(ran).toEqual([]);
  });

  test("L4 an edit that is still being checked when the deadline passes comes too late", async () => {
    const clock = manualClock();
    let passes = () => {};
    const ran: number[] = [];
    const pay = defineTool({
      name: "pay",
      input: z.object({
        amount: z
          .number()
          .refine(async (n) => n !== 7 || new Promise<boolean>((resolve) => (passes = () => resolve(true)))),
      }),
      execute: ({ amount }) => ran.push(amount),
    });
    const model = scriptedModel([{ calls: [{ tool: "pay", args: { amount: 1 } }] }, "done"]);
    const agent = new Agent({ name: "a", model, tools: [pay], hitlTools: ["pay"], hitlTimeoutSeconds: 5 });
    const stream = agent.stream("Go", { engine: make({ clock }) });
    const [id = ""] = await open(stream);
    const late = codeOf(stream.decide(id, { choice: "approve", editedArguments: { amount: 7 } }));
    await clock.advance(6000);
    passes();

    expect(await late).toBe("approval_conflict");
    await clock.finish(stream.result);
    expect(ran).toEqual([]);
  });

  test("L4 a cancel closes what is open, and nothing runs", async () => {
    const { agent, ran } = paying();
    const stream = agent.stream("Go", { engine: make() });
    const [id = ""] = await open(stream);
    stream.cancel("enough");
    await expect(stream.result).rejects.toMatchObject({ name: "RunCancelledError" });
    const states = (await collect(stream)).flatMap((event) =>
      event.type === "approval" ? [event.state] : [],
    );

    expect(states).toEqual(["pending", "cancelled"]);
    expect(await codeOf(stream.decide(id, { choice: "approve" }))).toBe("approval_conflict");
    expect(ran).toEqual([]);
  });

  test("L2 siblings of a batch are decided apart, in any order", async () => {
    const { agent, ran } = paying(null, 3);
    const stream = agent.stream("Go", { engine: make() });
    const ids = await open(stream, 3);
    await stream.decide(ids[2] ?? "", { choice: "approve" });
    await stream.decide(ids[0] ?? "", { choice: "reject" });
    expect(stream.pending.map(({ id }) => id)).toEqual([ids[1]]);
    await stream.decide(ids[1] ?? "", { choice: "approve", editedArguments: { amount: 1 } });

    expect(outputs(await stream.result)).toEqual(["rejected", "paid 1", "paid 102"]);
    expect(ran.toSorted((a, b) => a - b)).toEqual([1, 102]);
  });

  test("L6 whoever reads the stream can decide as soon as the event is there", async () => {
    const { agent, ran } = paying();
    const stream = agent.stream("Go", { engine: make() });
    for await (const event of stream) {
      if (event.type === "approval" && event.state === "pending") {
        expect(stream.pending[0]?.arguments).toEqual({ amount: 100 });
        await stream.decide(event.approval_id, { choice: "approve" });
      }
    }
    await stream.result;

    expect(ran).toEqual([100]);
  });

  test("L6 `hitl_timeout_seconds: null` waits for ever", async () => {
    const clock = manualClock();
    const { agent, ran } = paying(null, 1, false);
    const stream = agent.stream("Go", { engine: make({ clock }) });
    const [id = ""] = await open(stream);
    await clock.advance(365 * 24 * 3_600_000);
    expect(stream.pending).toMatchObject([{ deadline: null }]);
    await stream.decide(id, { choice: "approve" });
    await clock.finish(stream.result);

    expect(ran).toEqual([100]);
  });
});
