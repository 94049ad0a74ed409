import assert from "node:assert/strict";
import { Agent, cont, defineTool, postHook, type Task } from "trackside";
import { behaviour, scriptedModel } from "trackside/testing";
import type { Trackside } from "../../src/index.ts";
import { Retention } from "../../src/retention.ts";
import { rows } from "../../src/store/index.ts";
import { cast } from "../engine/support/cast.ts";
import type { HostStage } from "./stage.ts";
import { gate, pending, queued, until } from "./waiting.ts";
import { wall } from "./wall.ts";

const SECRET = "the-customer-is-called-Ann-Droid";

/** The tables that have a text in any of their rows. */
async function tablesWith(host: Trackside, text: string): Promise<readonly string[]> {
  const { store } = host.engine;
  return store.read(function* (db) {
    const isSqlite = store.reach?.kind === "sqlite";
    const catalog = isSqlite ? "sqlite_master" : "information_schema.tables";
    const found = yield* rows(db.selectFrom(catalog as never).selectAll());
    const names = (found as readonly Record<string, string>[])
      .filter((one) => (isSqlite ? one["type"] === "table" : one["table_schema"] === "public"))
      .map((one) => one["name"] ?? one["table_name"] ?? "");
    const having: string[] = [];
    for (const name of names) {
      const all = yield* rows(db.selectFrom(name as never).selectAll());
      const values = (all as readonly object[]).flatMap((row) => Object.values(row));
      const has = values.some((value) =>
        (value instanceof Uint8Array ? Buffer.from(value).toString() : String(value)).includes(text),
      );
      if (has) having.push(name);
    }
    return having.sort();
  });
}

/** A conversation with a secret in its messages, calls, results, artifacts, approvals, children and deferred work. */
async function confided(stage: HostStage) {
  const held = gate();
  const tell = defineTool({
    name: "tell",
    input: { type: "object", properties: { to: { type: "string" } } },
    execute: () => `${SECRET} `.repeat(3000),
  });
  const hold = defineTool({ name: "hold", effect: "none", execute: () => held.opened.then(() => SECRET) });
  const save: Task = { name: "save", run: () => {} };
  const later = postHook({ name: "later" }, (turn, { defer }) => {
    defer(save, SECRET);
    return cont(turn);
  });
  const model = cast({
    [SECRET]: [
      { text: SECRET, calls: [{ tool: "tell", args: { to: SECRET } }, { tool: "hold" }] },
      { calls: [{ tool: "spawn_self", args: { task: `child ${SECRET}` } }] },
      SECRET,
      SECRET,
    ],
    [`child ${SECRET}`]: [`heard ${SECRET}`],
  });
  const agent = new Agent({
    name: "clerk",
    model,
    tools: [tell, hold],
    hitlTools: ["tell"],
    allowSelfSpawn: true,
    hooks: { post: [later] },
  });
  const host = await stage.host({ agents: [agent], tasks: [save] });
  const { runId, conversationId, result } = await host.start("clerk", SECRET, { requestId: "r1" });
  const { id } = await pending(host);
  const steered = host.steer(runId, SECRET);
  await queued(host, runId);
  await host.approvals.decide(id, { choice: "approve", by: "ann", reason: SECRET });
  held.open();
  await result();
  await steered;
  await host.conversations.branch(conversationId, {
    at: (await host.conversations.messages(conversationId))[0]?.id ?? "",
  });
  return { host, conversationId };
}

