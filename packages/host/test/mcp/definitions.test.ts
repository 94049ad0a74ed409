import { Agent, defineTool } from "trackside";
import { defineServerTool, type HeldTool, type ToolServers } from "trackside/engine";
import { hostileEngine, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";

/** A server whose tool is no longer what was approved. */
function changedServer() {
  const approved: string[] = [];
  let released = 0;
  const tool = defineServerTool(
    { name: "mcp__web__read", input: { type: "object" }, execute: () => "a page" },
    { name: "web", trusted: false },
  );
  const held: HeldTool = {
    name: "mcp__web__read",
    server: "web",
    definition: { description: "now it reads more", input_schema: { type: "object" } },
    digest: "d".repeat(64),
    approved: "c".repeat(64),
    approve: () => void approved.push("read"),
    make: () => tool,
  };
  const servers: ToolServers = {
    connect: async () => ({
      tools: [],
      held: [held],
      withheld: [{ server: "web", tool: "bad name", reason: "it has a space in it" }],
      release: () => {
        released += 1;
      },
    }),
  };
  return { servers, approved, releases: () => released };
}

describe.each([
  ["the local engine", undefined],
  ["the hostile world", hostileEngine()],
])("M5 a definition that changed, on %s", (_name, engine) => {
  const look = defineTool({ name: "look", execute: () => "seen" });
  const make = (script: Parameters<typeof scriptedModel>[0]) => {
    const model = scriptedModel(script);
    const mcpServers = [{ name: "web", url: "https://web.example/mcp" }];
    return { model, agent: new Agent({ name: "a", model, mcpServers, tools: [look] }) };
  };
  const offered = (model: ReturnType<typeof scriptedModel>) =>
    model.requests.map(({ options }) => options.tools?.map(({ name }) => name));

  test("is held: the tool is not offered, somebody is asked, and the run goes on", async () => {
    const { servers, approved, releases } = changedServer();
    const { model, agent } = make(["Done."]);
    const run = agent.stream("Go.", { toolServers: servers, ...(engine ? { engine } : {}) });
    const events = [];
    for await (const event of run) events.push(event);
    expect(offered(model)).toEqual([["look"]]);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "approval",
        kind: "tool_definition",
        state: "pending",
        tool: "mcp__web__read",
      }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "context",
        action: "withheld",
        detail: expect.stringContaining("bad name"),
      }),
    );
    expect(approved).toEqual([]);
    expect(releases()).toBe(1);
    expect(run.pending).toEqual([]);
  });

  test("once approved joins the run at the end of the list (H9)", async () => {
    const { servers, approved } = changedServer();
    let decide = async () => {};
    const wait = defineTool({
      name: "wait",
      async execute() {
        await decide();
        return "waited";
      },
    });
    const model = scriptedModel([
      { calls: [{ tool: "wait" }] },
      { calls: [{ tool: "mcp__web__read" }] },
      "Done.",
    ]);
    const mcpServers = [{ name: "web", url: "https://web.example/mcp" }];
    const agent = new Agent({ name: "a", model, mcpServers, tools: [wait] });
    const run = agent.stream("Go.", { toolServers: servers, ...(engine ? { engine } : {}) });
    decide = async () => {
      const [approval] = run.pending;
      expect(approval).toMatchObject({ kind: "tool_definition", tool: "mcp__web__read" });
      await run.decide(approval?.id ?? "", { choice: "approve" });
    };
    const { messages } = await run.result;
    expect(approved).toEqual(["read"]);
    expect(offered(model)).toEqual([["wait"], ["wait", "mcp__web__read"], ["wait", "mcp__web__read"]]);
    expect(JSON.stringify(messages)).toContain("a page");
  });
});

test("M5 L6 `run(input, { approve })` is asked about it", async () => {
  const { servers, approved } = changedServer();
  const asked: string[] = [];
  const look = defineTool({ name: "look", execute: () => "seen" });
  const model = scriptedModel([{ calls: [{ tool: "look" }] }, "Done."]);
  const mcpServers = [{ name: "web", url: "https://web.example/mcp" }];
  const agent = new Agent({ name: "a", model, mcpServers, tools: [look] });
  await agent.run("Go.", {
    toolServers: servers,
    approve: ({ kind, tool }) => {
      asked.push(`${kind} ${tool}`);
      return { choice: "approve" };
    },
  });
  expect(asked).toEqual(["tool_definition mcp__web__read"]);
  expect(approved).toEqual(["read"]);
});

test("A4 a gate on a tool that the server does not have refuses the run", async () => {
  const { servers } = changedServer();
  const agent = new Agent({
    name: "a",
    model: scriptedModel(["Done."]),
    mcpServers: [{ name: "web", url: "https://web.example/mcp" }],
    hitlTools: ["mcp__web__write"],
  });
  const run = agent.run("Go.", { toolServers: servers, approve: () => ({ choice: "approve" }) });
  await expect(run).rejects.toThrow(/hitl_tools\[0\].*mcp__web__write/);
});

test("T3 a server's tool that has an injected argument of its own is withheld", async () => {
  const tool = defineServerTool(
    {
      name: "mcp__web__read",
      input: { type: "object", properties: { origin: {} } },
      execute: () => "a page",
    },
    { name: "web", trusted: false },
  );
  const servers: ToolServers = {
    connect: async () => ({ tools: [tool], held: [], withheld: [], release: () => {} }),
  };
  const model = scriptedModel(["Done."]);
  const agent = new Agent({
    name: "a",
    model,
    mcpServers: [{ name: "web", url: "https://web.example/mcp" }],
    injectedToolArgs: { origin: "Where it comes from" },
  });
  const events = [];
  for await (const event of agent.stream("Go.", { toolServers: servers })) events.push(event);
  expect(model.requests[0]?.options.tools ?? []).toEqual([]);
  expect(events).toContainEqual(
    expect.objectContaining({ action: "withheld", detail: expect.stringContaining('"origin"') }),
  );
});
