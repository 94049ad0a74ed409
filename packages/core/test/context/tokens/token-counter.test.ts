import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { TokenCounter } from "../../../src/local/token-counter.ts";
import type { Message, UserPart } from "../../../src/schema/message.ts";

const user = (text: string): Message => ({ id: "m", role: "user", parts: [{ type: "text", text }] });
const TEXT = "The night train left a few minutes late, and nobody on the platform seemed to mind.";
const nothingInstalled = async () => null;

describe("B6 TokenCounter", () => {
  it("B6 counts by the model's own tokenizer once it is ready", async () => {
    const counter = new TokenCounter("openai:gpt-4o");
    expect(counter.exact).toBe(false);
    await counter.ready();
    expect(counter.exact).toBe(true);
    expect(counter.text(TEXT)).toBe(countTokens(TEXT));
    expect(counter.message(user(TEXT))).toBe(countTokens(TEXT) + 4);
  });

  it("B6 answers by an estimate before that, and where there is no tokenizer", async () => {
    const counter = new TokenCounter("anthropic:claude-sonnet-4-5");
    const before = counter.text(TEXT);
    await counter.ready();
    expect(counter.exact).toBe(false);
    expect(counter.text(TEXT)).toBe(before);
    expect(before).toBeGreaterThan(countTokens(TEXT));
  });

  it("B6 goes on estimating where the package is missing or broken: no run fails for a count", async () => {
    for (const load of [nothingInstalled, async () => Promise.reject(new Error("broken"))]) {
      const counter = new TokenCounter("openai:gpt-5", load);
      await counter.ready();
      expect(counter.exact).toBe(false);
      expect(counter.text(TEXT)).toBeGreaterThan(10);
    }
  });

  it("B6 no count changes after ready, and none taken before it is kept", async () => {
    const counter = new TokenCounter("openai:gpt-4o", async () => () => 1_000);
    const message = user(TEXT);
    const fixed = { system: TEXT, tools: [] };
    expect(counter.message(message)).toBeLessThan(100);
    expect(counter.request(fixed)).toBeLessThan(100);
    await counter.ready();
    expect(counter.message(message)).toBe(1_004);
    expect(counter.request(fixed)).toBe(1_007);
    await counter.ready();
    expect(counter.message(message)).toBe(1_004);
  });

  it("B6 counts a message and the fixed part once, however often it is asked", async () => {
    let counted = 0;
    const counter = new TokenCounter("openai:gpt-4o", async () => () => {
      counted += 1;
      return 5;
    });
    await counter.ready();
    const [message, tools] = [user(TEXT), [{ name: "find", inputSchema: {} }]];
    const { message: alone } = counter; // handed on by itself
    for (let i = 0; i < 3; i++) {
      alone(message);
      counter.request({ system: TEXT, tools });
    }
    expect(counted).toBe(3);
    counter.request({ system: "another", tools });
    expect(counted).toBe(5);
  });

  it("B6 counts what is sent: calls, injected arguments, results, advisories; not what is not", () => {
    const counter = new TokenCounter("openai:gpt-4o", nothingInstalled);
    const call = {
      type: "tool_call",
      call_id: "c",
      wire_id: "c",
      tool: "find",
      arguments: { q: "x" },
    } as const;
    const says = (...parts: Extract<Message, { role: "assistant" }>["parts"]): Message => ({
      id: "m",
      role: "assistant",
      parts,
    });
    const plain = counter.message(says(call));
    expect(counter.message(says({ ...call, injected: { user: "somebody" } }))).toBeGreaterThan(plain);
    expect(counter.message(says({ ...call, arguments: null, raw: '{"q": broken' }))).toBeGreaterThan(5);
    expect(counter.message(says(call, call))).toBeGreaterThan(2 * (plain - 4));
    const thought = { type: "reasoning", text: TEXT } as const;
    expect(counter.message(says(call, thought))).toBeGreaterThan(plain + 10);
    expect(counter.message(says(call, { ...thought, changed: true }))).toBe(plain);
    const text = { type: "text", text: TEXT } as const;
    const advised: Message = { id: "m", role: "assistant", parts: [text], advisory: "[context: 10 of 100]" };
    expect(counter.message(advised)).toBeGreaterThan(counter.message(says(text)));
  });

  it("B6 counts pictures by the provider and files by their bytes", () => {
    const file = (media_type: string, bytes: number): UserPart[] => [
      { type: "file", media_type, source: { kind: "base64", data: "A".repeat((bytes * 4) / 3) } },
    ];
    const gpt = new TokenCounter("openai:gpt-4o", nothingInstalled);
    const claude = new TokenCounter("anthropic:claude-opus-5", nothingInstalled);
    expect(gpt.parts(file("image/png", 3_000_000))).toBe(769);
    expect(claude.parts(file("image/png", 3_000_000))).toBe(1_605);
    expect(gpt.parts(file("text/csv", 12_000))).toBe(3_004);
    expect(gpt.parts(file("application/pdf", 60_000))).toBe(3_004);
    const elsewhere = {
      type: "file",
      media_type: "application/pdf",
      source: { kind: "url", url: "https://a.b" },
    } as const;
    expect(gpt.parts([elsewhere])).toBeGreaterThan(1_000);
  });

  it("B6 knows what providers add for tools", async () => {
    const tools = [
      {
        name: "get_weather",
        description: "The weather of a city",
        inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      },
    ];
    const cost = async (model: string) => {
      const counter = new TokenCounter(model);
      await counter.ready();
      return counter.request({ system: "", tools }) - counter.request({ system: "", tools: [] });
    };
    expect(await cost("openai:gpt-4o")).toBeLessThan(60);
    expect(await cost("openai-compatible:gpt-5")).toBeGreaterThan(100);
    expect(await cost("anthropic:claude-sonnet-4-5")).toBeGreaterThan(500);
    expect(await cost("google:gemini-2.5-pro")).toBeLessThan(60);
  });
});
