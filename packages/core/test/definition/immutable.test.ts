import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { OWN_EXAMPLES, REGISTRY, SEED_EXAMPLE } from "../support/definitions.ts";

/** Everything that can be reached from a value by reading it. */
function reachable(value: unknown, seen = new Set<object>()): Set<object> {
  if (typeof value !== "object" || value === null || seen.has(value)) return seen;
  seen.add(value);
  for (const key of Reflect.ownKeys(value)) reachable(Reflect.get(value, key), seen);
  return seen;
}

const thawed = (value: unknown) => [...reachable(value)].filter((object) => !Object.isFrozen(object));

describe("A2 an agent is immutable data", () => {
  const json = { ...JSON.parse(SEED_EXAMPLE), ...OWN_EXAMPLES, hitl_tools: ["mail"] };

  test("A2 the definition is frozen all the way down, and so is what toJSON hands out", () => {
    const agent = Agent.fromJSON(json, REGISTRY);

    expect(thawed(agent.definition)).toEqual([]);
    for (const value of Object.values(agent.toJSON())) expect(thawed(value)).toEqual([]);
    expect(Object.isFrozen(agent)).toBe(true);
    expect(() => Object.assign(agent.definition, { max_steps: 1 })).toThrow(TypeError);
    expect(() => Object.assign(agent, { definition: {} })).toThrow(TypeError);
  });

  test("A2 tools, their schemas and the list of them are frozen", () => {
    const schema = { type: "object", properties: { city: { type: "string" } } };
    const raw = defineTool({ name: "weather", input: schema, execute: () => "rain" });
    const fromZod = defineTool({ name: "add", input: z.object({ a: z.number() }), execute: () => 1 });
    const agent = new Agent({ name: "clerk", model: "openai:gpt-4o", tools: [raw, fromZod] });

    expect(thawed(agent.tools)).toEqual([]);
    expect(Object.isFrozen(agent.models)).toBe(true);
  });

  test("A2 what is done later to the objects that were passed in changes nothing", () => {
    const schema = { type: "object", properties: { city: { type: "string" } } };
    const weather = defineTool({ name: "weather", input: schema, execute: () => "rain" });
    const tools = [weather];
    const options = { words: ["a"] };
    const config = {
      name: "clerk",
      model: "openai:gpt-4o",
      instructions: "Be kind.",
      tools,
      rails: [{ use: "pii", options }],
      outputSchema: { type: "object", properties: {} },
    };
    const agent = new Agent(config);
    const before = JSON.stringify([agent.definition, agent.tools, agent.output?.jsonSchema]);

    config.instructions = "Be rude.";
    config.rails.length = 0;
    options.words.push("b");
    tools.length = 0;
    schema.properties.city.type = "number";
    config.outputSchema.type = "string";
    Object.assign(config, { maxSteps: 1 });

    expect(JSON.stringify([agent.definition, agent.tools, agent.output?.jsonSchema])).toBe(before);
  });

  test("A2 a registry that changes later changes no agent", () => {
    const tools = [...REGISTRY.tools];
    const agent = Agent.fromJSON({ name: "clerk", model: "openai:gpt-4o" }, { tools });
    tools.length = 0;

    expect(agent.tools).toHaveLength(REGISTRY.tools.length);
  });
});

describe("A2 all state of a run lives in the run", () => {
  test("A2 1,000 concurrent runs of one agent never see each other", async () => {
    const RUNS = 1000;
    const received = new Map<string, string>();
    const remember = defineTool({
      name: "remember",
      input: z.object({ word: z.string() }),
      execute: async ({ word }, { runId, scope }) => {
        await new Promise((resolve) => setImmediate(resolve)); // lets the others in between
        received.set(runId, word);
        return `${word} for ${scope["user"]}`;
      },
    });
    // An echo: asks for the tool with what the user said, then repeats what the tool answered.
    const echo = scriptedModel(
      [
        ({ prompt }) => {
          const last = prompt.at(-1);
          const [part] = last?.role === "user" || last?.role === "tool" ? last.content : [];
          if (part?.type === "text") return { calls: [{ tool: "remember", args: { word: part.text } }] };
          return part?.type === "tool-result" && part.output.type === "text" ? part.output.value : "lost";
        },
      ],
      { loop: true, record: "none" },
    );
    const agent = new Agent({ name: "parrot", model: echo, tools: [remember] });
    const results = await Promise.all(
      Array.from({ length: RUNS }, (_, i) => agent.run(`word ${i}`, { scope: { user: `user ${i}` } })),
    );

    for (const [i, result] of results.entries()) {
      expect(result.output).toBe(`word ${i} for user ${i}`);
      expect(received.get(result.runId)).toBe(`word ${i}`);
      expect(result.messages).toHaveLength(4);
      expect(result.usage.model_calls).toBe(2);
    }
    expect(new Set(results.map((result) => result.runId)).size).toBe(RUNS);
    expect(new Set(results.map((result) => result.conversation.id)).size).toBe(RUNS);
  });

  test("A2 a run uses the hooks that are there when it starts", async () => {
    const model = scriptedModel(["one", "two"]);
    const agent = new Agent({ name: "clerk", model });
    const seen: string[] = [];
    const early = () => void seen.push("early");
    const late = () => void seen.push("late");
    agent.hookManager.add("START", () => {
      agent.hookManager.remove("PRE_LLM_CALL", early);
      agent.hookManager.add("PRE_LLM_CALL", late);
      agent.hookManager.add("FINISHED", late);
    });
    agent.hookManager.add("PRE_LLM_CALL", early);

    await agent.run("Hi");
    expect(seen).toEqual(["early"]);

    await agent.run("Hi");
    expect(seen).toEqual(["early", "late", "late"]);
  });
});
