import { Agent } from "trackside";
import { type ScriptedStep, scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { ENGINES } from "../../test/engines.ts";
import { builtInHooks, type VerifyOutputOptions, verifyOutput } from "../index.ts";

const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] } as const;

describe.each(ENGINES)("on $name", ({ make }) => {
  async function run(options: VerifyOutputOptions, script: readonly ScriptedStep[]) {
    const model = scriptedModel(script);
    const agent = new Agent({ name: "a", model, hooks: { post: [verifyOutput(options)] } });
    const result = await agent.run("go", { engine: make() });
    return { ...result, asked: model.requests.map(({ prompt }) => JSON.stringify(prompt.at(-1))) };
  }

  test("an answer that fits is not asked for again", async () => {
    const { output, asked } = await run({ schema, patterns: "Ghent", maxLength: 40 }, [
      '```json\n{"city":"Ghent"}\n```',
    ]);
    expect(output).toContain("Ghent");
    expect(asked).toHaveLength(1);
  });

  test("the model reads what is wrong until the answer fits", async () => {
    const { output, asked } = await run({ schema }, ["It is Ghent.", '{"town":"Ghent"}', '{"city":"Ghent"}']);
    expect(output).toBe('{"city":"Ghent"}');
    expect(asked[1]).toContain("has to be JSON and nothing else");
    expect(asked[2]).toMatch(/does not fit the JSON Schema: .*city/);
  });

  test("patterns may be wanted or forbidden, with words of one's own", async () => {
    const patterns = [
      { pattern: "https?://", feedback: "Name a source." },
      { pattern: "as an ai", flags: "i", forbidden: true },
    ];
    const { asked, output } = await run({ patterns, feedback: "Once more." }, [
      "As an AI, I say 42.",
      "42, see https://a.com",
    ]);
    expect(asked[1]).toContain("Once more. Name a source. It must not match /as an ai/i.");
    expect(output).toBe("42, see https://a.com");
  });

  test("in code any check will do", async () => {
    const check = async (answer: string) =>
      answer.length % 2 === 0 ? true : "It has to have an even length.";
    const { output, asked } = await run({ check }, ["odd", "even"]);
    expect(output).toBe("even");
    expect(asked[1]).toContain("even length");
  });

  test("what never fits is never given out", async () => {
    const never = await run({ maxLength: 3 }, ["much too long", "still too long", "too long again"]);
    expect(never).toMatchObject({ output: "", stopReason: "halted" });
    expect(never.asked).toHaveLength(3);
    const throws = await run({ check: () => undefined as never }, ["hello"]);
    expect(throws).toMatchObject({ output: "", stopReason: "halted" });
    expect(throws.reason).toContain("return true");
  });

  test("a serialized agent takes it by name", async () => {
    const json = {
      name: "a",
      model: "openai:m",
      hooks: { post: [{ use: "verify-output", options: { schema } }] },
    };
    const agent = Agent.fromJSON(json, { hooks: builtInHooks });
    expect(agent.toJSON()).toMatchObject({ hooks: json.hooks });
    const models = { "openai:m": scriptedModel(["Ghent", '{"city":"Ghent"}']) };
    expect((await agent.run("go", { engine: make({ models }) })).output).toBe('{"city":"Ghent"}');
  });
});

test("options are checked", () => {
  expect(() => verifyOutput({})).toThrow(/at least one of schema, patterns, maxLength and check/);
  expect(() => verifyOutput({ patterns: "(" })).toThrow(/Invalid regular expression/);
  expect(() => verifyOutput({ schema: { requird: [] } })).toThrow(/which requird is not/);
  expect(() => verifyOutput({ maxLength: 1, pattern: "x" } as VerifyOutputOptions)).toThrow(
    /pattern: unknown key/,
  );
});
