import { Agent, defineTool, TracksideError } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { namedTool, OWN_EXAMPLES, REGISTRY } from "../support/definitions.ts";

const MINIMAL = { name: "clerk", model: "openai:gpt-4o" };

describe("A7 what has no registered name refuses to be written", () => {
  const mute = scriptedModel([], { provider: "house", modelId: "one" });
  const spare = scriptedModel([], { provider: "house", modelId: "two" });

  test("A7 an inline tool, by its name", () => {
    const agent = new Agent({ ...MINIMAL, tools: [namedTool("own")] });

    expect(() => agent.toJSON()).toThrow(
      'The agent "clerk" cannot be written as JSON: it holds the tool "own", which has no registered name.',
    );
  });

  test("A7 everything inline at once, each by name", () => {
    const agent = new Agent({
      name: "clerk",
      model: mute,
      fallbackModels: ["openai:gpt-4o", spare],
      tools: [namedTool("own"), namedTool("other")],
    });
    agent.hookManager.add("START", function greet() {});
    agent.hookManager.add("PRE_TOOL_CALL", () => {});

    const refusal = refusalOf(() => JSON.stringify(agent));
    expect(refusal.code).toBe("not_serializable");
    for (const named of [
      'the tool "own"',
      'the tool "other"',
      "the model object house:one",
      "the model object house:two",
      "hook greet on START",
      "hook (anonymous) on PRE_TOOL_CALL",
    ])
      expect(refusal.message).toContain(named);
  });

  test("A7 a hook that was removed again is no obstacle", () => {
    const agent = Agent.fromJSON(MINIMAL);
    const hook = () => {};
    agent.hookManager.add("START", hook);
    expect(() => agent.toJSON()).toThrow(TracksideError);

    agent.hookManager.remove("START", hook);
    expect(agent.toJSON()).toMatchObject(MINIMAL);
  });
});

describe("A7 what is registered is written by name", () => {
  test("A7 tools bound through a registry, from JSON and from code", () => {
    expect(Agent.fromJSON(MINIMAL, REGISTRY).toJSON()).toMatchObject(MINIMAL);
    expect(new Agent({ ...MINIMAL, tools: ["mail"] }, REGISTRY).toJSON()["tools"]).toEqual(["mail"]);
  });

  test("A7 a tool object that is the registered one counts as registered; one that only shares its name does not", () => {
    const [registered = namedTool("never")] = REGISTRY.tools;
    const impostor = defineTool({ name: registered.name, execute: () => "other" });

    expect(new Agent({ ...MINIMAL, tools: [registered] }, REGISTRY).toJSON()["tools"]).toEqual([
      registered.name,
    ]);
    expect(() => new Agent({ ...MINIMAL, tools: [impostor] }, REGISTRY).toJSON()).toThrow(registered.name);
  });

  test("A7 rails, hooks and servers round-trip as JSON", () => {
    const { rails, hooks, mcp_servers } = OWN_EXAMPLES;
    const json = Agent.fromJSON({ ...MINIMAL, rails, hooks, mcp_servers }).toJSON();

    expect(json).toMatchObject({ rails, hooks, mcp_servers });
  });

  test("A7 they are camelCase in code and snake_case in JSON", () => {
    const agent = new Agent({
      ...MINIMAL,
      rails: [{ use: "pii", onError: "continue", timeoutMs: 500 }],
      hooks: {
        pre: [{ parallel: [{ use: "news", timeoutMs: 100 }] }],
        on: { PRE_LLM_CALL: [{ use: "trace", timeoutMs: 50 }] },
      },
      mcpServers: [{ name: "files", command: "files-server", trusted: true }],
    });

    expect(agent.toJSON()).toMatchObject({
      rails: [{ use: "pii", on_error: "continue", timeout_ms: 500 }],
      hooks: {
        pre: [{ parallel: [{ use: "news", timeout_ms: 100 }] }],
        on: { PRE_LLM_CALL: [{ use: "trace", timeout_ms: 50 }] },
      },
      mcp_servers: [{ name: "files", command: "files-server", trusted: true }],
    });
  });

  test("A7 keys that belong to the user are the same in both forms", () => {
    const options = {
      camelCase: 1,
      snake_case: 2,
      Nested: { timeoutMs: 3, timeout_ms: 4, on: { START: 5 } },
    };
    const env = { MY_VAR: "a", myVar: "b", my_var: { secret: "c" } };
    const rename = { read_file: "readFile", readFile: "read_file" };
    const injected = { ui_request_id: "x", uiRequestId: "y" };
    const schema = { type: "object", properties: { someField: {}, some_field: {} } };
    const agent = new Agent({
      ...MINIMAL,
      rails: [{ use: "pii", options }],
      hooks: { post: [{ use: "tone", options }], on: { START: [{ use: "trace", options }] } },
      mcpServers: [{ name: "files", command: "x", env, rename }],
      injectedToolArgs: injected,
      outputSchema: schema,
    });

    expect(agent.toJSON()).toMatchObject({
      rails: [{ use: "pii", options }],
      hooks: { post: [{ use: "tone", options }], on: { START: [{ use: "trace", options }] } },
      mcp_servers: [{ name: "files", command: "x", env, rename }],
      injected_tool_args: injected,
      output_schema: schema,
    });
    expect(Agent.fromJSON(agent.toJSON()).toJSON()).toEqual(agent.toJSON());
  });
});

function refusalOf(make: () => unknown): TracksideError {
  try {
    make();
  } catch (error) {
    if (error instanceof TracksideError) return error;
    throw error;
  }
  throw new Error("it was written");
}
