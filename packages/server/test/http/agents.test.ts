import { defineRail } from "trackside";
import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { ApiProblem, type Client } from "../../src/client/index.ts";
import { openRoom, type Room } from "./support/room.ts";

/** Seed 002's example. */
const definition = {
  name: "support-agent",
  model: "openai:gpt-4o",
  instructions: "Help customers.",
  max_steps: 12,
  temperature: 0.2,
  max_tokens: 2048,
  planning_enabled: true,
  planning_model: null,
  planning_instructions: "",
  budget_awareness: "limit:80",
  hitl_tools: ["refund"],
  emit_mcp_progress: true,
  injected_tool_args: { reason: "Why this call is made." },
  allow_parallel_subagents: true,
  max_parallel_subagents: 3,
};

let room: Room;
let admin: Client;
beforeAll(async () => {
  const quiet = Object.assign(() => defineRail({ name: "quiet" }, () => undefined), {
    about: {
      description: "Says nothing.",
      options: z.object({ loud: z.boolean().optional() }),
      priority: 30,
    },
  });
  room = await openRoom({ host: { rails: { quiet } } });
  admin = room.client("admin");
});

const problemOf = async (asked: Promise<unknown>): Promise<ApiProblem> => {
  const error = await asked.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiProblem)) throw new Error("it was not refused");
  return error;
};

test("A1 an agent comes back from HTTP as it was sent", async () => {
  const made = await admin.createAgent({ body: { definition, note: "first" } });
  expect(made).toMatchObject({ name: "support-agent", version: 1, source: "stored", autonomous_mode: false });
  expect(await admin.exportAgent({ params: { name: "support-agent" } })).toEqual(definition);
  const copy = await admin.importAgent({ body: { ...definition, name: "imported" } });
  expect(copy.definition).toEqual({ ...definition, name: "imported" });
});

test("A3 every problem of a definition comes back with its place, and nothing is saved", async () => {
  const wrong = {
    ...definition,
    name: "wrong",
    hitl_tools: ["refnd"],
    max_parallel_subagents: 9,
    colour: "red",
  };
  const { status, code, issues } = await problemOf(admin.createAgent({ body: { definition: wrong } }));
  expect([status, code]).toEqual([422, "config_invalid"]);
  const paths = issues.map(({ path }) => path);
  for (const path of ["hitl_tools[0]", "max_parallel_subagents", "colour"]) expect(paths).toContain(path);
  const checked = await room.client("viewer").validateAgent({ body: { definition: wrong } });
  expect(checked.ok).toBe(false);
  expect(checked.issues.map(({ path }) => path)).toEqual(paths);
  expect(await problemOf(admin.getAgent({ params: { name: "wrong" } }))).toMatchObject({ status: 404 });
});

