import { existsSync, readFileSync } from "node:fs";
import { Agent, defineTool } from "trackside";
import { manualClock, scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import { sqlite, Trackside } from "../../src/index.ts";
import { Retention } from "../../src/retention.ts";
import { databaseFile } from "./support/database.ts";
import { until } from "./support/until.ts";

const file = databaseFile;
const agentOf = (script: Parameters<typeof scriptedModel>[0], tools: never[] = []) =>
  new Agent({ name: "a", model: scriptedModel(script, { loop: true }), tools }) as never;

test("T4 large results are artifacts: rows stay small, and they go away with their conversation", async () => {
  const large = "0123456789".repeat(5000);
  const read = defineTool({ name: "read", effect: "none", execute: () => large });
  const trackside = new Trackside({
    store: sqlite(file()),
    agents: [agentOf([{ calls: [{ tool: "read" }] }, "done"], [read as never])],
  });
  const { runId, conversationId, result } = await trackside.start("a", "go");
  await result();
  const [artifact] = await trackside.artifacts.list({ run: runId });
  expect(artifact).toMatchObject({ bytes: large.length, media_type: "text/plain", run_id: runId });
  const { content } = await trackside.artifacts.get(artifact?.id ?? "");
  expect(Buffer.from(content).toString()).toBe(large);
  const rows = await trackside.engine.store.read(function* (db) {
    return (yield db.selectFrom("commits").selectAll().compile()).rows as { body: string }[];
  });
  expect(Math.max(...rows.map(({ body }) => body.length))).toBeLessThan(8192);
  const events = await trackside.runs.events(runId);
  expect(events.find(({ type }) => type === "tool_result")).toMatchObject({
    output: { type: "text", value: expect.stringContaining(artifact?.id ?? "") },
    metadata: { offloaded_artifact_id: artifact?.id },
  });
  await expect(trackside.artifacts.get(artifact?.id ?? "", { tenant: "other" })).rejects.toThrow(
    "There is no artifact",
  );
  await trackside.conversations.delete(conversationId);
  expect(await trackside.artifacts.list()).toEqual([]);
  await trackside.close();
});

test("messages too large for a row are kept beside it: rows stay small, readers see them whole", async () => {
  const long = "0123456789".repeat(2000);
  const read = defineTool({ name: "read", effect: "none", execute: () => long });
  const trackside = new Trackside({
    store: sqlite(file()),
    agents: [agentOf([{ calls: [{ tool: "read" }] }, "done"], [read as never])],
  });
  const { runId, result } = await trackside.start("a", "go");
  await result();
  const rows = await trackside.engine.store.read(function* (db) {
    return (yield db.selectFrom("commits").selectAll().compile()).rows as { body: string }[];
  });
  expect(Math.max(...rows.map(({ body }) => body.length))).toBeLessThan(8192);
  const events = await trackside.runs.events(runId);
  expect(events.find(({ type }) => type === "tool_result")).toMatchObject({ output: { value: long } });
  expect(await trackside.artifacts.list({ run: runId })).toEqual([]); // nobody's but the journal's
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
  const begun = Promise.withResolvers<void>();
  const slow = defineTool({
    name: "slow",
    execute: () => {
      begun.resolve();
      return gate.promise;
    },
  });
  const trackside = new Trackside({
    store: sqlite(file()),
    agents: [agentOf([{ calls: [{ tool: "slow" }] }, "done"], [slow as never])],
  });
  const { runId, result } = await trackside.start("a", "go");
  await begun.promise;
  await trackside.runs.cancel(runId, { reason: "enough" });
  await expect(result()).rejects.toThrow("enough");
  gate.resolve("it happened after all");
  const entry = await until(async () => (await trackside.audit.list())[0]);
  expect(entry).toMatchObject({
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
