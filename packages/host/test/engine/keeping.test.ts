import { existsSync, readFileSync } from "node:fs";
import { Agent, defineTool } from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import { sqlite, Trackside } from "../../src/index.ts";
import { Retention } from "../../src/retention.ts";
import { databaseFile } from "./support/database.ts";

const file = databaseFile;
const agentOf = (script: Parameters<typeof scriptedModel>[0], tools: never[] = []) =>
  new Agent({ name: "a", model: scriptedModel(script, { loop: true }), tools }) as never;

test("large results are artifacts: rows stay small, readers see them whole", async () => {
  const large = "0123456789".repeat(5000);
  const read = defineTool({ name: "read", effect: "none", execute: () => large });
  const trackside = new Trackside({
    store: sqlite(file()),
    agents: [agentOf([{ calls: [{ tool: "read" }] }, "done"], [read as never])],
  });
  const { runId, conversationId, result } = await trackside.start("a", "go");
  await result();
  const [artifact] = await trackside.artifacts.list({ run: runId });
  expect(artifact?.bytes).toBeGreaterThan(large.length);
  const rows = await trackside.engine.store.read(function* (db) {
    return (yield db.selectFrom("commits").selectAll().compile()).rows as { body: string }[];
  });
  expect(Math.max(...rows.map(({ body }) => body.length))).toBeLessThan(8192);
  const events = await trackside.runs.events(runId);
  expect(events.find(({ type }) => type === "tool_result")).toMatchObject({ output: { value: large } });
  await expect(trackside.artifacts.get(artifact?.id ?? "", { tenant: "other" })).rejects.toThrow(
    "There is no artifact",
  );
  await trackside.conversations.delete(conversationId);
  expect(await trackside.artifacts.list()).toEqual([]);
  await trackside.close();
});

test("X12 retention erases a tenant's old conversations, and nothing younger or under way", async () => {
  const clock = manualClock();
  const trackside = new Trackside({ store: sqlite(file()), agents: [agentOf(["hi"])], clock });
  const first = await trackside.run("a", "go", { scope: { tenant: "short" } });
  const kept = await trackside.run("a", "go", { scope: { tenant: "long" } });
  await clock.advance(10 * 86_400_000);
  const young = await trackside.run("a", "go", { scope: { tenant: "short" } });
  const retention = new Retention(trackside.engine, { short: { days: 7 }, "*": { days: 100 } });
  expect(await retention.sweep()).toBe(1);
  const ids = async (tenant: string) => (await trackside.conversations.list({ tenant })).map(({ id }) => id);
  expect(await ids("short")).toEqual([young.conversation.id]);
  expect(await ids("long")).toEqual([kept.conversation.id]);
  expect(await ids("short")).not.toContain(first.conversation.id);
  await trackside.close();
});

test("a provider's key is kept encrypted, used after a restart, and never given back", async () => {
  const path = file();
  const first = new Trackside({ store: sqlite(path), agents: [agentOf(["hi"])] });
  await first.setProviderKey("openai", "sk-very-secret-value");
  expect(JSON.stringify(await first.secrets.list("default"))).not.toContain("very-secret");
  await first.close();
  expect(readFileSync(path).includes("very-secret")).toBe(false);
  const second = new Trackside({ store: sqlite(path), agents: [agentOf(["it is sk-very-secret-value"])] });
  await second.open();
  expect(await second.secrets.use("default", "provider.openai")).toBe("sk-very-secret-value");
  expect((await second.audit.list()).map(({ action }) => action)).toEqual(["provider.key_set"]);
  const { runId, result } = await second.start("a", "my key is sk-very-secret-value");
  await result();
  const shown = JSON.stringify([await second.runs.events(runId), await second.runs.export(runId)]);
  expect(shown).not.toContain("very-secret");
  await second.close();
});

