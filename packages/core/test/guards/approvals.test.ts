import { Agent, type Approval, type Approve, ask, defineRail, defineTool } from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { approving, clerk } from "./clerk.ts";
import { ENGINES, eventsOf, expectPaired, failure, outputs, play, results, verdicts } from "./stage.ts";

describe.each(ENGINES)("L1 a gated call, on the %s engine", (_name, make) => {
  test("L1 makes one record before it runs, with everything a human needs", async () => {
    const clock = manualClock();
    const seen: Approval[] = [];
    const { agent, ran } = clerk();
    const approve: Approve = (approval) => {
      expect(ran).toEqual([]);
      seen.push(approval);
      return { choice: "approve", by: "ann" };
    };
    const { result, stream } = await clock.finish(play(agent, { engine: make({ clock }), approve }));

    expect(seen).toHaveLength(1);
    expect(seen[0]).toMatchObject({
      kind: "tool_call",
      run_id: stream.runId,
      call_id: `${stream.runId}.main.1.0`,
      tool: "pay",
      arguments: { to: "Ann", amount: 500 },
      injected_args: {},
      reasons: ["pay is in hitl_tools"],
      requester: "clerk",
      choices: ["approve", "reject"],
      state: "pending",
      decision: null,
    });
    expect((seen[0]?.deadline ?? 0) - (seen[0]?.requested_at ?? 0)).toBe(3_600_000);
    expect(seen[0]?.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(ran).toEqual([{ to: "Ann", amount: 500 }]);
    expect(results(result)[0]?.metadata).toMatchObject({
      approval_status: "approved",
      approval_id: seen[0]?.id,
      attempts: 1,
    });
  });

  test("L1 rails come first, then the approval, then the tool", async () => {
    const order: string[] = [];
    const rail = defineRail({ name: "round", on: ["PRE_TOOL_CALL"] }, (ctx) => {
      order.push("rail");
      ctx.inputs.arguments = { ...ctx.inputs.arguments, amount: 100 };
    });
    const { agent, ran } = clerk({ rails: [rail] });
    await play(agent, {
      engine: make(),
      approve: ({ arguments: args }) => {
        order.push(`asked ${args?.["amount"]}`);
        return { choice: "approve" };
      },
    });

    expect(order).toEqual(["rail", "asked 100"]);
    expect(ran).toEqual([{ to: "Ann", amount: 100 }]);
  });

  test("L1 the question and its answer are events, between the call and its result", async () => {
    const { agent } = clerk();
    const { events } = await play(agent, { engine: make(), approve: approving() });
    const order = events.flatMap((event) =>
      event.type === "approval"
        ? [event.state]
        : event.type.startsWith("tool_") && "seq" in event
          ? [event.type]
          : [],
    );

    expect(order).toEqual(["tool_call", "pending", "approved", "tool_result"]);
    const [pending, decided] = eventsOf(events, "approval");
    expect(pending?.deadline).toBe(decided?.deadline);
    expect(decided).toMatchObject({
      decided_by: "ann",
      tool: "pay",
      reasons: ["pay is in hitl_tools"],
      kind: "tool_call",
    });
  });

  test("L1 the digest is that of the arguments, however their keys are ordered", async () => {
    const digest = async (args: object) => {
      const seen: Approval[] = [];
      await play(clerk({ calls: [{ tool: "pay", args }] }).agent, {
        engine: make(),
        approve: approving(seen),
      });
      return seen[0]?.digest;
    };
    const one = await digest({ to: "Ann", amount: 5 });

    expect(await digest({ amount: 5, to: "Ann" })).toBe(one);
    expect(await digest({ amount: 6, to: "Ann" })).not.toBe(one);
  });
});

describe.each(ENGINES)("L2 a call that is not approved, on the %s engine", (_name, make) => {
  test("L2 rejected: it never runs, and the model reads the reason", async () => {
    const { agent, ran, model } = clerk();
    const { result, events } = await play(agent, {
      engine: make(),
      approve: () => ({ choice: "reject", reason: "too much" }),
    });

    expect(ran).toEqual([]);
    expect(outputs(result)).toEqual(["rejected"]);
    expect(results(result)[0]?.metadata).toMatchObject({
      status: "rejected",
      approval_status: "rejected",
      execution_time_ms: 0,
    });
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain("Not run: the call was rejected: too much");
    expect(eventsOf(events, "approval").at(-1)?.state).toBe("rejected");
  });

  test("L2 not answered in time: it never runs, and the model reads that", async () => {
    const clock = manualClock();
    const { agent, ran, model } = clerk({ seconds: 30 });
    const { result, events } = await clock.finish(
      play(agent, { engine: make({ clock }), approve: () => new Promise(() => {}) }),
    );

    expect(ran).toEqual([]);
    expect(results(result)[0]?.metadata).toMatchObject({
      status: "timed_out",
      approval_status: "timed_out",
      approval_wait_ms: 30_000,
    });
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain("nobody approved the call in time");
    expect(eventsOf(events, "approval").at(-1)).toMatchObject({ state: "timed_out", decided_by: "deadline" });
  });

  test("L2 siblings are decided apart and do not wait for each other", async () => {
    const clock = manualClock();
    const calls = [1, 2, 3].map((amount) => ({ tool: "pay", args: { to: "Ann", amount } }));
    const { agent, ran } = clerk({ calls, seconds: 100 });
    const at: Record<number, number> = {};
    const { result, events } = await clock.finish(
      play(agent, {
        engine: make({ clock }),
        approve: async ({ arguments: args }) => {
          const amount = Number(args?.["amount"]);
          if (amount === 1) return new Promise(() => {}); // its deadline decides
          await new Promise<void>((resolve) => clock.after(amount * 10_000, resolve));
          at[amount] = clock.now();
          return { choice: amount === 2 ? "approve" : "reject" };
        },
      }),
    );

    expect(ran).toEqual([{ to: "Ann", amount: 2 }]);
    expect(outputs(result)).toEqual(["approval_timed_out", "paid 2", "rejected"]);
    const ended = eventsOf(events, "tool_result").map(({ call_id }) => call_id.at(-1));
    expect(ended).toEqual(["1", "2", "0"]); // each when it was decided
    expect((at[3] ?? 0) - (at[2] ?? 0)).toBe(10_000);
    expectPaired(result, events);
  });
});

describe("L6 who approves", () => {
  test("L6 with nobody there a run with hitl_tools, with a rail that asks, or with a client tool is refused at the start", async () => {
    const asker = defineRail({ name: "asker", on: ["PRE_TOOL_CALL"], asks: true }, () => ask("may I?"));
    const client = defineTool({ name: "locate", executor: "client" });
    const model = () => scriptedModel(["hi"]);
    const refused: [Agent<never, never>, string][] = [
      [clerk().agent as never, "hitl_tools (pay)"],
      [clerk({ hitl: false, rails: [asker] }).agent as never, "rails that ask (asker)"],
      [new Agent({ name: "a", model: model(), tools: [client] }) as never, "client tools (locate)"],
    ];
    for (const [agent, what] of refused) {
      const error = await failure(agent.run("Go"));
      expect(error.code).toBe("not_available");
      expect(error.message).toContain(what);
      expect(error.message).toContain("pass `approve` to run(), or use stream() and decide()");
    }
  });

  test.each(ENGINES)(
    "L6 any other ask without an approver is rejected with that reason, on the %s engine",
    async (_name, make) => {
      const asker = defineRail({ name: "asker", on: ["PRE_TOOL_CALL"] }, () => ask("may I?"));
      const { agent, ran, model } = clerk({ hitl: false, rails: [asker] });
      const result = await agent.run("Go", { engine: make() });

      expect(ran).toEqual([]);
      expect(outputs(result)).toEqual(["rejected"]);
      expect(JSON.stringify(model.requests[1]?.prompt)).toContain("nobody is there to approve it");
    },
  );

  test.each(ENGINES)(
    "L6 an approver that fails has rejected, never approved, on the %s engine",
    async (_name, make) => {
      for (const approve of [
        () => Promise.reject(new Error("asleep")),
        () => ({ choice: "yes" }),
        () => null as never,
        () => ({ choice: "approve", editedArguments: { amount: "all of it" } }),
      ]) {
        const { agent, ran, model } = clerk();
        await play(agent, { engine: make(), approve });
        expect(ran).toEqual([]);
        expect(JSON.stringify(model.requests[1]?.prompt)).toContain("the approver failed: ");
      }
    },
  );

  test("L6 `approve` that is no function is refused", async () => {
    const error = await failure(clerk().agent.run("Go", { approve: true as never }));
    expect(error.message).toContain("approve: a function (approval) => decision expected");
  });

  test("R6 an ask is recorded as a verdict of its rail", async () => {
    const asker = defineRail({ name: "asker", on: ["PRE_TOOL_CALL"] }, () => ask("may I?"));
    const { events } = await play(clerk({ hitl: false, rails: [asker] }).agent, { approve: approving() });

    expect(verdicts(events)).toEqual(["asker:ask@PRE_TOOL_CALL"]);
  });
});
