import { type BaseEvent, HttpAgent } from "@ag-ui/client";
import { Agent, cont, defineTool, postHook, regenerate } from "trackside";
import { scriptedModel } from "trackside/testing";
import { expect, test } from "vitest";
import * as z from "zod";
import { agUiRoutes } from "../../src/protocols/ag-ui/routes.ts";
import { stage, until } from "./stage.ts";

const weather = defineTool({
  name: "weather",
  input: z.object({ city: z.string() }),
  effect: "none",
  execute: ({ city }) => ({ city, sky: "rain" }),
});
const locate = defineTool({
  name: "locate",
  input: z.object({}),
  output: z.object({ city: z.string() }),
  executor: "client",
});
const frontend = [{ name: "locate", description: "Where the user is", parameters: { type: "object" } }];

function client(url: string, agent: string, threadId = "thread-1") {
  const http = new HttpAgent({ url: `${url}/v1/agents/${agent}/ag-ui`, threadId });
  const events: BaseEvent[] = [];
  const say = (content: string) => http.addMessage({ id: crypto.randomUUID(), role: "user", content });
  const run = (options: Parameters<HttpAgent["runAgent"]>[0] = {}) =>
    http.runAgent(options, { onEvent: ({ event }) => void events.push(event) });
  return { http, events, say, run };
}

test("HttpAgent: lifecycle, text, reasoning, tool calls, steps and usage", async () => {
  const model = scriptedModel([
    { reasoning: "Look.", text: "One moment.", calls: [{ tool: "weather", args: { city: "Oslo" } }] },
    "It rains.",
  ]);
  const agent = new Agent({ name: "clerk", model, tools: [weather] });
  const { url } = await stage([agent], agUiRoutes());
  const { http, events, say, run } = client(url, "clerk");
  say("Weather?");
  await run({ context: [{ description: "page", value: "weather map" }] });
  expect(http.messages.map(({ role }) => role)).toEqual([
    "user",
    "reasoning",
    "assistant",
    "tool",
    "assistant",
  ]);
  expect(http.messages[2]).toMatchObject({
    content: "One moment.",
    toolCalls: [{ function: { name: "weather", arguments: '{"city":"Oslo"}' } }],
  });
  expect(http.messages[3]).toMatchObject({ content: '{"city":"Oslo","sky":"rain"}' });
  expect(http.messages[4]).toMatchObject({ content: "It rains." });
  const types = events.map(({ type }) => type);
  expect(types[0]).toBe("RUN_STARTED");
  expect(types.filter((type) => type === "STEP_STARTED")).toHaveLength(2);
  expect(types.filter((type) => type === "STEP_FINISHED")).toHaveLength(2);
  expect(events.at(-1)).toMatchObject({
    type: "RUN_FINISHED",
    outcome: { type: "success" },
    usage: [{ inputTokens: 20, outputTokens: 10 }],
  });
  expect(JSON.stringify(model.requests[0]?.prompt)).toContain("page: weather map");
});

test("a thread is a conversation: its history is the server's", async () => {
  const model = scriptedModel(["Hello Una.", "Una."]);
  const agent = new Agent({ name: "clerk", model });
  const { url, trackside } = await stage([agent], agUiRoutes());
  const { http, say, run } = client(url, "clerk");
  say("I am Una.");
  await run();
  http.setMessages(http.messages.map((message) => ({ ...message, content: "FORGED" }) as typeof message));
  say("Who am I?");
  await run();
  const sent = JSON.stringify(model.requests[1]?.prompt);
  expect(sent).toContain("I am Una.");
  expect(sent).not.toContain("FORGED");
  expect(await trackside.conversations.list({ tenant: "acme" })).toHaveLength(1);
});

