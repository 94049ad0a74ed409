import { Agent, cont, defineTool, localEngine, preHook } from "trackside";
import { expect, test } from "vitest";
import { words } from "../budget/talk.ts";
import { startWireServer, type WireServer, wires } from "../support/wire-server.ts";

const look = defineTool({ name: "look", description: "Looks.", execute: () => "seen" });
const RULES = words(1_500, "rule");
const CALL = { events: wires.anthropic.toolCall({ name: "look", args: {} }) };

interface Block {
  readonly cache_control?: object;
  readonly [key: string]: unknown;
}

interface Body {
  readonly system: readonly Block[];
  readonly tools: readonly Block[];
  readonly messages: readonly { readonly role: string; readonly content: readonly Block[] }[];
}

/** Every block of a request in the order it is read, and whether it is marked. */
function blocksOf({ tools, system, messages }: Body): { bytes: string; isMarked: boolean }[] {
  const all = [...tools, ...system, ...messages.flatMap(({ content }) => content)];
  return all.map(({ cache_control, ...block }) => {
    if (cache_control !== undefined) expect(cache_control).toEqual({ type: "ephemeral" });
    return { bytes: JSON.stringify(block), isMarked: cache_control !== undefined };
  });
}

function bodies(server: WireServer): Body[] {
  return server.requests.map(({ body }) => body as Body); // what the package writes
}

test("Anthropic is sent its breakpoints where the next request can use them, at most four", async () => {
  const news = preHook({ name: "news" }, (turn) => cont(turn.append("News.")));
  await using server = await startWireServer([
    CALL,
    CALL,
    { events: wires.anthropic.text("One.") },
    CALL,
    { events: wires.anthropic.text("Two.") },
  ]);
  const engine = localEngine({ providers: { anthropic: { baseUrl: `${server.origin}/v1`, apiKey: "k" } } });
  const agent = new Agent({
    name: "a",
    model: "anthropic:claude-sonnet-4-5",
    instructions: RULES,
    tools: [look],
    hooks: { pre: [news] },
  });
  const { conversation } = await agent.run("Go.", { engine });
  const second = await agent.run("On.", { engine, conversation });

  const requests = bodies(server).map(blocksOf);
  const marked = requests.map((blocks) => blocks.flatMap(({ isMarked }, i) => (isMarked ? [i] : [])));
  // tool, system, user, news | call, result | call, result | …
  expect(marked).toEqual([
    [1, 2, 3],
    [1, 2, 3, 5],
    [1, 2, 5, 7],
    [1, 2, 8, 9],
    [1, 8, 9, 11],
  ]);
  const sent = requests.map((blocks) => blocks.map(({ bytes }) => bytes).join("\n"));
  expect(sent[1]?.startsWith(sent[0] ?? "?")).toBe(true);
  expect(sent[2]?.startsWith(sent[1] ?? "?")).toBe(true);
  expect(sent[4]?.startsWith(sent[3] ?? "?")).toBe(true);
  expect(second.promptCache.requests.map((one) => one.broken_by)).toEqual(["hook news", null]);
});

test("a prompt too short to be cached goes to Anthropic as it is", async () => {
  await using server = await startWireServer([CALL, { events: wires.anthropic.text("One.") }]);
  const engine = localEngine({ providers: { anthropic: { baseUrl: `${server.origin}/v1`, apiKey: "k" } } });
  const agent = new Agent({
    name: "a",
    model: "anthropic:claude-sonnet-4-5",
    instructions: "Be kind.",
    tools: [look],
  });
  await agent.run("Go.", { engine });
  expect(JSON.stringify(server.requests)).not.toContain("cache_control");
});

test("Bedrock is sent cache points for Claude, behind the system prompt and the messages", async () => {
  // The answer does not matter: the request does.
  await using server = await startWireServer([{ status: 400, body: { message: "no" } }]);
  const engine = localEngine({
    providers: { bedrock: { baseUrl: server.origin, apiKey: "k" } },
    retry: { retries: 0 },
  });
  const model = "bedrock:us.anthropic.claude-sonnet-4-20250514-v1:0";
  const agent = new Agent({ name: "a", model, instructions: RULES, tools: [look] });
  await expect(agent.run("Go.", { engine })).rejects.toThrow();
  expect(server.requests[0]?.body).toMatchObject({
    system: [{ text: RULES }, { cachePoint: { type: "default" } }],
    messages: [{ role: "user", content: [{ text: "Go." }, { cachePoint: { type: "default" } }] }],
  });
});
