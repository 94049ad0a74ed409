import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KNOWN_PROVIDERS, parseModelString } from "./model-string.ts";

describe("A6 model strings", () => {
  it.each([
    ["openai:gpt-5", "openai", "gpt-5"],
    ["ollama:llama3.2:3b", "ollama", "llama3.2:3b"],
    ["bedrock:anthropic.claude-sonnet-4-5-v1:0", "bedrock", "anthropic.claude-sonnet-4-5-v1:0"],
    ["openai-compatible:org/model", "openai-compatible", "org/model"],
  ])("A6 %s is split at its first colon", (text, provider, model) => {
    expect(parseModelString(text)).toEqual({ ok: true, provider, model });
  });

  it.each([
    ["", "is empty"],
    ["gpt-5", "no provider in front of a colon"],
    [":gpt-5", "no provider before its colon"],
    ["openai:", "no model after its colon"],
    ["openai: gpt-5", "whitespace"],
    ["openai:gpt-5\n", "whitespace"],
    ["openai:gpt\u200b-5", "invisible character"],
    ["OpenAI:gpt-5", 'unknown provider "OpenAI"'],
    ["__proto__:x", 'unknown provider "__proto__"'],
  ])("A6 %j is a problem that names the known providers", (text, problem) => {
    const parsed = parseModelString(text);
    if (parsed.ok) throw new Error("expected a problem");
    expect(parsed.problem).toContain(problem);
    for (const provider of KNOWN_PROVIDERS) {
      expect(parsed.problem).toContain(provider);
      expect(parsed.allowed).toContain(provider);
    }
  });

  it("A6 any text is either a pair that reads back as itself or a bounded problem", () => {
    const provider = fc.constantFrom(...KNOWN_PROVIDERS, "nobody", "");
    const text = fc.oneof(
      fc.string(),
      fc.tuple(provider, fc.string()).map(([p, m]) => `${p}:${m}`),
    );
    fc.assert(
      fc.property(text, (given) => {
        const parsed = parseModelString(given);
        if (parsed.ok) expect(`${parsed.provider}:${parsed.model}`).toBe(given);
        else expect(parsed.problem.length).toBeLessThan(600);
      }),
    );
  });
});
