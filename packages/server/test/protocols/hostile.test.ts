import { Hono } from "hono";
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { agUiRoutes } from "../../src/protocols/ag-ui/routes.ts";
import type { ProtocolEnv } from "../../src/protocols/env.ts";
import { mcpRoutes } from "../../src/protocols/mcp/routes.ts";
import { openAiRoutes } from "../../src/protocols/openai/routes.ts";
import { uiMessageRoutes } from "../../src/protocols/ui-messages/routes.ts";
import { stage, until } from "./stage.ts";

function all(): Hono<ProtocolEnv> {
  const app = new Hono<ProtocolEnv>();
  for (const routes of [uiMessageRoutes(), openAiRoutes(), agUiRoutes(), mcpRoutes()]) app.route("/", routes);
  return app;
}

/** A request that each endpoint would do, to be spoilt. */
const ENDPOINTS = {
  "/v1/agents/clerk/chat": {
    id: "c",
    messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Hi" }] }],
  },
  "/v1/chat/completions": { model: "clerk", messages: [{ role: "user", content: "Hi" }] },
  "/v1/responses": { model: "clerk", input: "Hi" },
  "/v1/agents/clerk/ag-ui": {
    threadId: "t",
    runId: "r",
    messages: [{ id: "m", role: "user", content: "Hi" }],
    tools: [],
    context: [],
  },
  "/mcp": { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
} as const;
const paths = Object.keys(ENDPOINTS) as (keyof typeof ENDPOINTS)[];

const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const scene = async (replies: readonly string[] = []) => {
  const model = scriptedModel(replies);
  const made = await stage([new Agent({ name: "clerk", model })], all());
  const post = (path: string, body: unknown, more: Record<string, string> = {}) =>
    fetch(`${made.url}${path}`, {
      method: "POST",
      headers: { ...headers, ...more },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const runs = () => made.trackside.runs.list({ tenant: "acme" });
  return { ...made, model, post, runs };
};

const deep = `${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`;

describe.each(paths)("%s", (path) => {
  const good = ENDPOINTS[path];

  test.each<[string, unknown, number]>([
    ["no JSON", "{", 400],
    ["nothing", "", 400],
    ["a list", [], 400],
    ["a text", '"hi"', 400],
    ["null", "null", 400],
    ["what is nested too deep", deep, 400],
    ["what is nested too deep inside", `${JSON.stringify(good).slice(0, -1)},"metadata":${deep}}`, 400],
    ["10 MB", { ...good, filler: "x".repeat(10 * 1024 * 1024) }, 413],
  ])("refuses %s and starts nothing", async (_, body, status) => {
    const { post, runs } = await scene();
    const answer = await post(path, body);
    expect(answer.status).toBe(status);
    expect(await answer.text()).not.toMatch(/node_modules|at .*\.ts/);
    expect(await runs()).toEqual([]);
  });

  test("refuses another media type", async () => {
    const { post } = await scene();
    expect((await post(path, good, { "content-type": "text/plain" })).status).toBe(415);
  });
});

describe.each(paths.filter((path) => path !== "/mcp"))("%s", (path) => {
  const good: Record<string, unknown> = ENDPOINTS[path];

  test("refuses wrong types wherever they are, with what is wrong, and starts nothing", async () => {
    const { post, runs } = await scene();
    for (const key of Object.keys(good)) {
      for (const wrong of [
        7,
        true,
        [[]],
        { a: { b: [] } },
        [null],
        [{ role: 5 }],
        [{ role: "user", content: 5 }],
      ]) {
        if (["tools", "context", "metadata"].includes(key) && Array.isArray(wrong)) continue;
        if (key === "runId" || key === "threadId") continue;
        const answer = await post(path, { ...good, [key]: wrong });
        expect([400, 404], `${key}: ${JSON.stringify(wrong)}`).toContain(answer.status);
      }
    }
    expect(await runs()).toEqual([]);
  });

  test("H1 nothing in a body says whose it is", async () => {
    const { post, runs, trackside, as } = await scene(["Hi."]);
    for (const more of [{ tenant: "other" }, { scope: { tenant: "other" } }, { scope: { user: "root" } }]) {
      const answer = await post(path, { ...good, ...more });
      expect(answer.status).toBe(400);
    }
    expect(await runs()).toEqual([]);
    as("operator", "u7");
    expect((await post(path, good)).ok).toBe(true);
    const [run] = await until(async () => {
      const found = await runs();
      return found.length > 0 && found;
    });
    expect(run?.scope).toMatchObject({ tenant: "acme", user: "u7" });
    expect(await trackside.runs.list({ tenant: "other" })).toEqual([]);
  });

  test.each(["viewer", "approver"] as const)("a %s starts nothing", async (role) => {
    const { post, runs, as } = await scene();
    as(role);
    expect((await post(path, good)).status).toBe(403);
    expect(await runs()).toEqual([]);
  });

  test("an unknown agent, and one with a strange name, are not found", async () => {
    const { post } = await scene();
    for (const name of ["nobody", "__proto__", "constructor", "../clerk", "x".repeat(5000)]) {
      const there = path.replace("clerk", encodeURIComponent(name));
      const body = "model" in good ? { ...good, model: name } : good;
      expect((await post(there, body)).status).toBe(404);
    }
  });
});

describe("other people's things", () => {
  test("H1 a chat's id is the user's own: another user and another tenant have their own chat of that name", async () => {
    const { post, as, trackside, model } = await scene(["One.", "Two.", "Three."]);
    const path = "/v1/agents/clerk/chat";
    for (const [user, tenant] of [
      ["u1", "acme"],
      ["u2", "acme"],
      ["u1", "other"],
    ] as const) {
      as("operator", user, tenant);
      await (await post(path, ENDPOINTS[path])).text();
    }
    expect(model.requests.map(({ prompt }) => prompt.length)).toEqual([1, 1, 1]);
    expect(await trackside.conversations.list({ tenant: "acme" })).toHaveLength(2);
    expect(await trackside.conversations.list({ tenant: "other" })).toHaveLength(1);
  });

  test("H1 runs, calls and approvals of another tenant cannot be named", async () => {
    const pay = defineTool({ name: "pay", input: z.object({}), execute: () => "paid" });
    const model = scriptedModel([{ calls: [{ tool: "pay" }] }]);
    const agent = new Agent({ name: "clerk", model, tools: [pay], hitlTools: ["pay"] });
    const { url, trackside, as } = await stage([agent], all());
    const post = (path: string, body: unknown) =>
      fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    await (await post("/v1/agents/clerk/chat", ENDPOINTS["/v1/agents/clerk/chat"])).text();
    const [approval] = await trackside.approvals.list({ tenant: "acme" });
    const id = approval?.id ?? "";
    as("admin", "u1", "other");
    const answers = [
      await post("/v1/responses", {
        model: "clerk",
        input: [{ type: "mcp_approval_response", approval_request_id: id, approve: true }],
      }),
      await post("/v1/chat/completions", {
        model: "clerk",
        messages: [{ role: "tool", tool_call_id: approval?.call_id, content: "paid" }],
      }),
      await post("/v1/agents/clerk/ag-ui", {
        ...ENDPOINTS["/v1/agents/clerk/ag-ui"],
        resume: [{ interruptId: id, status: "resolved", payload: { approved: true } }],
      }),
      await post("/v1/agents/clerk/chat", {
        id: "c",
        messages: [
          {
            id: approval?.run_id,
            role: "assistant",
            parts: [
              {
                type: "dynamic-tool",
                toolName: "pay",
                toolCallId: approval?.call_id,
                state: "approval-responded",
                approval: { id, approved: true },
              },
            ],
          },
        ],
      }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect(await trackside.approvals.list({ tenant: "acme" })).toHaveLength(1);
  });
});

test("E4 a client that reads nothing slows no run", async () => {
  const words = "word ".repeat(20_000);
  const { post, runs } = await scene([words]);
  const path = "/v1/agents/clerk/chat";
  const silent = await post(path, { ...ENDPOINTS[path], onDisconnect: "continue" });
  const run = await until(async () => {
    const [first] = await runs();
    return first?.ended_at != null && first;
  });
  expect(run.status).toBe("completed");
  expect(await silent.text()).toContain('"finishReason":"stop"');
});

test("cursors and metadata that a client made up are no way in", async () => {
  const { post } = await scene(["Hello."]);
  const path = "/v1/agents/clerk/chat";
  const answer = await (await post(path, ENDPOINTS[path])).text();
  const [, runId = ""] = /"messageId":"(run_[a-z0-9]+)"/.exec(answer) ?? [];
  for (const cursor of ["999999", "x", "-1", "1;run_x=1", "9".repeat(70_000), 5, null, { a: 1 }]) {
    const message = { id: runId, role: "assistant", parts: [], metadata: { cursor } };
    const again = await post(path, { id: "c", messages: [message] });
    expect(again.status).toBe(200);
    expect(await again.text()).toContain("[DONE]");
  }
});
