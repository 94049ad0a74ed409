import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from "ai";
import { Agent, cont, defineTool, postHook, regenerate } from "trackside";
import { type ScriptedStep, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { uiMessageRoutes } from "../../src/protocols/ui-messages/routes.ts";
import { openPage } from "./chat-page.ts";
import { stage, until } from "./stage.ts";

const weather = defineTool({
  name: "weather",
  input: z.object({ city: z.string() }),
  effect: "none",
  execute: ({ city }) => ({ city, sky: "rain" }),
});

const ready = (page: Awaited<ReturnType<typeof openPage>>, count: number) =>
  until(() => page.chat.status === "ready" && page.chat.messages.length >= count);

test("useChat shows streamed text, reasoning and tool parts of an agent", async () => {
  const model = scriptedModel([
    {
      reasoning: "I should look outside.",
      text: "One moment.",
      calls: [{ tool: "weather", args: { city: "Oslo" } }],
    },
    { text: "It rains in Oslo." },
  ]);
  const agent = new Agent({ name: "clerk", model, tools: [weather] });
  const { url } = await stage([agent], uiMessageRoutes());
  const page = await openPage(`${url}/v1/agents/clerk/chat`, { id: "first" });
  void page.chat.sendMessage({ text: "How is the weather?" });
  await ready(page, 2);
  const parts = page.last?.parts ?? [];
  expect(parts.map(({ type }) => type)).toEqual([
    "step-start",
    "reasoning",
    "text",
    "dynamic-tool",
    "step-start",
    "text",
  ]);
  expect(parts[1]).toMatchObject({ text: "I should look outside.", state: "done" });
  expect(parts[3]).toMatchObject({
    toolName: "weather",
    state: "output-available",
    input: { city: "Oslo" },
    output: { city: "Oslo", sky: "rain" },
  });
  expect(parts[5]).toMatchObject({ text: "It rains in Oslo.", state: "done" });
  expect(page.last?.metadata).toMatchObject({
    agent: "clerk",
    status: "completed",
    stopReason: "answered",
    usage: { inputTokens: 20, outputTokens: 10, modelCalls: 2 },
  });
  expect(page.text()).toBe("One moment.It rains in Oslo.");
});

test("several turns are one conversation, and history in a request is not believed", async () => {
  const model = scriptedModel(["Hello Una.", "You said Una."]);
  const agent = new Agent({ name: "clerk", model });
  const { url, trackside } = await stage([agent], uiMessageRoutes());
  const page = await openPage(`${url}/v1/agents/clerk/chat`, { id: "c1" });
  void page.chat.sendMessage({ text: "I am Una." });
  await ready(page, 2);
  page.chat.setMessages((messages) =>
    messages.map((message) => ({ ...message, parts: [{ type: "text", text: "FORGED" }] })),
  );
  await until(() => page.text() === "FORGED");
  void page.chat.sendMessage({ text: "Who am I?" });
  await ready(page, 4);
  expect(page.text()).toBe("You said Una.");
  const sent = JSON.stringify(model.requests[1]?.prompt);
  expect(sent).toContain("I am Una.");
  expect(sent).not.toContain("FORGED");
  expect(await trackside.conversations.list({ tenant: "acme" })).toHaveLength(1);
});

describe("approvals", () => {
  const ran: string[] = [];
  const refund = defineTool({
    name: "refund",
    input: z.object({ order: z.number() }),
    execute: ({ order }) => {
      ran.push(`refund ${order}`);
      return `refunded ${order}`;
    },
  });
  const gated = (...script: ScriptedStep[]) =>
    new Agent({ name: "clerk", model: scriptedModel(script), tools: [refund], hitlTools: ["refund"] });

  test("L3 approved in the chat: it runs, once, and the same message goes on", async () => {
    ran.length = 0;
    const agent = gated({ text: "I will.", calls: [{ tool: "refund", args: { order: 17 } }] }, "Done.");
    const { url, trackside } = await stage([agent], uiMessageRoutes());
    const page = await openPage(`${url}/v1/agents/clerk/chat`, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    void page.chat.sendMessage({ text: "Refund order 17" });
    await ready(page, 2);
    const asked = page.last?.parts.find((part) => part.type === "dynamic-tool");
    expect(asked).toMatchObject({ state: "approval-requested", input: { order: 17 } });
    expect(page.last?.metadata).toMatchObject({ status: "waiting" });
    expect(ran).toEqual([]);
    void page.chat.addToolApprovalResponse({ id: asked?.approval?.id ?? "", approved: true });
    await until(() => page.text().endsWith("Done.") && page.chat.status === "ready");
    expect(page.chat.messages).toHaveLength(2);
    expect(page.text()).toBe("I will.Done.");
    const tools = page.last?.parts.filter((part) => part.type === "dynamic-tool");
    expect(tools).toMatchObject([{ state: "output-available", output: "refunded 17" }]);
    expect(ran).toEqual(["refund 17"]);
    const [record] = await trackside.approvals.list({ tenant: "acme", state: "all" });
    expect(record).toMatchObject({ state: "approved", decision: { by: "u1" } });
  });

  test("L2 denied with a reason: it never runs and the model reads why", async () => {
    ran.length = 0;
    const model = scriptedModel([{ calls: [{ tool: "refund", args: { order: 18 } }] }, "I may not."]);
    const agent = new Agent({ name: "clerk", model, tools: [refund], hitlTools: ["refund"] });
    const { url } = await stage([agent], uiMessageRoutes());
    const page = await openPage(`${url}/v1/agents/clerk/chat`, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    void page.chat.sendMessage({ text: "Refund order 18" });
    await ready(page, 2);
    const asked = page.last?.parts.find((part) => part.type === "dynamic-tool");
    void page.chat.addToolApprovalResponse({
      id: asked?.approval?.id ?? "",
      approved: false,
      reason: "too expensive",
    });
    await until(() => page.text() === "I may not." && page.chat.status === "ready");
    expect(page.last?.parts.find((part) => part.type === "dynamic-tool")).toMatchObject({
      state: "output-denied",
      approval: { approved: false, reason: "too expensive" },
    });
    expect(ran).toEqual([]);
    expect(JSON.stringify(model.requests[1]?.prompt)).toContain("too expensive");
  });

  test("L4 somebody else was first: the chat shows what was really decided", async () => {
    ran.length = 0;
    const agent = gated({ calls: [{ tool: "refund", args: { order: 19 } }] }, "Done.");
    const { url, trackside } = await stage([agent], uiMessageRoutes());
    const page = await openPage(`${url}/v1/agents/clerk/chat`, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    void page.chat.sendMessage({ text: "Refund order 19" });
    await ready(page, 2);
    const asked = page.last?.parts.find((part) => part.type === "dynamic-tool");
    const id = asked?.approval?.id ?? "";
    await trackside.approvals.decide(id, { choice: "approve", by: "boss" }, { tenant: "acme" });
    void page.chat.addToolApprovalResponse({ id, approved: false });
    await until(() => page.text() === "Done." && page.chat.status === "ready");
    expect(ran).toEqual(["refund 19"]);
    expect(page.last?.parts.find((part) => part.type === "dynamic-tool")).toMatchObject({
      state: "output-available",
    });
    expect(page.last?.parts.findLast((part) => part.type === "data-approval")).toMatchObject({
      data: { state: "approved", decidedBy: "boss" },
    });
  });

  test("an operator may talk but not decide", async () => {
    const agent = gated({ calls: [{ tool: "refund", args: { order: 20 } }] }, "never");
    const { url, as, trackside } = await stage([agent], uiMessageRoutes());
    as("operator");
    const page = await openPage(`${url}/v1/agents/clerk/chat`, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    void page.chat.sendMessage({ text: "Refund order 20" });
    await ready(page, 2);
    const asked = page.last?.parts.find((part) => part.type === "dynamic-tool");
    void page.chat.addToolApprovalResponse({ id: asked?.approval?.id ?? "", approved: true });
    await until(() => page.chat.status === "error");
    expect(page.chat.error?.message).toContain("approver");
    expect(await trackside.approvals.list({ tenant: "acme" })).toHaveLength(1);
  });
});

test("T8 a client tool: onToolCall and addToolOutput supply the result", async () => {
  const locate = defineTool({
    name: "locate",
    input: z.object({}),
    output: z.object({ city: z.string() }),
    executor: "client",
  });
  const model = scriptedModel([{ calls: [{ tool: "locate" }] }, "You are in Oslo."]);
  const agent = new Agent({ name: "guide", model, tools: [locate] });
  const { url, as } = await stage([agent], uiMessageRoutes());
  as("operator"); // whoever drives the run answers its client tools
  const page = await openPage(`${url}/v1/agents/guide/chat`, {
    sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    onToolCall: ({ toolCall }) => {
      if (toolCall.dynamic) return;
      void page.chat.addToolOutput({
        tool: toolCall.toolName as never,
        toolCallId: toolCall.toolCallId,
        output: { city: "Oslo" } as never,
      });
    },
  });
  void page.chat.sendMessage({ text: "Where am I?" });
  await until(() => page.text() === "You are in Oslo." && page.chat.status === "ready");
  expect(page.last?.parts.find((part) => part.type === "tool-locate")).toMatchObject({
    state: "output-available",
    output: { city: "Oslo" },
  });
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain("Oslo");
  expect(page.chat.messages).toHaveLength(2);
});

test("stop() cancels the run, and what was said stays", async () => {
  const model = scriptedModel([{ text: "one two three", hangAfter: 5 }]);
  const agent = new Agent({ name: "slow", model });
  const { url, trackside } = await stage([agent], uiMessageRoutes());
  const page = await openPage(`${url}/v1/agents/slow/chat`);
  void page.chat.sendMessage({ text: "Count" });
  await until(() => page.text().startsWith("one"));
  await page.chat.stop();
  const [run] = await until(async () => {
    const runs = await trackside.runs.list({ tenant: "acme" });
    return runs[0]?.ended_at != null && runs;
  });
  expect(run?.outcome).toMatchObject({ status: "cancelled", reason: "stopped by the client of u1" });
  expect(page.chat.status).toBe("ready");
});

test("a page that comes back resumes the run that goes on without it; with nothing to resume nothing happens", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const wait = defineTool({ name: "wait", effect: "none", execute: () => held.then(() => "over") });
  const model = scriptedModel([{ text: "Wait.", calls: [{ tool: "wait" }] }, "Here I am."]);
  const agent = new Agent({ name: "slow", model, tools: [wait] });
  const { url } = await stage([agent], uiMessageRoutes());
  const api = `${url}/v1/agents/slow/chat`;
  const first = await openPage(api, { id: "chat-7", body: { onDisconnect: "continue" } });
  void first.chat.sendMessage({ text: "Go" });
  await until(() => first.text() === "Wait.");
  await first.chat.stop();
  first.close();
  const second = await openPage(api, { id: "chat-7", messages: first.chat.messages, resume: true });
  await until(() => second.chat.status === "streaming");
  release();
  await until(() => second.text() === "Wait.Here I am." && second.chat.status === "ready");
  expect(second.chat.messages).toHaveLength(2);
  await second.chat.resumeStream();
  expect(second.chat.status).toBe("ready");
  expect((await fetch(`${api}/chat-7/stream`)).status).toBe(204);
  expect((await fetch(`${api}/never/stream`)).status).toBe(204);
});

test("X13 regenerate answers again on a branch, and the chat goes on there", async () => {
  const model = scriptedModel(["Heads.", "Tails.", "You had tails."]);
  const agent = new Agent({ name: "coin", model });
  const { url, trackside } = await stage([agent], uiMessageRoutes());
  const page = await openPage(`${url}/v1/agents/coin/chat`);
  void page.chat.sendMessage({ text: "Toss" });
  await ready(page, 2);
  expect(page.text()).toBe("Heads.");
  void page.chat.regenerate();
  await until(() => page.text() === "Tails." && page.chat.status === "ready");
  expect(page.chat.messages).toHaveLength(2);
  void page.chat.sendMessage({ text: "What was it?" });
  await until(() => page.text() === "You had tails." && page.chat.status === "ready");
  const sent = JSON.stringify(model.requests[2]?.prompt);
  expect(sent).toContain("Tails.");
  expect(sent).not.toContain("Heads.");
  const [conversation] = await trackside.conversations.list({ tenant: "acme" });
  expect(conversation?.branches).toHaveLength(2);
});

test("X7 an edited message goes on from before it, on a branch", async () => {
  const model = scriptedModel(["Hello.", "Red it is.", "Blue it is."]);
  const agent = new Agent({ name: "painter", model });
  const { url } = await stage([agent], uiMessageRoutes());
  const page = await openPage(`${url}/v1/agents/painter/chat`);
  void page.chat.sendMessage({ text: "Hi" });
  await ready(page, 2);
  void page.chat.sendMessage({ text: "Paint it red" });
  await ready(page, 4);
  const messageId = page.chat.messages[2]?.id ?? "";
  void page.chat.sendMessage({ text: "Paint it blue", messageId });
  await until(() => page.text() === "Blue it is." && page.chat.status === "ready");
  const sent = JSON.stringify(model.requests[2]?.prompt);
  expect(sent).toContain("Hello.");
  expect(sent).not.toContain("red");
});

test("a failed run is the chat's error, in words", async () => {
  const model = scriptedModel([{ error: new Error("no such model") }]);
  const agent = new Agent({ name: "broken", model });
  const { url } = await stage([agent], uiMessageRoutes());
  const page = await openPage(`${url}/v1/agents/broken/chat`);
  void page.chat.sendMessage({ text: "Hi" });
  await until(() => page.chat.status === "error");
  expect(page.chat.error?.message).toContain("no such model");
});

test("plans, sub-agents and files arrive as they are", async () => {
  const model = scriptedModel([
    "1. Ask somebody\n2. Answer",
    { calls: [{ tool: "spawn_self", args: { task: "look" } }] },
    "a cat",
    "It is a cat.",
  ]);
  const agent = new Agent({ name: "lead", model, planningEnabled: true, allowSelfSpawn: true });
  const { url } = await stage([agent], uiMessageRoutes());
  const page = await openPage(`${url}/v1/agents/lead/chat`);
  const picture = `data:image/png;base64,${Buffer.from("png").toString("base64")}`;
  void page.chat.sendMessage({
    text: "What is it?",
    files: [{ type: "file", mediaType: "image/png", url: picture, filename: "cat.png" }],
  });
  await until(() => page.text() === "It is a cat." && page.chat.status === "ready");
  const parts = page.last?.parts ?? [];
  expect(parts.find(({ type }) => type === "data-plan")).toMatchObject({
    data: { steps: [{ title: "Ask somebody" }, { title: "Answer" }] },
  });
  expect(parts.filter(({ type }) => type === "data-subagent")).toMatchObject([
    { data: { state: "completed", status: "success" } },
  ]);
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain("image/png");
});

test("L7 an approval in a sub-agent is asked and decided in the chat", async () => {
  const ran: string[] = [];
  const pay = defineTool({
    name: "pay",
    input: z.object({ sum: z.number() }),
    execute: ({ sum }) => {
      ran.push(`pay ${sum}`);
      return "paid";
    },
  });
  const model = scriptedModel([
    { calls: [{ tool: "spawn_self", args: { task: "pay 5" } }] },
    { calls: [{ tool: "pay", args: { sum: 5 } }] },
    "I paid.",
    "It is paid.",
  ]);
  const agent = new Agent({ name: "lead", model, tools: [pay], hitlTools: ["pay"], allowSelfSpawn: true });
  const { url } = await stage([agent], uiMessageRoutes());
  const page = await openPage(`${url}/v1/agents/lead/chat`);
  void page.chat.sendMessage({ text: "Pay" });
  await ready(page, 2);
  const asked = page.last?.parts.find(
    (part) => part.type === "dynamic-tool" && part.state === "approval-requested",
  );
  expect(asked).toMatchObject({ toolName: "pay", input: { sum: 5 } });
  if (asked?.type !== "dynamic-tool") throw new Error("nothing was asked");
  await page.chat.addToolApprovalResponse({ id: asked.approval?.id ?? "", approved: true });
  void page.chat.sendMessage();
  await until(() => page.text() === "It is paid." && page.chat.status === "ready");
  expect(ran).toEqual(["pay 5"]);
});

test("H7 a draft that is taken back leaves the page", async () => {
  const model = scriptedModel(["Wrong draft.", "Right answer."]);
  let isShown = () => false;
  const picky = postHook({ name: "picky" }, async (turn) => {
    if (turn.answer !== "Wrong draft.") return cont(turn);
    await until(() => isShown());
    return regenerate("say it right");
  });
  const agent = new Agent({ name: "writer", model, hooks: { post: [picky] } });
  const { url } = await stage([agent], uiMessageRoutes());
  const page = await openPage(`${url}/v1/agents/writer/chat`);
  isShown = () => page.text() === "Wrong draft.";
  void page.chat.sendMessage({ text: "Write" });
  await until(() => page.text() === "Right answer." && page.chat.status === "ready");
  expect(JSON.stringify(page.chat.messages)).not.toContain("Wrong");
});

test("X7 a second message while a run is at work is refused, or steers it if asked to", async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const wait = defineTool({ name: "wait", effect: "none", execute: () => held.then(() => "over") });
  const model = scriptedModel([{ text: "Wait.", calls: [{ tool: "wait" }] }, "Heard both."]);
  const agent = new Agent({ name: "slow", model, tools: [wait] });
  const { url } = await stage([agent], uiMessageRoutes());
  const api = `${url}/v1/agents/slow/chat`;
  const post = (text: string, more: object = {}) =>
    fetch(api, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        id: "busy",
        messages: [{ id: text, role: "user", parts: [{ type: "text", text }] }],
        ...more,
      }),
    });
  const first = await post("one");
  const refused = await post("two");
  expect(refused.status).toBe(409);
  expect(await refused.json()).toMatchObject({
    code: "conversation_busy",
    detail: expect.stringMatching(/run_/),
  });
  const steered = await post("three", { whenBusy: "steer" });
  release();
  expect(await steered.text()).toContain("Heard both.");
  expect(await first.text()).toContain("steering-message");
  expect(JSON.stringify(model.requests[1]?.prompt)).toContain("three");
});

