import { describe, expect, it } from "vitest";
import { familyOf } from "../../../src/context/model-family.ts";
import { costOf, factsOf, MODEL_TABLE, requestBudget } from "../../../src/context/model-table.ts";

const usage = { input_tokens: 1_000_000, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0 };

describe("A6 the model table", () => {
  it.each([
    ["openai:gpt-4o", 128_000],
    ["openai:gpt-4o-mini-2024-07-18", 128_000],
    ["openai:gpt-5-mini", 400_000],
    ["openai:gpt-5.6-sol", 1_050_000],
    ["anthropic:claude-sonnet-4-5-20250929", 200_000],
    ["anthropic:claude-sonnet-4-6", 1_000_000],
    ["anthropic:claude-opus-4-1", 200_000],
    ["anthropic:claude-opus-5-5", 1_000_000],
    ["google:gemini-3-pro-preview", 1_048_576],
    ["bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0", 200_000],
    ["amazon-bedrock:anthropic.claude-3-5-haiku-20241022-v1:0", 200_000],
    ["bedrock:eu.amazon.nova-lite-v1:0", 300_000],
    ["openai.responses:gpt-4.1", 1_047_576],
    ["groq:llama-3.3-70b-versatile", 131_072],
  ])("A6 knows the window of %s", (model, window) => {
    expect(factsOf(model)?.window).toBe(window);
  });

  it("A6 knows nothing of deployments and servers of one's own", () => {
    for (const model of [
      "azure:our-deployment",
      "ollama:llama3.2:3b",
      "openai-compatible:gpt-4o",
      "bedrock:arn:x",
      "",
      "x",
    ]) {
      expect(factsOf(model), model).toBeUndefined();
    }
  });

  it("A5 the user's own table comes first, by either name", () => {
    const own = {
      "anthropic:claude-*": { window: 5, output: 1 },
      "bedrock:us.anthropic.*": { window: 7, output: 1 },
    };
    expect(factsOf("anthropic:claude-opus-5", own)?.window).toBe(5);
    expect(factsOf("bedrock:us.anthropic.claude-opus-5", own)?.window).toBe(7);
    expect(factsOf("bedrock:eu.anthropic.claude-opus-5", own)?.window).toBe(5);
  });

  it("H6 a budget leaves room for the answer, and never exceeds what the provider takes", () => {
    expect(requestBudget({ window: 100_000, output: 8_000 }, null)).toBe(92_000);
    expect(requestBudget({ window: 100_000, output: 90_000 }, null)).toBe(75_000);
    expect(requestBudget({ window: 100_000, output: 90_000 }, 1_000)).toBe(99_000);
    const gpt5 = factsOf("openai:gpt-5");
    expect(gpt5 && requestBudget(gpt5, 1_000)).toBe(272_000);
  });

  it("B6 prices what is long by the price of long requests", () => {
    const facts = factsOf("google:gemini-2.5-pro");
    expect(costOf({ ...usage, input_tokens: 100_000 }, facts)).toBeCloseTo(0.125);
    expect(costOf(usage, facts)).toBeCloseTo(2.5);
    expect(costOf(usage, factsOf("openai:gpt-5.9"))).toBeNull();
  });

  it("B6 what is bound to a region costs more on Bedrock, and is the same facts each time", () => {
    const [global, bound] = ["global", "eu"].map(
      (region) => `bedrock:${region}.anthropic.claude-sonnet-4-5-v1:0`,
    );
    expect(costOf(usage, factsOf(global ?? ""))).toBeCloseTo(3);
    expect(costOf(usage, factsOf(bound ?? ""))).toBeCloseTo(3.3);
    expect(factsOf(bound ?? "")).toBe(factsOf(bound ?? ""));
  });

  it.each(Object.entries(MODEL_TABLE))("A6 %s is plausible", (name, { window, output, input, price }) => {
    expect(window).toBeGreaterThanOrEqual(8_192);
    expect(output).toBeLessThanOrEqual(window);
    expect(input ?? 1).toBeLessThanOrEqual(window);
    expect(familyOf(name.replace("*", "")).name).toBeTruthy();
    if (price === undefined) return;
    expect(price.output).toBeGreaterThanOrEqual(price.input);
    expect(price.cachedInput ?? 0).toBeLessThan(price.input);
  });
});

describe("B6 families of models", () => {
  it.each([
    ["openai:gpt-4o", "gpt-4o"],
    ["openai:gpt-4.1-nano", "gpt-4o"],
    ["openai:gpt-4-turbo", "gpt-4"],
    ["openai:o3-mini", "gpt-5"],
    ["openai:gpt-5.6-sol", "gpt-5"],
    ["azure:our-deployment", "gpt-5"],
    ["openai.responses:gpt-5", "gpt-5"],
    ["openai.chat:gpt-5", "gpt-5-chat"],
    ["litellm:gpt-5-mini", "gpt-5-chat"],
    ["groq:openai/gpt-oss-120b", "gpt-oss"],
    ["anthropic:claude-3-5-haiku-20241022", "claude-3"],
    ["anthropic:claude-sonnet-4-20250514", "claude"],
    ["anthropic:claude-opus-4-1-20250805", "claude"],
    ["anthropic:claude-sonnet-4-5-20250929", "claude-4.5"],
    ["openai-compatible:anthropic/claude-sonnet-4.6", "claude-4.5"],
    ["bedrock:us.anthropic.claude-opus-4-7-v1:0", "claude-dense"],
    ["anthropic:claude-fable-5", "claude-dense"],
    ["google:gemini-2.0-flash", "gemini-2.0"],
    ["google:gemini-2.5-flash", "gemini"],
    ["google:gemini-3.6-flash", "gemini-3"],
    ["mistral:ministral-8b-latest", "mistral"],
    ["deepseek:deepseek-chat", "deepseek"],
    ["groq:llama-3.3-70b-versatile", "llama"],
    ["bedrock:us.amazon.nova-lite-v1:0", "nova"],
    ["ollama:qwen3:8b", "qwen"],
    ["xai:grok-4", "unknown"],
    ["", "unknown"],
  ])("B6 %s counts as %s does", (model, family) => {
    expect(familyOf(model).name).toBe(family);
  });
});