test("a stale save is a conflict that says what is there now", async () => {
  const params = { name: "edited" };
  await admin.createAgent({ body: { definition: { ...definition, ...params } } });
  const save = (instructions: string, version: number) =>
    admin.saveAgent({ params, body: { definition: { ...definition, ...params, instructions }, version } });
  const outcomes = await Promise.allSettled([save("One.", 1), save("Two.", 1)]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const stale = await problemOf(save("Three.", 1));
  expect(stale).toMatchObject({
    status: 409,
    code: "version_conflict",
    current: { version: 2, by: "admin" },
  });

  await save("Three.", 2);
  const { items } = await admin.listVersions({ params });
  expect(items.map(({ version }) => version)).toEqual([3, 2, 1]);
  const diff = await admin.diffVersions({ params, query: { from: 1, to: 3 } });
  expect(diff.differences).toEqual([
    { path: "instructions", kind: "changed", before: "Help customers.", after: "Three." },
  ]);
  const restored = await admin.restoreVersion({ params, body: { restore: 1, version: 3 } });
  expect(restored).toMatchObject({ version: 4, definition: { instructions: "Help customers." } });
});

test("T3 the preview shows tools as the model sees them, injected arguments included", async () => {
  const { tools } = await room.client("viewer").previewAgent({ body: { definition } });
  const refund = tools.find(({ name }) => name === "refund");
  // OpenAI's models want every argument required; what says nothing is null.
  expect(refund?.input_schema).toMatchObject({
    properties: {
      order: { type: "integer" },
      reason: { type: ["string", "null"], description: "Why this call is made." },
    },
    required: ["order", "reason"],
  });
  expect(tools.map(({ name }) => name)).toContain("spawn_parallel");
  const others = await admin.previewAgent({
    body: { definition: { ...definition, model: "anthropic:claude-sonnet-4-5" } },
  });
  expect(others.tools[0]?.input_schema).toMatchObject({
    properties: { reason: { type: "string" } },
    required: ["order"],
  });
});

test("the list says how each agent's runs went", async () => {
  const { run_id } = await admin.startRun({ body: { agent: "clerk", input: "Hello" } });
  await room.trackside.runs.result(run_id);
  const { items } = await admin.listAgents({ query: { search: "CLE" } });
  expect(items).toMatchObject([
    {
      name: "clerk",
      source: "code",
      last_run: { id: run_id, status: "completed" },
      error_rate: 0,
      pending_approvals: 0,
    },
  ]);
  const first = await admin.listAgents({ query: { limit: 1 } });
  const second = await admin.listAgents({ query: { limit: 1, after: first.next ?? "" } });
  expect(second.items[0]?.name).not.toBe(first.items[0]?.name);
});

test("agents in code are read here, not written", async () => {
  const refused = admin.saveAgent({ params: { name: "clerk" }, body: { definition, version: 1 } });
  expect(await problemOf(refused)).toMatchObject({ status: 409, code: "read_only" });
  expect(
    await problemOf(admin.createAgent({ body: { definition: { ...definition, name: "clerk" } } })),
  ).toMatchObject({
    status: 422,
  });
});

test("the registry has schemas for forms", async () => {
  const viewer = room.client("viewer");
  expect((await viewer.listTools()).items).toMatchObject([
    { name: "refund", irreversible: true, effect: "once", input_schema: { properties: { order: {} } } },
  ]);
  const rails = (await viewer.listRails()).items;
  expect(rails).toMatchObject([
    { name: "quiet", priority: 30, options: { properties: { loud: { type: "boolean" } } } },
  ]);
  const { items } = await viewer.listModels();
  expect(items.find(({ model }) => model === "openai:gpt-4.1*")).toMatchObject({
    window: 1_047_576,
    input_price: 2,
  });
});

describe("providers", () => {
  test("say whether there is a key, never which", async () => {
    const params = { provider: "mistral" };
    const set = await admin.setProvider({ params, body: { api_key: "sk-not-to-be-seen" } });
    expect(set).toMatchObject({ name: "mistral", key: "stored", needs_key: true });
    expect(JSON.stringify(await admin.listProviders())).not.toContain("not-to-be-seen");
    await admin.deleteProviderKey({ params });
    expect(await problemOf(admin.deleteProviderKey({ params }))).toMatchObject({ status: 404 });
    expect(await problemOf(admin.setProvider({ params: { provider: "acme" }, body: {} }))).toMatchObject({
      status: 404,
    });
  });

  test("are the host's: admins of other tenants do not touch them", async () => {
    const stranger = room.client("stranger");
    const asked = stranger.setProvider({ params: { provider: "openai" }, body: { api_key: "sk-mine" } });
    expect(await problemOf(asked)).toMatchObject({ status: 403, code: "tenant_not_enough" });
  });

  test.each([
    "http://169.254.169.254/latest/meta-data",
    "http://127.0.0.1:22/",
    "http://127.0.0.1:5432/",
    "http://0.0.0.0:8000/",
    "http://[::1]:5432/",
    "http://[::ffff:127.0.0.1]:5432/",
    "http://2130706433/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://127.1/",
    "http://10.0.0.1/",
    "http://192.168.1.1/",
    "http://metadata.google.internal/",
    "http://user:secret@example.com/",
    "file:///etc/passwd",
    "gopher://127.0.0.1:6379/_INFO",
    "javascript:alert(1)",
    "not an address",
  ])("are not asked at %s", async (base_url) => {
    const asked = admin.setProvider({ params: { provider: "openai-compatible" }, body: { base_url } });
    const { status, code, message } = await problemOf(asked);
    expect([status, code]).toEqual([422, "url_refused"]);
    expect(message).not.toContain("secret");
  });

  test("keep an address that may be asked, and forget it", async () => {
    const params = { provider: "ollama" };
    const set = await admin.setProvider({ params, body: { base_url: "http://127.0.0.1:11434/v1" } });
    expect(set.base_url).toBe("http://127.0.0.1:11434/v1");
    expect((await admin.setProvider({ params, body: { base_url: null } })).base_url).toBeNull();
  });

  test("a test that names another provider's model is refused, one that fails says why and no more", async () => {
    const params = { provider: "deepseek" };
    expect(await problemOf(admin.testProvider({ params, body: { model: "openai:gpt-4o" } }))).toMatchObject({
      status: 422,
    });
    const failed = await admin.testProvider({ params, body: { model: "deepseek-chat" } });
    expect(failed).toMatchObject({
      ok: false,
      model: "deepseek:deepseek-chat",
      error: expect.stringMatching(/key|package/),
    });
  });
});