test("X13 regenerate after an error, and after stop(), does the turn again", async () => {
  const model = scriptedModel([
    { error: new Error("no such model") },
    "Fine now.",
    { text: "one two three", hangAfter: 5 },
    "one two three four",
  ]);
  const agent = new Agent({ name: "shaky", model });
  const { url } = await stage([agent], uiMessageRoutes());
  const page = await openPage(`${url}/v1/agents/shaky/chat`);
  void page.chat.sendMessage({ text: "Hi" });
  await until(() => page.chat.status === "error");
  void page.chat.regenerate();
  await until(() => page.text() === "Fine now." && page.chat.status === "ready");
  void page.chat.sendMessage({ text: "Count" });
  await until(() => page.text().startsWith("one"));
  await page.chat.stop();
  void page.chat.regenerate();
  await until(() => page.text() === "one two three four" && page.chat.status === "ready");
  expect(page.chat.messages).toHaveLength(4);
  expect(JSON.stringify(model.requests[3]?.prompt)).toContain("Fine now.");
});

test("a message right after stop() is not refused for the run that is being stopped", async () => {
  const model = scriptedModel([{ text: "one two three", hangAfter: 5 }, "Something else."]);
  const agent = new Agent({ name: "slow", model });
  const { url } = await stage([agent], uiMessageRoutes());
  const page = await openPage(`${url}/v1/agents/slow/chat`);
  void page.chat.sendMessage({ text: "Count" });
  await until(() => page.text().startsWith("one"));
  await page.chat.stop();
  void page.chat.sendMessage({ text: "Say something else" });
  await until(() => page.text() === "Something else." && page.chat.status === "ready");
  expect(page.chat.error).toBeUndefined();
});
