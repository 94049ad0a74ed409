import type {
  LanguageModelV2,
  LanguageModelV2CallOptions,
  LanguageModelV2StreamPart,
  LanguageModelV3,
  LanguageModelV3CallOptions,
  LanguageModelV3StreamPart,
  LanguageModelV4CallOptions,
} from "@ai-sdk/provider";
import { describe, expect, it } from "vitest";
import { adaptModel, isLanguageModel } from "../../src/local/providers/adapt.ts";
import { scriptedModel } from "../../src/testing/scripted-model.ts";
import { consume } from "../support/consume.ts";

const BYTES = new Uint8Array([1, 2, 3]);
const URL_ = new URL("https://example.com/a.png");
const options = { openai: { detail: "low" } };

/** A prompt that holds everything specification 4 has and the older ones say differently. */
const PROMPT: LanguageModelV4CallOptions["prompt"] = [
  { role: "system", content: "be brief" },
  {
    role: "user",
    content: [
      { type: "text", text: "look", providerOptions: options },
      { type: "file", mediaType: "image", data: { type: "data", data: BYTES }, filename: "a.png" },
      { type: "file", mediaType: "image/png", data: { type: "url", url: URL_ } },
      { type: "file", mediaType: "text/plain", data: { type: "text", text: "hi" } },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm" },
      { type: "custom", kind: "anthropic.fallback" },
      { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: BYTES } },
      { type: "tool-call", toolCallId: "1", toolName: "t", input: { a: 1 } },
    ],
  },
  {
    role: "tool",
    content: [
      {
        type: "tool-result",
        toolCallId: "1",
        toolName: "t",
        output: {
          type: "content",
          value: [
            { type: "text", text: "see", providerOptions: options },
            { type: "file", mediaType: "image/png", data: { type: "data", data: BYTES } },
            {
              type: "file",
              mediaType: "application/pdf",
              data: { type: "data", data: "AQID" },
              filename: "a.pdf",
            },
            { type: "file", mediaType: "image/png", data: { type: "url", url: URL_ } },
            { type: "file", mediaType: "text/plain", data: { type: "text", text: "hi" } },
          ],
        },
      },
      {
        type: "tool-result",
        toolCallId: "2",
        toolName: "t",
        output: { type: "execution-denied", reason: "no" },
      },
      { type: "tool-result", toolCallId: "3", toolName: "t", output: { type: "json", value: { ok: true } } },
      { type: "tool-approval-response", approvalId: "x", approved: true },
    ],
  },
];

const CALL: LanguageModelV4CallOptions = {
  prompt: PROMPT,
  temperature: 0.2,
  maxOutputTokens: 10,
  reasoning: "high",
  toolChoice: { type: "tool", toolName: "t" },
  providerOptions: options,
  tools: [
    {
      type: "function",
      name: "t",
      inputSchema: { type: "object" },
      strict: true,
      inputExamples: [{ input: {} }],
    },
    { type: "provider", id: "openai.web_search", name: "search", args: {} },
  ],
};

function v3(parts: LanguageModelV3StreamPart[]) {
  const calls: LanguageModelV3CallOptions[] = [];
  const model: LanguageModelV3 = {
    specificationVersion: "v3",
    provider: "old",
    modelId: "three",
    supportedUrls: { "image/*": [/^https:/] },
    async doStream(call) {
      calls.push(call);
      return { stream: ReadableStream.from(parts), response: { headers: { a: "b" } } };
    },
    async doGenerate(call) {
      calls.push(call);
      const content = [{ type: "file" as const, mediaType: "image/png", data: "AQID" }];
      return { content, finishReason: { unified: "stop", raw: "stop" }, usage: V3_USAGE, warnings: [] };
    },
  };
  return { model: adaptModel(model), calls };
}

function v2(parts: LanguageModelV2StreamPart[]) {
  const calls: LanguageModelV2CallOptions[] = [];
  const model: LanguageModelV2 = {
    specificationVersion: "v2",
    provider: "older",
    modelId: "two",
    supportedUrls: {},
    async doStream(call) {
      calls.push(call);
      return { stream: ReadableStream.from(parts) };
    },
    async doGenerate(call) {
      calls.push(call);
      return { content: [{ type: "text", text: "hi" }], finishReason: "stop", usage: V2_USAGE, warnings: [] };
    },
  };
  return { model: adaptModel(model), calls };
}