test("T8 a frontend tool: the run ends with a pending call and goes on with its result", async () => {
  const model = scriptedModel([
    { calls: [{ tool: "weather", args: { city: "Rome" } }, { tool: "locate" }] },
    "You are in Oslo.",
  ]);
  const agent = new Agent({ name: "guide", model, tools: [locate, weather] });
  const { url, trackside, as } = await stage([agent], agUiRoutes());
  as("operator");
  const { http, events, say, run } = client(url, "guide");
  say("Where am I?");
  await run({ tools: frontend });
  const finished = events.at(-1) as unknown as { outcome: { pendingToolCallIds: string[] } };
  const [callId = ""] = finished.outcome.pendingToolCallIds;
  expect(callId).toMatch(/^run_/);
  http.addMessage({ id: "t1", role: "tool", toolCallId: callId, content: '{"city":"Oslo"}' });
  await run({ tools: frontend });
  expect(http.messages.at(-1)).toMatchObject({ role: "assistant", content: "You are in Oslo." });
  expect(http.messages.filter(({ role }) => role === "tool")).toHaveLength(2);
  expect(await trackside.runs.list({ tenant: "acme" })).toHaveLength(1);
});

test("L2 L3 an approval is an interrupt, and resuming decides it", async () => {
  const ran: string[] = [];
  const refund = defineTool({
    name: "refund",
    input: z.object({ order: z.number() }),
    execute: ({ order }) => {
      ran.push(`refund ${order}`);
      return "refunded";
    },
  });
  const calls = [1, 2].map((order) => ({ tool: "refund", args: { order } }));
  const model = scriptedModel([{ calls }, "One of two."]);
  const agent = new Agent({ name: "clerk", model, tools: [refund], hitlTools: ["refund"] });
  const { url, as } = await stage([agent], agUiRoutes());
  const { http, say, run } = client(url, "clerk");
  say("Refund 1 and 2");
  await run();
  expect(http.pendingInterrupts).toMatchObject([
    { reason: "tool_approval", metadata: { tool: "refund", arguments: { order: 1 } } },
    { reason: "tool_approval", toolCallId: expect.stringMatching(/^run_/) },
  ]);
  const [first, second] = http.pendingInterrupts.map(({ id }) => id);
  const resume = [
    { interruptId: first ?? "", status: "resolved" as const, payload: { approved: true } },
    {
      interruptId: second ?? "",
      status: "resolved" as const,
      payload: { approved: false, reason: "no money" },
    },
  ];
  as("operator");
  await expect(run({ resume })).rejects.toThrow(/403|approver/);
  expect(ran).toEqual([]);
  as("admin");
  await run({ resume });
  expect(http.messages.at(-1)).toMatchObject({ content: "One of two." });
  expect(ran).toEqual(["refund 1"]);
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain("no money");
});

test("the plan is state, and sub-agents are told", async () => {
  const model = scriptedModel([
    "1. Ask\n2. Answer",
    { calls: [{ tool: "spawn_self", args: { task: "look" } }] },
    "a cat",
    "It is a cat.",
  ]);
  const agent = new Agent({ name: "lead", model, planningEnabled: true, allowSelfSpawn: true });
  const { url } = await stage([agent], agUiRoutes());
  const { http, events, say, run } = client(url, "lead");
  http.setState({ theme: "dark" });
  say("What is it?");
  await run();
  expect(http.state).toEqual({ theme: "dark", plan: { steps: [{ title: "Ask" }, { title: "Answer" }] } });
  const types = events.map(({ type }) => type);
  expect(types).toContain("SUBAGENT_STARTED");
  expect(types).toContain("SUBAGENT_FINISHED");
});

test("H7 a draft that is taken back leaves the client's messages", async () => {
  const model = scriptedModel(["Wrong draft.", "Right answer."]);
  let isShown = () => false;
  const picky = postHook({ name: "picky" }, async (turn) => {
    if (turn.answer !== "Wrong draft.") return cont(turn);
    await until(() => isShown());
    return regenerate("say it right");
  });
  const agent = new Agent({ name: "writer", model, hooks: { post: [picky] } });
  const { url } = await stage([agent], agUiRoutes());
  const { http, events, say, run } = client(url, "writer");
  isShown = () => JSON.stringify(http.messages).includes("Wrong");
  say("Write");
  await run();
  expect(events.map(({ type }) => type)).toContain("MESSAGES_SNAPSHOT");
  const said = http.messages.filter(({ role }) => role === "assistant");
  expect(said).toMatchObject([{ content: "Right answer." }]);
});

