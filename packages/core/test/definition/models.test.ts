import { Agent, KNOWN_PROVIDERS, type LanguageModel } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { problemsOf } from "../support/problems-of.ts";

const agentWith = (model: string) => Agent.fromJSON({ name: "clerk", model });

describe("A6 model strings", () => {
  test.each(KNOWN_PROVIDERS)("A6 %s:model is a model", (provider) => {
    expect(agentWith(`${provider}:some-model`).definition.model).toBe(`${provider}:some-model`);
  });

  test.each([
    ["an unknown provider", "nobody:gpt-4o"],
    ["no provider", "gpt-4o"],
    ["a provider in capitals", "OpenAI:gpt-4o"],
    ["no model", "openai:"],
    ["nothing before the colon", ":gpt-4o"],
    ["nothing", ""],
    ["a space", "openai: gpt-4o"],
    ["an invisible character", "openai:gpt-4o\u200b"],
  ])("A6 %s is a problem that names the known providers", (_what, model) => {
    for (const field of ["model", "planning_model", "fallback_models"]) {
      const value = field === "fallback_models" ? [model] : model;
      const [found] = problemsOf(() =>
        Agent.fromJSON({ name: "clerk", model: "openai:gpt-4o", [field]: value }),
      );

      expect(found?.path).toBe(field === "fallback_models" ? "fallback_models[0]" : field);
      expect(found?.given).toBe(JSON.stringify(model));
      for (const provider of KNOWN_PROVIDERS) expect(found?.allowed).toContain(provider);
    }
  });
});

/** What an older provider package hands out: the scripted model under another specification. */
function ofVersion(version: "v2" | "v3" | "v4"): LanguageModel {
  const model = scriptedModel([]);
  return { ...model, specificationVersion: version, provider: "house", modelId: version } as LanguageModel; // only asked for its name here
}

describe("A6 model objects", () => {
  test.each(["v2", "v3", "v4"] as const)(
    "A6 a model object of specification %s may be passed in code",
    (version) => {
      const agent = new Agent({ name: "clerk", model: ofVersion(version) });

      expect(agent.definition.model).toBe(`house:${version}`);
    },
  );

  test("A6 objects and strings may stand side by side among the fallback models", () => {
    const agent = new Agent({
      name: "clerk",
      model: "openai:gpt-4o",
      fallbackModels: [ofVersion("v3"), "ollama:llama3.2"],
    });

    expect(agent.definition.fallback_models).toEqual(["house:v3", "ollama:llama3.2"]);
  });

  test("A6 the model that was passed is the one that answers", async () => {
    const model = scriptedModel(["Hello."]);
    const { output } = await new Agent({ name: "clerk", model }).run("Hi");

    expect(output).toBe("Hello.");
    model.assertDone();
  });

  test("A6 something that is no model says what one is", () => {
    const [found] = problemsOf(() => new Agent({ name: "clerk", model: { gpt: 4 } as never }));

    expect(found).toMatchObject({ path: "model", given: '{"gpt":4}' });
    expect(found?.allowed).toMatch(/"provider:model", or a model object/);
  });
});