test("X5 what came of a tool after its run was cancelled is in the audit", async () => {
  const gate = Promise.withResolvers<string>();
  const slow = defineTool({ name: "slow", execute: () => gate.promise });
  const trackside = new Trackside({
    store: sqlite(file()),
    agents: [agentOf([{ calls: [{ tool: "slow" }] }, "done"], [slow as never])],
  });
  const { runId, result } = await trackside.start("a", "go");
  while (!(await trackside.runs.events(runId)).some(({ type }) => type === "tool_call"))
    await new Promise((resolve) => setTimeout(resolve, 5));
  await new Promise((resolve) => setTimeout(resolve, 20));
  await trackside.runs.cancel(runId, { reason: "enough" });
  await expect(result()).rejects.toThrow("enough");
  gate.resolve("it happened after all");
  let entries = await trackside.audit.list();
  for (let i = 0; i < 100 && entries.length === 0; i++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    entries = await trackside.audit.list();
  }
  expect(entries[0]).toMatchObject({
    action: "tool.late_outcome",
    about: { tool: "slow", outcome: "returned" },
  });
  await trackside.close();
});

test("H8 what a provider signed lies encrypted in the store and goes back to it verbatim, also after a restart", async () => {
  const path = file();
  const providerMetadata = { openai: { signature: "c2lnbmVkLWJ5LXByb3ZpZGVy" } };
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const parts = [
    { type: "reasoning-start", id: "r", providerMetadata },
    { type: "reasoning-delta", id: "r", delta: "thinking hard" },
    { type: "reasoning-end", id: "r", providerMetadata },
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "first" },
    { type: "text-end", id: "t" },
    { type: "finish", finishReason: { unified: "stop", raw: "stop" }, usage },
  ] as never;
  const model = () => scriptedModel([{ parts }, "second"]);
  const one = new Trackside({
    store: sqlite(path),
    agents: [new Agent({ name: "a", model: model() }) as never],
  });
  const { conversation } = await one.run("a", "go");
  await one.close();
  expect(readFileSync(path).includes("c2lnbmVkLWJ5LXByb3ZpZGVy")).toBe(false);
  const again = scriptedModel(["second"]);
  const two = new Trackside({
    store: sqlite(path),
    agents: [new Agent({ name: "a", model: again }) as never],
  });
  await two.run("a", "more", { conversation: conversation.id });
  expect(JSON.stringify(again.requests[0]?.prompt)).toContain("c2lnbmVkLWJ5LXByb3ZpZGVy");
  const exported = await two.conversations.export(conversation.id);
  expect(exported).not.toContain("c2lnbmVkLWJ5LXByb3ZpZGVy");
  await two.close();
});

test("X12 a deleted conversation is gone from the files, and the audit still verifies", async () => {
  const path = file();
  const secret = "the-customer-is-called-Ann-Droid";
  const pay = defineTool({
    name: "pay",
    input: { type: "object", properties: { to: { type: "string" } } },
    execute: () => `${secret} was paid`,
  });
  const model = scriptedModel([{ text: secret, calls: [{ tool: "pay", args: { to: secret } }] }, secret]);
  const agent = new Agent({ name: "a", model, tools: [pay], hitlTools: ["pay"] }) as never;
  const trackside = new Trackside({ store: sqlite(path), agents: [agent] });
  const { runId, conversationId, result } = await trackside.start("a", secret, { requestId: "r1" });
  for await (const { event } of trackside.runs.follow(runId)) {
    if (event.type === "approval" && event.state === "pending")
      await trackside.approvals.decide(event.approval_id, { choice: "approve", by: "ann", reason: secret });
  }
  await result();
  const inFiles = () =>
    [path, `${path}-wal`].some((one) => existsSync(one) && readFileSync(one).includes(secret));
  expect(inFiles()).toBe(true);
  await trackside.conversations.delete(conversationId);
  expect(inFiles()).toBe(false);
  expect(await trackside.runs.list()).toEqual([]);
  expect(await trackside.audit.verify()).toMatchObject({ ok: true, rows: 1 });
  await trackside.close();
});