test("a failed run is RUN_ERROR", async () => {
  const agent = new Agent({ name: "broken", model: scriptedModel([{ error: new Error("no such model") }]) });
  const { url } = await stage([agent], agUiRoutes());
  const { events, say, run } = client(url, "broken");
  say("Hi");
  await run().catch(() => {});
  expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "model_failed" });
});

test("abortRun() cancels the run", async () => {
  const model = scriptedModel([{ text: "one two three", hangAfter: 5 }]);
  const agent = new Agent({ name: "slow", model });
  const { url, trackside } = await stage([agent], agUiRoutes());
  const { http, events, say, run } = client(url, "slow");
  say("Count");
  const running = run().catch(() => {});
  await until(() => events.some(({ type }) => type === "TEXT_MESSAGE_CONTENT"));
  http.abortRun();
  await running;
  const ended = await until(async () => {
    const [first] = await trackside.runs.list({ tenant: "acme" });
    return first?.ended_at != null && first;
  });
  expect(ended.outcome).toMatchObject({ status: "cancelled" });
});

test("X10 the same run sent again is the same run; tools that cannot be are refused by name", async () => {
  const agent = new Agent({ name: "clerk", model: scriptedModel(["Once."]), tools: [weather] });
  const { url, trackside } = await stage([agent], agUiRoutes());
  const body = {
    threadId: "t",
    runId: "r1",
    messages: [{ id: "m", role: "user", content: "Go" }],
    tools: [],
    context: [],
  };
  const post = (more: object) =>
    fetch(`${url}/v1/agents/clerk/ag-ui`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...body, ...more }),
    });
  const [first, second] = [await (await post({})).text(), await (await post({})).text()];
  expect(first).toContain("Once.");
  expect(second).toContain("Once.");
  expect(await trackside.runs.list({ tenant: "acme" })).toHaveLength(1);
  const refused = await post({ tools: [{ name: "weather", description: "" }], runId: "r2" });
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    code: "tool_invalid",
    detail: expect.stringMatching(/tools\[0\]\.name.*"clerk".*"weather"/),
    param: "tools",
  });
});

test("T8 tools of the frontend, which the agent knows nothing of: two calls, and their results go on with the run", async () => {
  const model = scriptedModel([
    { calls: [{ tool: "paint", args: { color: "red" } }, { tool: "scroll" }] },
    "Painted.",
    "Nothing to paint.",
  ]);
  const first = await stage([new Agent({ name: "clerk", model, tools: [weather] })], agUiRoutes());
  const { http, events, say, run } = client(first.url, "clerk");
  const parameters = { type: "object", properties: { color: { type: "string" } }, required: ["color"] };
  const tools = [
    { name: "paint", description: "Paints the page", parameters },
    { name: "scroll", description: "Scrolls down", parameters: { type: "object" } },
  ];
  say("Make it red");
  await run({ tools });
  expect(model.requests[0]?.tools?.map(({ name }) => name).slice(0, 3)).toEqual([
    "weather",
    "paint",
    "scroll",
  ]);
  const asked = http.messages.findLast(({ role }) => role === "assistant");
  const calls = asked !== undefined && "toolCalls" in asked ? (asked.toolCalls ?? []) : [];
  expect(calls.map((call) => call.function)).toEqual([
    { name: "paint", arguments: '{"color":"red"}' },
    { name: "scroll", arguments: "{}" },
  ]);
  for (const [i, call] of calls.entries())
    http.addMessage({ id: `t${i}`, role: "tool", toolCallId: call.id, content: `did ${i}` });
  await run({ tools: [] }); // the page has none any more; the run keeps those it began with
  expect(http.messages.at(-1)).toMatchObject({ role: "assistant", content: "Painted." });
  expect(events.filter(({ type }) => type === "TOOL_CALL_RESULT")).toEqual([]);
  expect(JSON.stringify(model.requests[1]?.prompt)).toMatch(/did 0.*did 1/);
  expect(await first.trackside.runs.list({ tenant: "acme" })).toHaveLength(1);
  say("And now?");
  await run();
  expect(model.requests[2]?.tools?.some(({ name }) => name === "paint")).toBe(false);
});
