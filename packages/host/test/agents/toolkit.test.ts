import { cont, defineRail, defineTool, type HookFactory, preHook, type RailFactory } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import * as z from "zod";
import { sqlite } from "../../src/index.ts";
import { rows } from "../../src/store/index.ts";
import { Place } from "../mcp/support/place.ts";
import { agentOf, hostOn } from "./support/host.ts";

const ANN = { by: "ann" };

const pii: RailFactory = Object.assign(
  ((_options, settings) => defineRail({ name: "pii", ...settings }, () => undefined)) as RailFactory,
  {
    about: {
      description: "Takes names out.",
      options: z.object({ redact: z.boolean().default(true) }),
      points: ["POST_LLM_CALL"] as const,
      priority: 15,
    },
  },
);
const recall: HookFactory = Object.assign(
  ((_options, settings) => preHook({ name: "recall", ...settings }, (turn) => cont(turn))) as HookFactory,
  { about: { description: "Remembers.", options: { type: "object" }, kind: "pre" as const } },
);

test("a toolkit describes what it has, with schemas for forms and without secrets", () => {
  const { toolkit } = hostOn(sqlite(":memory:"), {
    tools: [
      defineTool({
        name: "wire",
        input: z.object({ to: z.string() }),
        execute: () => "",
        irreversible: true,
      }),
      defineTool({ name: "pick", executor: "client" }),
    ],
    rails: {
      pii,
      plain: (_options, settings) => defineRail({ name: "plain", ...settings }, () => undefined),
    },
    hooks: { recall },
    mcpServers: [
      { name: "files", command: "/opt/bin/files", args: ["--token", "swordfish"], env: { KEY: "swordfish" } },
      {
        name: "web",
        url: "https://mcp.example/swordfish?key=swordfish",
        headers: { auth: "swordfish" },
        trusted: true,
      },
    ],
  });
  const told = toolkit.describe();
  expect(told).toMatchObject({
    tools: [
      {
        name: "wire",
        executor: "server",
        effect: "once",
        irreversible: true,
        input_schema: { type: "object" },
      },
      { name: "pick", executor: "client", irreversible: false },
    ],
    rails: [
      { name: "pii", description: "Takes names out.", points: ["POST_LLM_CALL"], priority: 15 },
      { name: "plain", description: "", options: null, points: null, priority: null },
    ],
    hooks: [{ name: "recall", description: "Remembers.", kind: "pre", options: { type: "object" } }],
    mcp_servers: [
      { name: "files", transport: "stdio", target: "files", trusted: false },
      { name: "web", transport: "http", target: "https://mcp.example", trusted: true },
    ],
    models: ["demo:echo"],
  });
  expect(told.rails[0]?.options).toMatchObject({
    properties: { redact: { type: "boolean", default: true } },
  });
  expect(JSON.stringify(told)).not.toContain("swordfish");
  expect(toolkit.describe()).toBe(told);
});

test("an agent in code gives its tools to nobody else", async () => {
  const { Agent } = await import("trackside");
  const own = defineTool({ name: "own", execute: () => "" });
  const { agents, toolkit } = hostOn(sqlite(":memory:"), {
    agents: [new Agent({ name: "clerk", model: "openai:gpt-4o", tools: [own] })],
  });
  expect(toolkit.tools).toEqual([]);
  expect(await agents.validate(agentOf("mine", { tools: ["own"] }))).toMatchObject({ ok: false });
});

test("A7 a definition names a server of the host; what it is stays with the host, and is kept nowhere", async (context) => {
  const place = new Place(context);
  const server = place.fake("good", "files");
  const canary = "canary-in-an-argument";
  const store = sqlite(":memory:");
  const model = scriptedModel(
    [
      ({ tools, prompt }) =>
        prompt.some(({ role }) => role === "tool")
          ? "done"
          : {
              calls: [
                {
                  tool: tools?.find(({ name }) => name.startsWith("mcp__files__"))?.name ?? "none",
                  args: {},
                },
              ],
            },
    ],
    { loop: true },
  );
  const trackside = hostOn(store, {
    models: { "demo:echo": model },
    mcpServers: [{ ...server, args: [...(server.args ?? []), canary] }],
  });
  const mcp_servers = [{ name: "files" }];
  const made = await trackside.agents.create({ definition: agentOf("clerk", { mcp_servers }) }, ANN);
  expect(made.definition["mcp_servers"]).toEqual(mcp_servers);
  const { runId, result } = await trackside.start("clerk", "use it");
  expect((await result()).output).toBe("done");
  const events = await trackside.runs.events(runId);
  expect(events.find(({ type }) => type === "tool_result")).toMatchObject({ success: true });
  const pinned = await store.read((db) => rows(db.selectFrom("definitions").select("body")));
  expect(JSON.stringify(pinned)).toContain('\\"mcp_servers\\":[{\\"name\\":\\"files\\"}]');
  expect(JSON.stringify(pinned)).not.toContain(canary);
});

test("L1 an approval of a tool that cannot be taken back says so, and others say nothing", async () => {
  const call = (tool: string) => ({ tool, args: {} });
  const model = scriptedModel([{ calls: [call("wire"), call("note")] }, "done"]);
  const trackside = hostOn(sqlite(":memory:"), {
    models: { "demo:echo": model },
    tools: [
      defineTool({ name: "wire", execute: () => "", irreversible: true }),
      defineTool({ name: "note", execute: () => "" }),
    ],
  });
  await trackside.agents.create({ definition: agentOf("clerk", { hitl_tools: ["wire", "note"] }) }, ANN);
  const { result } = await trackside.start("clerk", "go");
  await expect.poll(async () => (await trackside.approvals.list()).length, { timeout: 50_000 }).toBe(2);
  const waiting = await trackside.approvals.list();
  const by = Object.fromEntries(waiting.map((one) => [one.tool, one]));
  expect(by["wire"]).toMatchObject({ irreversible: true });
  expect(by["note"]).not.toHaveProperty("irreversible");
  for (const { id } of waiting) await trackside.approvals.decide(id, { choice: "approve", by: "ann" });
  await result();
});
