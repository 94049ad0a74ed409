import {
  Agent,
  type Conversation,
  cont,
  defineRail,
  defineTool,
  localEngine,
  preHook,
  type RunResult,
} from "trackside";
import { type ScriptedModel, type ScriptedRequest, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { breakpointFor } from "../../src/local/prompt-cache/breakpoints.ts";
import { words } from "../budget/talk.ts";

const EPHEMERAL = { anthropic: { cacheControl: { type: "ephemeral" } } };
const look = defineTool({ name: "look", execute: () => "seen" });
const LOOK = { calls: [{ tool: "look" }] };
const CLAUDE = { provider: "anthropic.messages", modelId: "claude-sonnet-4-5" };
const RULES = words(1_500, "rule");

/** Which messages of each request are marked, and that nothing else differs from a request without marks. */
function marks(model: ScriptedModel): number[][] {
  return model.requests.map(({ prompt }) =>
    prompt.flatMap(({ providerOptions }, i) => {
      if (providerOptions !== undefined) expect(providerOptions).toEqual(EPHEMERAL);
      return providerOptions === undefined ? [] : [i];
    }),
  );
}

function bytes({ prompt }: ScriptedRequest): string {
  const plain = prompt.map(({ providerOptions: _, ...message }) => JSON.stringify(message));
  return plain.join("\n");
}

describe("cache breakpoints", () => {
  test("are behind the system prompt, the user's message and the last message; those of the last request are kept", async () => {
    const model = scriptedModel([LOOK, LOOK, "Done."], CLAUDE);
    await new Agent({ name: "a", model, instructions: RULES, tools: [look] }).run("Go.");
    // system, user | system, user, call, result | …
    expect(marks(model)).toEqual([
      [0, 1],
      [0, 1, 3],
      [0, 1, 3, 5],
    ]);
  });

  test("H5 with transient parts the next turn finds the mark at the user's message, however far back it is", async () => {
    const model = scriptedModel([LOOK, LOOK, LOOK, "One.", LOOK, "Two."], CLAUDE);
    const news = preHook({ name: "news" }, (turn) => cont(turn.append("News.")));
    const agent = new Agent({ name: "a", model, instructions: RULES, tools: [look], hooks: { pre: [news] } });
    const { conversation } = await agent.run("Go.");
    await agent.run("On.", { conversation });
    expect(marks(model)).toEqual([
      [0, 1, 2],
      [0, 1, 2, 4],
      [0, 1, 4, 6],
      [0, 1, 6, 8],
      [0, 1, 9, 10],
      [0, 9, 10, 12],
    ]);
    expect(bytes(model.requests[4] as ScriptedRequest)).toContain("On.");
  });

  test("H5 without them each request is a byte prefix of the next", async () => {
    const model = scriptedModel([LOOK, LOOK, "One.", LOOK, "Two."], CLAUDE);
    const agent = new Agent({ name: "a", model, instructions: RULES, tools: [look] });
    const { conversation } = await agent.run("Go.");
    await agent.run("On.", { conversation });
    const sent = model.requests.map(bytes);
    for (const [i, request] of sent.entries()) expect(request.startsWith(sent[i - 1] ?? "")).toBe(true);
  });

  test("a note is not cached: the next request does not have it", async () => {
    let inject: ((note: string) => unknown) | undefined;
    const noting = defineTool({ name: "noting", execute: () => String(inject?.("Mind the gap.") ?? "") });
    const call = { calls: [{ tool: "noting" }] };
    const model = scriptedModel([call, "Done."], CLAUDE);
    const run = new Agent({ name: "a", model, instructions: RULES, tools: [noting] }).stream("Go.");
    inject = (note) => void run.inject(note);
    await run.result;
    expect(model.requests[1]?.prompt.at(-1)).toMatchObject({ content: [{ text: "Mind the gap." }] });
    expect(marks(model)[1]).toEqual([0, 1, 3]);
  });

  test("are left out before the provider's minimum, and set from there on", async () => {
    const page = defineTool({ name: "page", execute: () => words(1_500, "page") });
    const call = { calls: [{ tool: "page" }] };
    const model = scriptedModel([call, call, "Done."], CLAUDE);
    await new Agent({ name: "a", model, instructions: "Be kind.", tools: [page] }).run("Go.");
    expect(marks(model)).toEqual([[], [3], [3, 5]]);
  });

  test("large tools count: the mark behind the system prompt covers them", async () => {
    const big = defineTool({ name: "big", description: words(1_500, "tool"), execute: () => "" });
    const model = scriptedModel(["Done."], CLAUDE);
    await new Agent({ name: "a", model, instructions: "Be kind.", tools: [big] }).run("Go.");
    expect(marks(model)).toEqual([[0, 1]]);
  });

  test("without a system prompt the messages have them", async () => {
    const model = scriptedModel([LOOK, "Done."], CLAUDE);
    await new Agent({ name: "a", model, tools: [look] }).run(words(1_500));
    expect(marks(model)).toEqual([[0], [0, 2]]);
  });

  test("R4 are in requests that rails changed, too", async () => {
    const redact = defineRail({ name: "redact", on: ["PRE_LLM_CALL"] }, (ctx) => {
      ctx.inputs.messages = ctx.inputs.messages.map((message) => ({ ...message }));
    });
    const model = scriptedModel([LOOK, "Done."], CLAUDE);
    const news = preHook({ name: "news" }, (turn) => cont(turn.append("News.")));
    const hooks = { pre: [news] };
    await new Agent({ name: "a", model, instructions: RULES, tools: [look], rails: [redact], hooks }).run(
      "Go.",
    );
    expect(marks(model)).toEqual([
      [0, 1, 2],
      [0, 1, 2, 4],
    ]);
  });

  test("are never more than four, and never in the log or a message that other requests share", async () => {
    const model = scriptedModel([LOOK], { ...CLAUDE, loop: true, record: "reference" });
    const spare = scriptedModel(["Done."], { loop: true });
    const news = preHook({ name: "news" }, (turn) => cont(turn.append("News.")));
    const config = { name: "a", instructions: RULES, tools: [look], hooks: { pre: [news] } };
    let conversation: Conversation | undefined;
    const talk = async (agent: Agent): Promise<void> => {
      const result: RunResult = await agent.run("Go.", conversation === undefined ? {} : { conversation });
      conversation = result.conversation;
    };
    for (let i = 0; i < 3; i++) await talk(new Agent({ ...config, model, maxSteps: 4 }));
    for (const one of marks(model)) expect(one.length).toBeLessThanOrEqual(4);
    await talk(new Agent({ ...config, model: spare }));
    expect(JSON.stringify(spare.requests[0]?.prompt)).not.toContain("cacheControl");
    expect(JSON.stringify(conversation)).not.toContain("cacheControl");
  });

  test("other providers get requests without them", async () => {
    for (const provider of ["openai.responses", "google.generative-ai", "scripted", "my-anthropic-proxy"]) {
      const model = scriptedModel([LOOK, "Done."], { provider });
      await new Agent({ name: "a", model, instructions: RULES, tools: [look] }).run("Go.");
      expect(marks(model)).toEqual([[], []]);
    }
  });

  test("after a fallback nothing of the other model's marks is kept", async () => {
    const error = Object.assign(new Error("no"), { statusCode: 400 });
    const model = scriptedModel([LOOK, { error }], CLAUDE);
    const spare = scriptedModel(["Done."], { ...CLAUDE, modelId: "claude-haiku-4-5" });
    const engine = localEngine({ retry: { retries: 0 } });
    const agent = new Agent({
      name: "a",
      model,
      fallbackModels: [spare],
      instructions: RULES,
      tools: [look],
    });
    await agent.run("Go.", { engine });
    expect(marks(spare)).toEqual([[0, 1, 3]]);
  });
});

test("who is told by a breakpoint, and how", () => {
  const point = { bedrock: { cachePoint: { type: "default" } } };
  const wanted: [string, string, object | undefined][] = [
    ["anthropic.messages", "claude-opus-4-1", EPHEMERAL],
    ["anthropic", "any", EPHEMERAL],
    ["vertex.anthropic.messages", "claude-sonnet-4@20250514", EPHEMERAL],
    ["googleVertex.anthropic.messages", "claude-sonnet-4-5", EPHEMERAL],
    ["bedrock.anthropic.messages", "anthropic.claude-sonnet-4-5-20250929-v1:0", EPHEMERAL],
    ["amazon-bedrock", "us.anthropic.claude-sonnet-4-20250514-v1:0", point],
    ["amazon-bedrock", "anthropic.claude-3-7-sonnet-20250219-v1:0", point],
    ["amazon-bedrock", "anthropic.claude-3-5-haiku-20241022-v1:0", point],
    ["amazon-bedrock", "anthropic.claude-3-haiku-20240307-v1:0", undefined],
    ["amazon-bedrock", "anthropic.claude-3-5-sonnet-20240620-v1:0", undefined],
    ["amazon-bedrock", "anthropic.claude-v2:1", undefined],
    ["amazon-bedrock", "amazon.nova-pro-v1:0", undefined],
    ["amazon-bedrock", "meta.llama3-1-70b-instruct-v1:0", undefined],
    ["openai.chat", "anthropic/claude-sonnet-4", undefined],
  ];
  for (const [provider, modelId, mark] of wanted) expect(breakpointFor({ provider, modelId })).toEqual(mark);
});
