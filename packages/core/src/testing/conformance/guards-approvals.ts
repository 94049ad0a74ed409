import assert from "node:assert/strict";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import { TracksideError } from "../../errors.ts";
import type { Approve } from "../../local/approvals.ts";
import type { RunResult } from "../../local/run-result.ts";
import { defineRail } from "../../rails/rail.ts";
import { ask, skip } from "../../rails/verdicts.ts";
import type { Approval } from "../../schema/approval.ts";
import { defineTool } from "../../tools/define-tool.ts";
import { scriptedModel } from "../scripted-model.ts";
import { behaviour, collect, rejection, until } from "./behaviour.ts";

function paying(amounts: readonly number[], more: object = {}) {
  const ran: number[] = [];
  const pay = defineTool({
    name: "pay",
    input: z.object({ amount: z.number().max(1000) }),
    execute: ({ amount }) => {
      ran.push(amount);
      return `paid ${amount}`;
    },
  });
  const model = scriptedModel([
    { calls: amounts.map((amount) => ({ tool: "pay", args: { amount } })) },
    "done",
  ]);
  const agent = new Agent({ name: "a", model, tools: [pay], hitlTools: ["pay"], ...more });
  return { agent, ran, model };
}

function outcomes({ messages }: Pick<RunResult<unknown>, "messages">): unknown[] {
  return messages.flatMap((message) =>
    message.role === "tool"
      ? [message.output.type === "error" ? message.output.failure.code : message.output.value]
      : [],
  );
}

const codeOf = (deciding: Promise<unknown>) =>
  deciding.then(
    () => "won",
    (error: unknown) => (error instanceof TracksideError ? error.code : String(error)),
  );