const V3_USAGE = {
  inputTokens: { total: 5, noCache: 3, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: 4, text: 4, reasoning: 0 },
};
const V2_USAGE = {
  inputTokens: 5,
  outputTokens: 4,
  totalTokens: 9,
  cachedInputTokens: 2,
  reasoningTokens: 1,
};

describe("A6 language model objects", () => {
  it("A6 a model of specification 4 is used as it is", () => {
    const model = scriptedModel([]);
    expect(adaptModel(model)).toBe(model);
    expect(isLanguageModel(model)).toBe(true);
  });

  it("A6 anything else is not taken for one", () => {
    const v1 = { ...scriptedModel([]), specificationVersion: "v1" };
    for (const value of [v1, {}, null, undefined, "openai:gpt-5", { specificationVersion: "v4" }]) {
      expect(isLanguageModel(value)).toBe(false);
    }
    // @ts-expect-error a model this old is not accepted by the type either
    expect(() => adaptModel(v1)).toThrow('specificationVersion "v2", "v3" or "v4", this one has "v1"');
  });

  it("A6 specification 3 gets the same request in its own words", async () => {
    const { model, calls } = v3([]);
    await consume(model, CALL);
    const [call] = calls;
    expect(call).not.toHaveProperty("reasoning");
    expect(call).toMatchObject({
      temperature: 0.2,
      maxOutputTokens: 10,
      tools: CALL.tools,
      toolChoice: CALL.toolChoice,
    });
    expect(call?.prompt).toEqual([
      PROMPT[0],
      {
        role: "user",
        content: [
          { type: "text", text: "look", providerOptions: options },
          { type: "file", mediaType: "image/*", data: BYTES, filename: "a.png" },
          { type: "file", mediaType: "image/png", data: URL_ },
          { type: "file", mediaType: "text/plain", data: new TextEncoder().encode("hi") },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm" },
          { type: "tool-call", toolCallId: "1", toolName: "t", input: { a: 1 } },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "1",
            toolName: "t",
            output: {
              type: "content",
              value: [
                { type: "text", text: "see", providerOptions: options },
                { type: "image-data", mediaType: "image/png", data: "AQID" },
                { type: "file-data", mediaType: "application/pdf", data: "AQID", filename: "a.pdf" },
                { type: "image-url", url: URL_.href },
                { type: "file-data", mediaType: "text/plain", data: "aGk=" },
              ],
            },
          },
          {
            type: "tool-result",
            toolCallId: "2",
            toolName: "t",
            output: { type: "execution-denied", reason: "no" },
          },
          {
            type: "tool-result",
            toolCallId: "3",
            toolName: "t",
            output: { type: "json", value: { ok: true } },
          },
          { type: "tool-approval-response", approvalId: "x", approved: true },
        ],
      },
    ]);
  });

  it("A6 specification 2 gets the same request in its own words", async () => {
    const { model, calls } = v2([]);
    await consume(model, CALL);
    const [call] = calls;
    expect(call).not.toHaveProperty("reasoning");
    expect(call?.tools).toEqual([
      { type: "function", name: "t", inputSchema: { type: "object" } },
      { type: "provider-defined", id: "openai.web_search", name: "search", args: {} },
    ]);
    expect(call?.prompt[3]).toEqual({
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "1",
          toolName: "t",
          output: {
            type: "content",
            value: [
              { type: "text", text: "see" },
              { type: "media", mediaType: "image/png", data: "AQID" },
              { type: "media", mediaType: "application/pdf", data: "AQID" },
              { type: "text", text: URL_.href },
              { type: "text", text: "hi" },
            ],
          },
        },
        { type: "tool-result", toolCallId: "2", toolName: "t", output: { type: "error-text", value: "no" } },
        {
          type: "tool-result",
          toolCallId: "3",
          toolName: "t",
          output: { type: "json", value: { ok: true } },
        },
      ],
    });
  });

  it("A6 what an older specification cannot say is left out with a warning, a file reference is refused", async () => {
    const own = { type: "other" as const, message: "own" };
    const three = await consume(v3([{ type: "stream-start", warnings: [own] }]).model, CALL);
    const features = ["reasoning", "custom part", "reasoning-file part"];
    expect(three.parts[0]).toMatchObject({
      warnings: [...features.map((feature) => ({ type: "unsupported", feature })), own],
    });
    const two = await consume(v2([{ type: "stream-start", warnings: [] }]).model, CALL);
    expect(two.parts[0]).toMatchObject({
      warnings: [...features, "file by URL in a tool result", "tool-approval-response part"].map(
        (feature) => ({ feature }),
      ),
    });
    const reference = {
      type: "file" as const,
      mediaType: "image/png",
      data: { type: "reference" as const, reference: { openai: "file-1" } },
    };
    for (const { model, calls } of [v3([]), v2([])]) {
      const { failure } = await consume(model, { prompt: [{ role: "user", content: [reference] }] });
      expect(failure).toMatchObject({
        code: "bad_request",
        message: expect.stringContaining("file references"),
      });
      expect(calls).toEqual([]);
    }
  });

  it("A6 the stream of specification 3 comes out in the words of 4", async () => {
    const { parts } = await consume(
      v3([
        { type: "text-delta", id: "1", delta: "a" },
        { type: "file", mediaType: "image/png", data: BYTES },
        { type: "finish", finishReason: { unified: "stop", raw: "end" }, usage: V3_USAGE },
      ]).model,
    );
    expect(parts).toEqual([
      { type: "text-delta", id: "1", delta: "a" },
      { type: "file", mediaType: "image/png", data: { type: "data", data: BYTES } },
      { type: "finish", finishReason: { unified: "stop", raw: "end" }, usage: V3_USAGE },
    ]);
  });

  it("A6 the stream of specification 2 comes out in the words of 4", async () => {
    const setting = { type: "unsupported-setting" as const, setting: "topK", details: "no" };
    const tool = { type: "provider-defined" as const, id: "a.b" as const, name: "b", args: {} };
    const { parts } = await consume(
      v2([
        { type: "stream-start", warnings: [setting, { type: "unsupported-tool", tool }] },
        { type: "file", mediaType: "image/png", data: "AQID" },
        { type: "tool-result", toolCallId: "1", toolName: "b", result: null, providerExecuted: true },
        { type: "tool-call", toolCallId: "1", toolName: "b", input: "{}" },
        { type: "finish", finishReason: "tool-calls", usage: V2_USAGE },
      ]).model,
    );
    expect(parts).toEqual([
      {
        type: "stream-start",
        warnings: [
          { type: "unsupported", feature: "topK", details: "no" },
          { type: "unsupported", feature: "tool b" },
        ],
      },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
      { type: "tool-result", toolCallId: "1", toolName: "b", result: "" },
      { type: "tool-call", toolCallId: "1", toolName: "b", input: "{}" },
      {
        type: "finish",
        finishReason: { unified: "tool-calls", raw: undefined },
        usage: {
          inputTokens: { total: 5, noCache: undefined, cacheRead: 2, cacheWrite: undefined },
          outputTokens: { total: 4, text: undefined, reasoning: 1 },
        },
      },
    ]);
  });

  it("A6 a finish that specification 2 does not know counts as incomplete", async () => {
    const { failure } = await consume(
      v2([{ type: "finish", finishReason: "unknown", usage: V2_USAGE }]).model,
    );
    expect(failure?.code).toBe("stream_error");
  });

  it("A6 answers that are not streamed are translated as well", async () => {
    const three = await v3([]).model.doGenerate({ prompt: [] });
    expect(three.content).toEqual([
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
    ]);
    const two = await v2([]).model.doGenerate({ prompt: [], reasoning: "low" });
    expect(two).toMatchObject({
      finishReason: { unified: "stop" },
      usage: { inputTokens: { total: 5 } },
      warnings: [{ feature: "reasoning" }],
    });
  });

  it("A6 a reader that stops early releases the older model's stream", async () => {
    let cancelled = false;
    const endless = new ReadableStream<LanguageModelV3StreamPart>({
      pull: (controller) => controller.enqueue({ type: "text-delta", id: "1", delta: "x" }),
      cancel: () => {
        cancelled = true;
      },
    });
    const base = v3([]);
    const model = adaptModel({
      ...base.model,
      specificationVersion: "v3",
      doStream: async () => ({ stream: endless }),
      doGenerate: () => Promise.reject(new Error("not used")),
    });
    const { stream } = await model.doStream({ prompt: [] });
    for await (const part of stream) {
      expect(part.type).toBe("text-delta");
      break;
    }
    expect(cancelled).toBe(true);
  });
});
