import assert from "node:assert/strict";
import { Agent, cont, defineRail, defineTool, postHook, skip } from "trackside";
import { behaviour, type ScriptedRequest, type ScriptedStep, scriptedModel } from "trackside/testing";
import type { Trackside } from "../../src/index.ts";
import type { HostStage } from "./stage.ts";
import { ended, gate, queued, rejection } from "./waiting.ts";

const CALL = { calls: [{ tool: "hold" }] };

/**
 * Calls `hold` until something is so, then goes on. A message joins at a step boundary once the engine has heard of it: on
 * Temporal that may be one or more steps later.
 */
function callsUntil(
  isSo: (request: ScriptedRequest) => boolean,
  then: readonly ScriptedStep[],
): ScriptedStep[] {
  const rest = [...then];
  return Array.from({ length: 200 }, () => (request: ScriptedRequest) => {
    const next = rest.length < then.length || isSo(request) ? rest.shift() : CALL;
    return typeof next === "function" ? next(request) : (next ?? "done");
  });
}

const hears = (words: string) => (request: ScriptedRequest) => JSON.stringify(request.prompt).includes(words);

/** An agent whose tool `hold` waits at a gate. */
function holding(script: readonly ScriptedStep[], config: object = {}) {
  const begun = gate();
  const held = gate();
  const hold = defineTool({
    name: "hold",
    effect: "none",
    async execute() {
      begun.open();
      await held.opened;
      return "held";
    },
  });
  const model = scriptedModel(script);
  const agent = new Agent({ name: "clerk", model, tools: [hold], maxSteps: 200, ...config });
  return { agent, model, begun: begun.opened, release: held.open };
}

async function textsIn(host: Trackside, conversation: string): Promise<readonly string[]> {
  const messages = await host.conversations.messages(conversation);
  return messages.flatMap((message) =>
    message.role === "tool" ? [] : message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])),
  );
}