/** Human approval (L) and client tools (T8). */
export const guardsApprovals = [
  behaviour(
    "L1 a gated call is one record before it runs: rails, then the human, then the tool",
    async (make) => {
      const order: string[] = [];
      const rails = [
        defineRail({ name: "cap", on: ["PRE_TOOL_CALL"] }, (ctx) => {
          order.push("rail");
          ctx.inputs.arguments = { amount: 50 };
          return ask("large");
        }),
      ];
      const { agent, ran } = paying([500], { rails });
      const seen: Approval[] = [];
      const stream = agent.stream("Go", {
        engine: await make(),
        approve: (approval) => {
          order.push("human");
          seen.push(approval);
          assert.deepEqual(ran, []);
          return { choice: "approve" };
        },
      });
      const events = await collect(stream);
      const result = await stream.result;
      assert.deepEqual(order, ["rail", "human"]);
      assert.deepEqual(ran, [50]);
      assert.deepEqual(seen[0]?.reasons, ["pay is in hitl_tools", "cap: large"]);
      assert.deepEqual(seen[0]?.arguments, { amount: 50 });
      const states = events.flatMap((event) => (event.type === "approval" ? [event.state] : []));
      assert.deepEqual(states, ["pending", "approved"]);
      const message = result.messages.find(({ role }) => role === "tool");
      assert.ok(message?.role === "tool");
      assert.equal(message.metadata.approval_status, "approved");
      assert.equal(message.metadata.attempts, 1);
      assert.deepEqual(message.metadata.original_args, { amount: 500 });
    },
  ),

  behaviour("L2 what nobody approves never runs; siblings are decided apart", async (make) => {
    const engine = await make();
    const { agent, ran, model } = paying([1, 2, 3, 4]);
    let answer: (decision: { choice: string }) => void = () => {};
    const last = new Promise<{ choice: string }>((resolve) => (answer = resolve));
    const approve: Approve = async ({ arguments: args }) => {
      switch (args?.["amount"]) {
        case 1:
          return { choice: "approve" };
        case 2:
          return { choice: "reject", reason: "too much" };
        case 3:
          throw new Error("asleep");
        default:
          return last;
      }
    };
    const stream = agent.stream("Go", { engine, approve });
    let seen = 0;
    for await (const event of stream) {
      if (event.type !== "tool_result") continue;
      seen += 1;
      if (seen === 3) answer({ choice: "reject" }); // the others did not wait for it
    }
    const result = await stream.result;
    assert.deepEqual(ran, [1]);
    assert.deepEqual(outcomes(result), ["paid 1", "rejected", "rejected", "rejected"]);
    assert.match(JSON.stringify(model.requests[1]?.prompt), /rejected: too much/);

    const silent = paying([5], { hitlTimeoutSeconds: 0.05 });
    const timed = await silent.agent.run("Go", { engine, approve: () => new Promise<never>(() => {}) });
    assert.deepEqual(silent.ran, []);
    assert.deepEqual(outcomes(timed), ["approval_timed_out"]);
  }),

  behaviour("L3 edited arguments pass the rails again, and are what runs, once", async (make) => {
    const seen: unknown[] = [];
    const rails = [
      defineRail({ name: "watch", on: ["PRE_TOOL_CALL"] }, (ctx) => {
        seen.push(ctx.inputs.arguments["amount"]);
        return ctx.inputs.arguments["amount"] === 13 ? skip("unlucky") : undefined;
      }),
    ];
    const edit = async (amount: number) => {
      seen.length = 0;
      const { agent, ran, model } = paying([500], { rails });
      const engine = await make();
      await agent.run("Go", { engine, approve: () => ({ choice: "approve", editedArguments: { amount } }) });
      return { ran, told: JSON.stringify(model.requests[1]?.prompt) };
    };
    const edited = await edit(7);
    assert.deepEqual(seen, [500, 7]);
    assert.deepEqual(edited.ran, [7]);
    assert.match(edited.told, /It ran with other arguments than you wrote/);
    assert.deepEqual((await edit(13)).ran, [], "a rail still refuses what a human wrote");
  }),

  behaviour("L4 of several deciders one wins, the call runs once, and the rest are told", async (make) => {
    const { agent, ran } = paying([500]);
    const stream = agent.stream("Go", { engine: await make() });
    await until(() => stream.pending.length === 1, "an approval");
    const id = stream.pending[0]?.id ?? "";
    assert.equal(
      await codeOf(stream.decide(id, { choice: "approve", editedArguments: { amount: "lots" } })),
      "decision_invalid",
    );
    assert.equal(stream.pending.length, 1, "an invalid edit changes nothing");

    const decisions = [
      { choice: "approve", by: "ann" },
      { choice: "reject", by: "bob" },
      { choice: "approve", by: "eve", editedArguments: { amount: 1 } },
    ];
    const codes = await Promise.all(decisions.map((decision) => codeOf(stream.decide(id, decision))));
    assert.deepEqual(codes.toSorted(), ["approval_conflict", "approval_conflict", "won"]);
    const winner = decisions[codes.indexOf("won")];
    assert.ok(winner);
    const again = await stream.decide(id, { ...winner, by: "somebody else" });
    assert.equal(again.decision?.by, winner.by, "the same decision again is the same record");
    const other = winner.choice === "reject" ? "approve" : "reject";
    const error = await rejection(stream.decide(id, { choice: other }));
    assert.match(error.message, new RegExp(`by ${winner.by}$`));
    await stream.result;
    assert.deepEqual(ran, { ann: [500], bob: [], eve: [1] }[winner.by]);
  }),

  behaviour("L6 a reader can decide as soon as it sees the question", async (make) => {
    const { agent, ran } = paying([1, 2, 3]);
    const stream = agent.stream("Go", { engine: await make() });
    for await (const event of stream) {
      if (event.type === "approval" && event.state === "pending")
        await stream.decide(event.approval_id, { choice: "approve" });
    }
    await stream.result;
    assert.deepEqual(ran.toSorted(), [1, 2, 3]);
  }),

  behaviour(
    "L6 with nobody to approve it, a call that a rail asks about is rejected",
    ["no inbox"],
    async (make) => {
      const rails = [defineRail({ name: "asker", on: ["PRE_TOOL_CALL"] }, () => ask("may I?"))];
      const { agent, ran } = paying([500], { rails, hitlTools: [] });
      const result = await agent.run("Go", { engine: await make() });
      assert.deepEqual(ran, []);
      assert.deepEqual(outcomes(result), ["rejected"]);
    },
  ),

  behaviour("X5 a cancel closes what is open: every call has its result, and nothing runs", async (make) => {
    const { agent, ran } = paying([1, 2]);
    const stream = agent.stream("Go", { engine: await make() });
    await until(() => stream.pending.length === 2, "two approvals");
    const ids = stream.pending.map(({ id }) => id);
    stream.cancel("enough");
    const error = await rejection(stream.result);
    assert.equal(error.name, "RunCancelledError");
    for (const id of ids)
      assert.equal(await codeOf(stream.decide(id, { choice: "approve" })), "approval_conflict");
    assert.deepEqual(ran, []);
    assert.deepEqual(outcomes(error.result as RunResult<string>), ["cancelled", "cancelled"]); // every error of a run carries it
  }),

  behaviour("T8 a client tool waits for its result, which has to fit its schema", async (make) => {
    const locate = defineTool({
      name: "locate",
      input: z.object({}),
      output: z.object({ city: z.string() }),
      executor: "client",
    });
    const model = scriptedModel([{ calls: [{ tool: "locate" }] }, "done"]);
    const agent = new Agent({ name: "a", model, tools: [locate] });
    const stream = agent.stream("Go", { engine: await make() });
    await until(() => stream.pending.length === 1, "a client's turn");
    const [record] = stream.pending;
    assert.equal(record?.kind, "client_tool");
    const submit = (response: object) =>
      stream.decide(record?.id ?? "", { choice: "submit", response: response as never });
    assert.equal(await codeOf(submit({ town: "Ghent" })), "decision_invalid");
    await submit({ city: "Ghent" });
    assert.equal(await codeOf(submit({ city: "Bruges" })), "approval_conflict");
    const result = await stream.result;
    assert.deepEqual(outcomes(result), [{ city: "Ghent" }]);
    assert.match(JSON.stringify(model.requests[1]?.prompt), /Ghent/);
  }),

  behaviour(
    "T8 H9 a tool that came with the request is the last of the list, for its run only",
    async (make) => {
      const look = defineTool({ name: "look", input: z.object({}), effect: "none", execute: () => "sea" });
      const model = scriptedModel([
        {
          calls: [
            { tool: "locate", args: { exact: "yes" } },
            { tool: "locate", args: { exact: true } },
          ],
        },
        "done",
        "again",
      ]);
      const agent = new Agent({ name: "a", model, tools: [look], allowSelfSpawn: true });
      const engine = await make();
      const stream = agent.stream("Go", {
        engine,
        clientTools: [
          {
            name: "locate",
            description: "Where the user is",
            inputSchema: { type: "object", properties: { exact: { type: "boolean" } }, required: ["exact"] },
          },
        ],
      });
      await until(() => stream.pending.length === 1, "a client's turn");
      const [record] = stream.pending;
      assert.equal(record?.kind, "client_tool");
      assert.deepEqual(record?.arguments, { exact: true });
      await stream.decide(record?.id ?? "", { choice: "submit", response: { city: "Ghent" } });
      const [malformed, found] = outcomes(await stream.result);
      assert.match(JSON.stringify(malformed), /invalid/);
      assert.deepEqual(found, { city: "Ghent" });
      const offered = (at: number) => (model.requests[at]?.tools ?? []).map(({ name }) => name);
      const own = offered(0).slice(0, offered(0).indexOf("locate"));
      assert.deepEqual(own.slice(0, 2), ["look", "spawn_self"]);
      assert.deepEqual(offered(1).slice(0, own.length + 1), [...own, "locate"]);
      const second = agent.stream("Go", { engine });
      await second.result;
      assert.equal(offered(2).includes("locate"), false);
    },
  ),
];