/** Erasure of conversations. */
export const erasure = [
  behaviour<HostStage>(
    "X12 nothing of a deleted conversation is left in any table, and the audit still verifies",
    ["erasure"],
    async (stage) => {
      const { host, conversationId } = await confided(stage);
      assert.notDeepEqual(await tablesWith(host, SECRET), []);
      await host.conversations.delete(conversationId);
      assert.deepEqual(await tablesWith(host, SECRET), []);
      assert.deepEqual(await host.runs.list(), []);
      assert.deepEqual(await host.artifacts.list(), []);
      assert.deepEqual(await host.approvals.list({ state: "all" }), []);
      const { ok, rows: kept } = await host.audit.verify();
      assert.deepEqual([ok, kept > 0], [true, true]);
    },
  ),

  behaviour<HostStage>(
    "X12 nothing of a deleted conversation is left in what the engine keeps outside the database",
    ["erasure", "history"],
    async (stage) => {
      const { host, conversationId } = await confided(stage);
      await host.conversations.delete(conversationId);
      const kept = await stage.histories();
      assert.ok(!kept.includes(SECRET), "the engine still has it");
    },
  ),

  behaviour<HostStage>(
    "X12 what a model wrote for a sub-agent is erased with the conversation",
    ["erasure", "child's definition"],
    async (stage) => {
      const job = { task: "work", system_prompt: `You help ${SECRET}.` };
      const model = cast({
        Go: [{ calls: [{ tool: "spawn_parallel", args: { jobs: [job] } }] }, "done"],
        work: ["worked"],
      });
      const agent = new Agent({ name: "clerk", model, allowParallelSubagents: true });
      const host = await stage.host({ agents: [agent] });
      const { conversation } = await host.run("clerk", "Go");
      await host.conversations.delete(conversation.id);
      assert.deepEqual(await tablesWith(host, SECRET), []);
    },
  ),

  behaviour<HostStage>(
    "X12 X5 deleting a conversation stops the run under way on it, and its queue",
    ["erasure"],
    async (stage) => {
      const begun = gate();
      const stopped = gate();
      const hold = defineTool({
        name: "hold",
        effect: "none",
        execute: (_, { signal }) =>
          new Promise<string>((_resolve, reject) => {
            begun.open();
            signal.addEventListener("abort", () => {
              stopped.open();
              reject(signal.reason);
            });
          }),
      });
      const model = scriptedModel([{ calls: [{ tool: "hold" }] }, "next"]);
      const host = await stage.host({ agents: [new Agent({ name: "clerk", model, tools: [hold] })] });
      const { conversationId } = await host.start("clerk", "Go");
      await begun.opened;
      await host.start("clerk", "and then", { conversation: conversationId, whenBusy: "queue" });
      await host.conversations.delete(conversationId);
      await stopped.opened;
      assert.deepEqual(await host.runs.list(), []);
      assert.equal(model.requests.length, 1);
    },
  ),

  behaviour<HostStage>(
    "X12 W2 what a plan has of a conversation is erased with it",
    ["erasure"],
    async (stage) => {
      const model = scriptedModel([`about ${SECRET}`], { loop: true });
      const host = await stage.host({ agents: [new Agent({ name: "clerk", model })] });
      const by = { by: "ann" };
      const { id } = await host.plans.create("clerk", { goal: "g", steps: [{ id: "a", title: "Tell" }] }, by);
      await host.plans.run(id, by);
      const plan = await until("the plan is completed", async () => {
        const now = await host.plans.get(id);
        return now.state === "completed" ? now : undefined;
      });
      const { conversation_id } = await host.runs.get(plan.steps[0]?.run_id ?? "");
      await host.conversations.delete(conversation_id);
      assert.equal((await host.plans.get(id)).steps[0]?.output, null);
      assert.deepEqual(await tablesWith(host, SECRET), []);
    },
  ),

  behaviour<HostStage>(
    "X12 retention erases the old conversations of a tenant and nothing younger",
    ["erasure"],
    async (stage) => {
      const clock = wall();
      const agent = new Agent({ name: "clerk", model: scriptedModel(["hi"], { loop: true }) });
      const host = await stage.host({ agents: [agent], clock });
      const start = async (tenant: string) =>
        (await host.run("clerk", "go", { scope: { tenant } })).conversation.id;
      await start("short");
      const long = await start("long");
      clock.time += 10 * 86_400_000;
      const young = await start("short");
      const retention = new Retention(host.engine, { short: { days: 7 }, "*": { days: 100 } });
      assert.equal(await retention.sweep(), 1);
      const left = async (tenant: string) => (await host.conversations.list({ tenant })).map(({ id }) => id);
      assert.deepEqual([await left("short"), await left("long")], [[young], [long]]);
    },
  ),
];