/** Messages to runs under way, and to conversations whose branch is busy. */
export const messages = [
  behaviour<HostStage>(
    "X6 X10 a message joins at a step boundary, once however often it is sent, and its receipt says so",
    ["messages"],
    async (stage) => {
      const { agent, begun, release } = holding([CALL, ...callsUntil(hears("faster"), ["done"])]);
      const host = await stage.host({ agents: [agent] });
      const { runId, conversationId, result } = await host.start("clerk", "go");
      await begun;
      const receipts = [1, 2].map(() => host.steer(runId, "faster", { requestId: "r1" }));
      await queued(host, runId);
      release();
      for (const receipt of await Promise.all(receipts)) {
        assert.equal(receipt.state, "admitted");
        assert.equal(receipt.runId, runId);
      }
      await result();
      assert.deepEqual(await textsIn(host, conversationId), ["go", "faster", "done"]);
    },
  ),

  behaviour<HostStage>(
    "X6 START rails see a message, and one they skip is dropped",
    ["messages"],
    async (stage) => {
      const seen: unknown[] = [];
      const watch = defineRail({ name: "watch", on: ["START"] }, (ctx) => {
        seen.push([ctx.inputs.input, ctx.inputs.steered]);
        return ctx.inputs.steered ? skip("be kind") : undefined;
      });
      const { agent, begun, release } = holding(
        callsUntil(() => seen.length === 2, ["done"]),
        { rails: [watch] },
      );
      const host = await stage.host({ agents: [agent] });
      const { runId, conversationId, result } = await host.start("clerk", "go");
      await begun;
      const receipt = host.steer(runId, "rude");
      await queued(host, runId);
      release();
      assert.equal((await receipt).state, "dropped");
      await result();
      assert.deepEqual(seen, [
        ["go", false],
        ["rude", true],
      ]);
      assert.deepEqual(await textsIn(host, conversationId), ["go", "done"]);
    },
  ),

  behaviour<HostStage>(
    "X6 an injected note reaches the next model call and no other, and is not logged",
    ["messages"],
    async (stage) => {
      const { agent, begun, release, model } = holding([
        CALL,
        ...callsUntil(hears("by the way"), [CALL, "done"]),
      ]);
      const host = await stage.host({ agents: [agent] });
      const { runId, conversationId, result } = await host.start("clerk", "go");
      await begun;
      const receipt = host.inject(runId, "by the way");
      await queued(host, runId);
      release();
      assert.equal((await receipt).state, "admitted");
      await result();
      assert.deepEqual(model.requests.map(hears("by the way")).slice(-3), [false, true, false]);
      assert.equal(model.requests.filter(hears("by the way")).length, 1);
      assert.deepEqual(await textsIn(host, conversationId), ["go", "done"]);
    },
  ),

  behaviour<HostStage>(
    "X6 a message that comes after the last step becomes the next turn",
    ["messages"],
    async (stage) => {
      const answered = gate();
      const held = gate();
      const wait = postHook({ name: "wait" }, async (turn) => {
        answered.open();
        await held.opened;
        return cont(turn);
      });
      const model = scriptedModel(["one", "two"]);
      const agent = new Agent({ name: "clerk", model, hooks: { post: [wait] } });
      const host = await stage.host({ agents: [agent] });
      const { runId, conversationId, result } = await host.start("clerk", "go");
      await answered.opened;
      const receipt = host.steer(runId, "and another");
      await queued(host, runId);
      held.open();
      await result();
      const { state, runId: next } = await receipt;
      assert.equal(state, "next_turn");
      assert.equal((await host.runs.result(next)).text, "two");
      assert.deepEqual(await textsIn(host, conversationId), ["go", "one", "and another", "two"]);
    },
  ),

  behaviour<HostStage>(
    "X6 a message to a run that is over becomes the next turn",
    ["messages", "message after the end"],
    async (stage) => {
      const agent = new Agent({ name: "clerk", model: scriptedModel(["one", "two"]) });
      const host = await stage.host({ agents: [agent] });
      const { runId, conversationId, result } = await host.start("clerk", "go");
      await result();
      const receipt = await host.steer(runId, "and another");
      assert.equal(receipt.state, "next_turn");
      await host.runs.result(receipt.runId);
      assert.deepEqual(await textsIn(host, conversationId), ["go", "one", "and another", "two"]);
    },
  ),

  behaviour<HostStage>(
    "X7 a second send to a busy conversation is refused with the run's id, waits in the queue, or steers",
    ["messages"],
    async (stage) => {
      const { agent, begun, release } = holding([
        CALL,
        ...callsUntil(hears("dear"), ["one", "two", "three"]),
      ]);
      const host = await stage.host({ agents: [agent] });
      const first = await host.start("clerk", "go");
      await begun;
      const conversation = first.conversationId;
      const refused = await rejection(host.start("clerk", "b", { conversation }));
      assert.ok(refused.message.includes(first.runId), refused.message);
      const second = await host.start("clerk", "b", { conversation, whenBusy: "queue" });
      const third = await host.start("clerk", "c", { conversation, whenBusy: "queue" });
      const steered = host.start("clerk", "dear", { conversation, whenBusy: "steer" });
      await queued(host, first.runId);
      assert.equal((await host.runs.get(second.runId)).status, "queued");
      release();
      assert.equal((await steered).receipt?.state, "admitted");
      const all = await Promise.all([first, second, third].map(({ result }) => result()));
      assert.deepEqual(
        all.map(({ text }) => text),
        ["one", "two", "three"],
      );
      assert.deepEqual(await textsIn(host, conversation), ["go", "dear", "one", "b", "two", "c", "three"]);
    },
  ),

  behaviour<HostStage>("X5 X7 a cancelled run lets the queued one go on", ["messages"], async (stage) => {
    const { agent, begun } = holding([CALL, "two"]);
    const host = await stage.host({ agents: [agent] });
    const first = await host.start("clerk", "go");
    await begun;
    const conversation = first.conversationId;
    const next = await host.start("clerk", "b", { conversation, whenBusy: "queue" });
    await host.runs.cancel(first.runId);
    assert.equal((await ended(host, first.runId)).status, "cancelled");
    assert.equal((await next.result()).text, "two");
  }),

  behaviour<HostStage>("X7 branches never see each other's later messages", ["messages"], async (stage) => {
    const agent = new Agent({ name: "clerk", model: scriptedModel(["one", "two", "three"]) });
    const host = await stage.host({ agents: [agent] });
    const { conversation } = await host.run("clerk", "a");
    const said = await host.conversations.messages(conversation.id);
    const branch = await host.conversations.branch(conversation.id, { at: said.at(-1)?.id ?? "" });
    await host.run("clerk", "b", { conversation: conversation.id });
    await host.run("clerk", "c", { conversation: branch.id });
    assert.deepEqual(await textsIn(host, conversation.id), ["a", "one", "b", "two"]);
    assert.deepEqual(await textsIn(host, branch.id), ["a", "one", "c", "three"]);
  }),

  behaviour<HostStage>("X10 the same request starts one run", ["messages"], async (stage) => {
    const agent = new Agent({ name: "clerk", model: scriptedModel(["one"]) });
    const host = await stage.host({ agents: [agent] });
    const started = await Promise.all(
      Array.from({ length: 5 }, () => host.start("clerk", "go", { requestId: "r1" })),
    );
    assert.equal(new Set(started.map(({ runId }) => runId)).size, 1);
    assert.equal((await started[4]?.result())?.text, "one");
    const other = await rejection(host.start("clerk", "something else", { requestId: "r1" }));
    assert.match(other.message, /another request/);
    assert.equal((await host.runs.list()).length, 1);
  }),
];
