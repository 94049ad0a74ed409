import { Agent, type AgentConfig, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { bindAgent } from "../../src/local/bound-agent.ts";
import {
  ALWAYS_WRITTEN,
  inCode,
  namedTool,
  OWN_DEFAULTS,
  OWN_EXAMPLES,
  REGISTRY,
  SEED_EXAMPLE,
} from "../support/definitions.ts";

const MINIMAL = { name: "clerk", model: "openai:gpt-4o" };
type Config = AgentConfig<readonly [], never>;

describe("A1 a definition as JSON", () => {
  test("A1 the seed's example round-trips byte for byte", () => {
    const tools = [namedTool("deploy_service"), namedTool("rotate_credentials")];
    const agent = Agent.fromJSON(JSON.parse(SEED_EXAMPLE), { tools });

    expect(JSON.stringify(agent)).toBe(JSON.stringify(JSON.parse(SEED_EXAMPLE)));
    expect(JSON.stringify(agent.toJSON())).toBe(JSON.stringify(JSON.parse(SEED_EXAMPLE)));
  });

  test("A1 the base fields and the nine of the seed are always written, in its order, and nothing else", () => {
    const json = Agent.fromJSON(MINIMAL).toJSON();

    expect(Object.entries(json)).toEqual(Object.entries({ ...MINIMAL, ...ALWAYS_WRITTEN }));
    expect(Object.keys(json)).toEqual(Object.keys(JSON.parse(SEED_EXAMPLE)));
  });

  test.each(Object.keys(OWN_DEFAULTS))("A1 %s is written only where it differs from its default", (field) => {
    const byDefault = Agent.fromJSON({ ...MINIMAL, [field]: OWN_DEFAULTS[field] }, REGISTRY).toJSON();
    const changed = Agent.fromJSON({ ...MINIMAL, [field]: OWN_EXAMPLES[field] }, REGISTRY).toJSON();

    expect(byDefault).not.toHaveProperty(field);
    expect(changed[field]).toEqual(OWN_EXAMPLES[field]);
  });

  test("A1 the same agent written in code and as JSON is the same definition", () => {
    const json = { ...JSON.parse(SEED_EXAMPLE), ...OWN_EXAMPLES, hitl_tools: ["mail"] };
    // A config put together at run time: the types are tested elsewhere.
    const fromCode = new Agent(inCode(json) as unknown as Config, REGISTRY);

    expect(fromCode.definition).toEqual(Agent.fromJSON(json, REGISTRY).definition);
    expect(fromCode.toJSON()).toEqual(json);
  });

  test("A1 code is camelCase and JSON is snake_case", () => {
    const json = new Agent({ ...MINIMAL, maxSteps: 3, emitMcpProgress: false }).toJSON();

    expect(json).toMatchObject({ max_steps: 3, emit_mcp_progress: false });
    expect(Object.keys(json).filter((key) => /[A-Z]/.test(key))).toEqual([]);
  });
});

describe("A1 tools in a definition", () => {
  const names = REGISTRY.tools.map((tool) => tool.name);

  test("A1 absent tools binds every tool of the registry and stays absent", () => {
    const agent = Agent.fromJSON(MINIMAL, REGISTRY);

    expect(agent.tools.map((tool) => tool.name)).toEqual(names);
    expect(agent.toJSON()).not.toHaveProperty("tools");
  });

  test("A1 given tools binds those, in that order, and is written", () => {
    const agent = Agent.fromJSON({ ...MINIMAL, tools: ["mail", "search"] }, REGISTRY);

    expect(agent.tools.map((tool) => tool.name)).toEqual(["mail", "search"]);
    expect(agent.toJSON()["tools"]).toEqual(["mail", "search"]);
  });

  test("A1 an empty list binds none and is written", () => {
    const agent = Agent.fromJSON({ ...MINIMAL, tools: [] }, REGISTRY);

    expect(agent.tools).toEqual([]);
    expect(agent.toJSON()["tools"]).toEqual([]);
  });

  test("A1 the definition pinned in a run lists every bound name", () => {
    const pinned = (json: object) => bindAgent(Agent.fromJSON(json, REGISTRY)).pinned.definition.tools;

    expect(pinned(MINIMAL)).toEqual(names);
    expect(pinned({ ...MINIMAL, tools: ["mail"] })).toEqual(["mail"]);
    const inline = new Agent({ name: "clerk", model: scriptedModel([]), tools: [namedTool("own")] });
    expect(bindAgent(inline).pinned.definition.tools).toEqual(["own"]);
  });

  test("A1 a structured output written in zod is exported as the JSON Schema the model is shown", () => {
    const agent = new Agent({ ...MINIMAL, outputSchema: z.object({ the_answer: z.string() }) });

    expect(agent.toJSON()["output_schema"]).toMatchObject({
      type: "object",
      properties: { the_answer: { type: "string" } },
    });
    expect(Agent.fromJSON(agent.toJSON()).toJSON()).toEqual(agent.toJSON());
  });

  test("A1 a tool of the agent and a registered one of the same name: the agent's own is bound", async () => {
    const own = defineTool({ name: "search", execute: () => "own" });
    const agent = new Agent({ ...MINIMAL, tools: [own] }, REGISTRY);

    expect(agent.tools).toEqual([own]);
  });
});
