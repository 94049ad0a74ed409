import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { mcpRoutes } from "../../src/protocols/mcp/routes.ts";
import { stage, until } from "./stage.ts";

type Era = "modern" | "legacy";

async function connect(
  url: string,
  era: Era,
  answer?: (message: string) => {
    action: "accept" | "decline" | "cancel";
    content?: Record<string, boolean | string>;
  },
) {
  const client = new Client(
    { name: "test", version: "1" },
    {
      ...(answer ? { capabilities: { elicitation: { form: {} } } } : {}),
      versionNegotiation: { mode: era === "modern" ? { pin: "2026-07-28" } : "legacy" },
    },
  );
  if (answer) client.setRequestHandler("elicitation/create", async ({ params }) => answer(params.message));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`)));
  onTestFinished(() => client.close());
  return client;
}

const ran: string[] = [];
const refund = defineTool({
  name: "refund",
  input: z.object({ order: z.number() }),
  execute: ({ order }) => {
    ran.push(`refund ${order}`);
    return `refunded ${order}`;
  },
});
const gated = () => {
  ran.length = 0;
  const model = scriptedModel([{ calls: [{ tool: "refund", args: { order: 7 } }] }, "Done."]);
  return { model, agent: new Agent({ name: "clerk", model, tools: [refund], hitlTools: ["refund"] }) };
};

describe.each(["modern", "legacy"] as const)("MCP, %s era", (era) => {
  test("agents are tools, with the first line of their instructions", async () => {
    const clerk = new Agent({ name: "clerk", model: scriptedModel([]), instructions: "Keeps order.\nMore." });
    const { url } = await stage([clerk], mcpRoutes());
    const { tools } = await (await connect(url, era)).listTools();
    expect(tools).toMatchObject([{ name: "clerk", description: "Keeps order." }]);
    expect(Object.keys(tools[0]?.inputSchema.properties ?? {})).toEqual(["message", "conversation"]);
  });

  test("a call is a turn; its conversation goes on; progress is told", async () => {
    const look = defineTool({ name: "look", effect: "none", execute: () => "rain" });
    const model = scriptedModel([{ calls: [{ tool: "look" }] }, "It rains.", "I said it rains."]);
    const agent = new Agent({ name: "clerk", model, tools: [look] });
    const { url } = await stage([agent], mcpRoutes());
    const client = await connect(url, era);
    const told: (string | undefined)[] = [];
    const first = await client.callTool(
      { name: "clerk", arguments: { message: "Weather?" } },
      { onprogress: ({ message }) => told.push(message) },
    );
    expect(first.content).toEqual([{ type: "text", text: "It rains." }]);
    expect(told).toEqual(["Step 1", "Calling look", "look: success", "Step 2"]);
    const { conversation } = z.object({ conversation: z.string() }).parse(first.structuredContent);
    const second = await client.callTool({
      name: "clerk",
      arguments: { message: "What did you say?", conversation },
    });
    expect(second.content).toEqual([{ type: "text", text: "I said it rains." }]);
    expect(JSON.stringify(model.requests[2]?.prompt)).toContain("Weather?");
  });

  test("a run that waits says where to decide it", async () => {
    const { agent } = gated();
    const { url, trackside } = await stage([agent], mcpRoutes());
    const answer = await (await connect(url, era)).callTool({
      name: "clerk",
      arguments: { message: "Refund 7" },
    });
    const [pending] = await trackside.approvals.list({ tenant: "acme" });
    expect(answer.structuredContent).toMatchObject({
      status: "waiting",
      approvals: [{ id: pending?.id, tool: "refund" }],
    });
    expect(JSON.stringify(answer.content)).toContain("http://control.room/");
    expect(ran).toEqual([]);
  });

  test("a failed run, an unknown tool and a viewer are errors the model can read", async () => {
    const agent = new Agent({
      name: "broken",
      model: scriptedModel([{ error: new Error("no such model") }]),
    });
    const { url, as } = await stage([agent], mcpRoutes());
    const client = await connect(url, era);
    const call = (name: string) => client.callTool({ name, arguments: { message: "Hi" } });
    const failed = await call("broken");
    expect(failed.isError).toBe(true);
    expect(JSON.stringify(failed.content)).toContain("no such model");
    as("viewer");
    const refused = await call("broken");
    expect(refused.isError).toBe(true);
    expect(JSON.stringify(refused.content)).toContain("operator");
    const unknown = await call("nobody").catch((error: Error) => ({ isError: true, content: error.message }));
    expect(JSON.stringify(unknown)).toMatch(/nobody/);
  });
});

describe("what only the modern era has", () => {
  test("L3 a decider is asked by the client, and the call goes on", async () => {
    const { agent } = gated();
    const { url, trackside } = await stage([agent], mcpRoutes());
    const asked: string[] = [];
    const client = await connect(url, "modern", (message) => {
      asked.push(message);
      return { action: "accept", content: { approve: true } };
    });
    const answer = await client.callTool({ name: "clerk", arguments: { message: "Refund 7" } });
    expect(answer.content).toEqual([{ type: "text", text: "Done." }]);
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('refund with {"order":7}');
    expect(ran).toEqual(["refund 7"]);
    expect(await trackside.runs.list({ tenant: "acme" })).toHaveLength(1);
  });

  test("L2 declining rejects; dismissing leaves it to others", async () => {
    const { agent, model } = gated();
    const { url, trackside } = await stage([agent], mcpRoutes());
    const client = await connect(url, "modern", () => ({ action: "decline" }));
    const answer = await client.callTool({ name: "clerk", arguments: { message: "Refund 7" } });
    expect(answer.content).toEqual([{ type: "text", text: "Done." }]);
    expect(ran).toEqual([]);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain("declined by u1");
    const other = gated();
    const second = await stage([other.agent], mcpRoutes());
    const away = await connect(second.url, "modern", () => ({ action: "cancel" }));
    const left = await away.callTool({ name: "clerk", arguments: { message: "Refund 7" } });
    expect(left.structuredContent).toMatchObject({ status: "waiting" });
    expect(await trackside.approvals.list({ tenant: "acme" })).toHaveLength(0);
    expect(await second.trackside.approvals.list({ tenant: "acme" })).toHaveLength(1);
  });

  test("an operator is not asked what only approvers decide", async () => {
    const { agent } = gated();
    const { url, as } = await stage([agent], mcpRoutes());
    as("operator");
    const asked: string[] = [];
    const client = await connect(url, "modern", (message) => {
      asked.push(message);
      return { action: "accept", content: { approve: true } };
    });
    const answer = await client.callTool({ name: "clerk", arguments: { message: "Refund 7" } });
    expect(answer.structuredContent).toMatchObject({ status: "waiting" });
    expect(asked).toEqual([]);
  });
});

test.each(["modern", "legacy"] as const)("X5 cancelling a call cancels the run (%s)", async (era) => {
  const model = scriptedModel([{ text: "one two", hangAfter: 4 }]);
  const agent = new Agent({ name: "slow", model });
  const { url, trackside } = await stage([agent], mcpRoutes());
  const client = await connect(url, era);
  const leaving = new AbortController();
  const call = client.callTool({ name: "slow", arguments: { message: "Count" } }, { signal: leaving.signal });
  call.catch(() => {});
  await until(() => model.requests.length === 1);
  leaving.abort();
  if (era === "legacy") await client.close(); // without sessions the end of its connection is what there is
  const run = await until(async () => {
    const [first] = await trackside.runs.list({ tenant: "acme" });
    return first?.ended_at != null && first;
  });
  expect(run.outcome).toMatchObject({ status: "cancelled" });
});
