import type { LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ScriptedModel, type ScriptedRequest, scriptedModel } from "./scripted-model.ts";

const PROMPT: LanguageModelV4CallOptions["prompt"] = [
  { role: "user", content: [{ type: "text", text: "hello" }] },
];

async function parts(model: ScriptedModel, options: Partial<LanguageModelV4CallOptions> = {}) {
  const { stream } = await model.doStream({ prompt: PROMPT, ...options });
  const all: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) all.push(part);
  return all;
}

const textOf = (all: LanguageModelV4StreamPart[]) =>
  all.map((part) => (part.type === "text-delta" ? part.delta : "")).join("");

describe("a scripted model", () => {
  it("streams text word by word and finishes with the same usage every time", async () => {
    const model = scriptedModel(["It rains."]);
    expect(await parts(model)).toEqual([
      { type: "stream-start", warnings: [] },
      { type: "response-metadata", id: "reply-1", modelId: "scripted" },
      { type: "text-start", id: "text" },
      { type: "text-delta", id: "text", delta: "It" },
      { type: "text-delta", id: "text", delta: " rains." },
      { type: "text-end", id: "text" },
      {
        type: "finish",
        finishReason: { unified: "stop", raw: "stop" },
        usage: {
          inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 5, text: 5, reasoning: 0 },
        },
      },
    ]);
    model.assertDone();
  });

  it("asks for tools with ids of its own, given ids, and arguments that are not JSON", async () => {
    const calls = [{ tool: "a", args: { x: 1 } }, { tool: "b", rawArgs: "{oops", id: "mine" }, { tool: "c" }];
    const all = await parts(scriptedModel([{ calls }], { chunk: "whole" }));
    expect(all.filter((part) => part.type === "tool-call")).toEqual([
      { type: "tool-call", toolCallId: "call-1-1", toolName: "a", input: '{"x":1}' },
      { type: "tool-call", toolCallId: "mine", toolName: "b", input: "{oops" },
      { type: "tool-call", toolCallId: "call-1-3", toolName: "c", input: "{}" },
    ]);
    expect(all.at(-1)).toMatchObject({ finishReason: { unified: "tool-calls" } });
  });

  it("reports reasoning, the finish and the usage it was given", async () => {
    const usage = { input: 100, output: 20, cachedInput: 60, reasoning: 8 };
    const all = await parts(scriptedModel([{ reasoning: "hm", text: "ok", finish: "length", usage }]));
    expect(all.map((part) => part.type)).toContain("reasoning-delta");
    expect(all.at(-1)).toMatchObject({
      finishReason: { unified: "length" },
      usage: {
        inputTokens: { total: 100, noCache: 40, cacheRead: 60 },
        outputTokens: { total: 20, text: 12, reasoning: 8 },
      },
    });
  });

  it("cuts text into deltas that add up to it and never hold half a character", () => {
    const chunk = fc.oneof(
      fc.integer({ min: 1, max: 9 }),
      fc.constant("whole" as const),
      fc.constant(undefined),
    );
    return fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme" }), chunk, async (text, size) => {
        const all = await parts(scriptedModel([text], size === undefined ? {} : { chunk: size }));
        expect(textOf(all)).toBe(text);
        for (const part of all) if (part.type === "text-delta") expect(part.delta.isWellFormed()).toBe(true);
      }),
    );
  });

  it("takes replies from functions of the request and from generators", async () => {
    const echo = (request: ScriptedRequest) => `request ${request.index} with ${request.tools.length} tools`;
    expect(textOf(await parts(scriptedModel([echo])))).toBe("request 0 with 0 tools");

    const model = scriptedModel(async function* (): AsyncGenerator<string, void, ScriptedRequest> {
      const second = yield "first";
      yield `then ${second.index}`;
    });
    expect(textOf(await parts(model))).toBe("first");
    expect(textOf(await parts(model))).toBe("then 1");
    await expect(parts(model)).rejects.toThrow("did not expect request 3: its script has 2 replies");
    expect(() => model.assertDone()).toThrow("did not expect request 3");
  });

  it("starts again with loop", async () => {
    const list = scriptedModel(["a", "b"], { loop: true });
    const generator = scriptedModel(() => ["a", "b"], { loop: true });
    for (const model of [list, generator]) {
      const texts: string[] = [];
      for (let n = 0; n < 5; n++) texts.push(textOf(await parts(model)));
      expect(texts).toEqual(["a", "b", "a", "b", "a"]);
      model.assertDone();
    }
  });

  it("fails a test that left replies over or asked too often, naming the request", async () => {
    const model = scriptedModel(["one", "two"], { modelId: "demo" });
    await parts(model);
    expect(() => model.assertDone()).toThrow('"demo" has 1 of 2 replies left; 1 requests came');
    await parts(model);
    model.assertDone();
    await expect(parts(model)).rejects.toThrow(/"demo" did not expect request 3.*"text":"hello"/s);
    expect(() => model.assertDone()).toThrow("did not expect request 3");
  });

  it("keeps requests as they were when they came", async () => {
    const model = scriptedModel(["ok"]);
    const prompt = structuredClone(PROMPT);
    const file = {
      type: "file" as const,
      mediaType: "image/png",
      data: { type: "url" as const, url: new URL("http://x/") },
    };
    prompt.push({ role: "user", content: [file] });
    await parts(model, { prompt, temperature: 0.5, abortSignal: new AbortController().signal });
    prompt.length = 0;
    file.mediaType = "changed";
    const [request] = model.requests;
    expect(request?.prompt).toHaveLength(2);
    expect(request?.prompt[1]?.content[0]).toMatchObject({
      mediaType: "image/png",
      data: { url: new URL("http://x/") },
    });
    expect(request?.options.temperature).toBe(0.5);
    expect(request?.options).not.toHaveProperty("abortSignal");
  });

  it("throws before the stream, fails inside it, or breaks it", async () => {
    const error = new Error("boom");
    await expect(parts(scriptedModel([{ error }]))).rejects.toBe(error);

    const inside = await parts(scriptedModel([{ text: "a b c", error, errorAfter: 4 }]));
    expect(inside.map((part) => part.type)).toEqual([
      "stream-start",
      "response-metadata",
      "text-start",
      "text-delta",
      "error",
    ]);
    expect(inside.at(-1)).toEqual({ type: "error", error });

    await expect(parts(scriptedModel([{ text: "a", error, errorAfter: 3, errorAs: "break" }]))).rejects.toBe(
      error,
    );
    await expect(
      scriptedModel([{ text: "a", error, errorAfter: 99 }]).doGenerate({ prompt: PROMPT }),
    ).rejects.toBe(error);
  });

  it.each([
    ["while it hangs", { hang: true as const }],
    ["while it delays", { text: "x", delayMs: 600_000 }],
    ["between deltas", { text: "a b c", chunkDelayMs: 600_000 }],
    ["after it fell silent", { text: "a b c", hangAfter: 3 }],
  ])("ends at once when aborted %s", async (_when, reply) => {
    const abort = new AbortController();
    const reason = new Error("stop now");
    const reading = parts(scriptedModel([reply]), { abortSignal: abort.signal });
    setTimeout(() => abort.abort(reason), 5);
    await expect(reading).rejects.toBe(reason); // or the test takes longer than it may
  });

  it("does not go on after an abort, not even with parts at hand", async () => {
    const abort = new AbortController();
    const { stream } = await scriptedModel(["a b c"]).doStream({ prompt: PROMPT, abortSignal: abort.signal });
    const seen: string[] = [];
    const reading = async () => {
      for await (const part of stream) {
        seen.push(part.type);
        abort.abort(new Error("enough"));
      }
    };
    await expect(reading()).rejects.toThrow("enough");
    expect(seen).toEqual(["stream-start"]);
    await expect(
      scriptedModel(["x"]).doStream({ prompt: PROMPT, abortSignal: abort.signal }),
    ).rejects.toThrow("enough");
  });

  it("waits on the clock it was given", async () => {
    const waited: number[] = [];
    const sleep = async (ms: number) => {
      waited.push(ms);
    };
    await parts(scriptedModel([{ text: "a", delayMs: 70, chunkDelayMs: 9 }], { sleep }));
    expect(waited).toEqual([70, 9, 9, 9, 9, 9, 9, 9]);
  });

  it("plays parts as they are and generates the same content at once", async () => {
    const verbatim: LanguageModelV4StreamPart[] = [
      { type: "text-start", id: "1" },
      { type: "text-delta", id: "1", delta: "hi" },
    ];
    expect(await parts(scriptedModel([{ parts: verbatim }]))).toEqual(verbatim);

    const reply = { reasoning: "so", text: "it is", calls: [{ tool: "t" }] };
    expect(await scriptedModel([reply]).doGenerate({ prompt: PROMPT })).toMatchObject({
      content: [
        { type: "reasoning", text: "so" },
        { type: "text", text: "it is" },
        { type: "tool-call", toolName: "t", input: "{}" },
      ],
      finishReason: { unified: "tool-calls" },
      usage: { outputTokens: { total: 5 } },
    });
  });

  it("can be read as a web stream too, once", async () => {
    const { stream } = await scriptedModel(["a b"]).doStream({ prompt: PROMPT });
    const texts = stream.pipeThrough(
      new TransformStream<LanguageModelV4StreamPart, string>({
        transform: (part, controller) => {
          if (part.type === "text-delta") controller.enqueue(part.delta);
        },
      }),
    );
    const seen: string[] = [];
    for await (const text of texts) seen.push(text);
    expect(seen).toEqual(["a", " b"]);
    expect(stream.locked).toBe(true);
    expect(() => stream.getReader()).toThrow();
  });
});
