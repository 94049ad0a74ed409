import { Agent, AgentConfigError, checkDefinition, TracksideError } from "trackside";
import { describe, expect, test } from "vitest";
import { namedTool, REGISTRY } from "../support/definitions.ts";
import { pathsOf, problemsOf } from "../support/problems-of.ts";

const MINIMAL = { name: "clerk", model: "openai:gpt-4o" };

/** What a caller without types could pass. */
const inCode = (config: unknown, registry?: unknown) => new Agent(config as never, registry as never);

const WRONG_JSON = {
  name: "",
  model: "gpt-4o",
  instructions: 5,
  max_steps: 0,
  temperature: -1,
  max_tokens: 0.5,
  planning_enabled: "yes",
  planning_model: "nobody:x",
  planning_instructions: null,
  budget_awareness: "limit:101",
  hitl_tools: ["mail", 5, "search"],
  emit_mcp_progress: 1,
  injected_tool_args: { "no spaces": "x", fine_key: 5 },
  allow_parallel_subagents: null,
  max_parallel_subagents: 8,
  tools: [7, "search", "nobody", "search"],
  mcp_servers: [
    { name: "under_score", command: "" },
    { name: "both", command: "x", url: "y" },
    { name: "neither", env: { my_token: 5, other: { secret: "" } } },
    { name: "neither", url: "y", args: [], headers: { "x-key": { secret: "k", colour: "red" } } },
  ],
  handoffs: [5, "billing", "billing"],
  rails: [{ use: "", on: ["BEFORE"], options: [], priority: 0.5, mode: "off", on_error: 1, timeout_ms: 0 }],
  hooks: {
    pre: [{ use: "memory", timeout_ms: 0 }, { parallel: [{ use: 5 }, { colour: "red" }] }, "memory"],
    on: { BEFORE: [], PRE_LLM_CALL: [{ use: "trace", durably: true }] },
    before: [],
  },
  output_schema: "text",
  context_window_tokens: 0,
  injection_reserve_tokens: -1,
  hitl_timeout_seconds: 0,
  max_regenerations: 1.5,
  allow_self_spawn: "no",
  offload_above_bytes: -1,
  stream_release: "later",
  fallback_models: ["openai:gpt-4o", "nobody:x", 5],
  audit_transient: 0,
  max_step: 3,
  colour: "red",
};

const WRONG_PATHS = [
  "name",
  "model",
  "instructions",
  "max_steps",
  "temperature",
  "max_tokens",
  "planning_enabled",
  "planning_model",
  "planning_instructions",
  "budget_awareness",
  "hitl_tools[0]",
  "hitl_tools[1]",
  "emit_mcp_progress",
  "injected_tool_args.no spaces",
  "injected_tool_args.fine_key",
  "allow_parallel_subagents",
  "max_parallel_subagents",
  "tools[0]",
  "tools[2]",
  "tools[3]",
  "mcp_servers[0].name",
  "mcp_servers[0].command",
  "mcp_servers[1]",
  "mcp_servers[2]",
  "mcp_servers[2].env.my_token",
  "mcp_servers[2].env.other.secret",
  "mcp_servers[3].name",
  "mcp_servers[3].args",
  "mcp_servers[3].headers.x-key.colour",
  "handoffs[0]",
  "handoffs[2]",
  "rails[0].use",
  "rails[0].on[0]",
  "rails[0].options",
  "rails[0].priority",
  "rails[0].mode",
  "rails[0].on_error",
  "rails[0].timeout_ms",
  "hooks.pre[0].timeout_ms",
  "hooks.pre[1].parallel[0].use",
  "hooks.pre[1].parallel[1].use",
  "hooks.pre[1].parallel[1].colour",
  "hooks.pre[2]",
  "hooks.on.BEFORE",
  "hooks.on.PRE_LLM_CALL[0].durably",
  "hooks.before",
  "output_schema",
  "context_window_tokens",
  "injection_reserve_tokens",
  "hitl_timeout_seconds",
  "max_regenerations",
  "allow_self_spawn",
  "offload_above_bytes",
  "stream_release",
  "fallback_models[1]",
  "fallback_models[2]",
  "audit_transient",
  "max_step",
  "colour",
];

describe("A3 every problem at once", () => {
  test("A3 a definition wrong in every field is told about each of them", () => {
    expect(pathsOf(() => Agent.fromJSON(WRONG_JSON, REGISTRY))).toEqual(WRONG_PATHS.toSorted());
  });

  test("A3 the same in code, with the paths as they are written there", () => {
    const paths = pathsOf(() =>
      inCode(
        {
          name: "",
          model: { doStream: 5 },
          maxSteps: 0,
          planningModel: "nobody:x",
          hitlTools: ["nobody", 5],
          injectedToolArgs: { fine_key: 5 },
          tools: [7, "search", { name: "handmade" }],
          mcpServers: [{ name: "x", env: { my_token: 5 } }],
          rails: [{ use: "", onError: 1, timeoutMs: 0, options: { keep_this: () => 1 } }],
          hooks: { on: { PRE_LLM_CALL: [{ use: "trace", timeoutMs: 0 }] } },
          outputSchema: 5,
          fallbackModels: [{}],
          maxStep: 3,
        },
        REGISTRY,
      ),
    );

    expect(paths).toEqual(
      [
        "name",
        "model",
        "maxSteps",
        "planningModel",
        "hitlTools[0]",
        "hitlTools[1]",
        "injectedToolArgs.fine_key",
        "tools[0]",
        "tools[2]",
        "mcpServers[0]",
        "mcpServers[0].env.my_token",
        "rails[0].use",
        "rails[0].onError",
        "rails[0].timeoutMs",
        "rails[0].options",
        "hooks.on.PRE_LLM_CALL[0].timeoutMs",
        "outputSchema",
        "fallbackModels[0]",
        "maxStep",
      ].sort(),
    );
  });

  test("A3 each says where, what was given and what is allowed", () => {
    const [found] = problemsOf(() => Agent.fromJSON({ ...MINIMAL, max_parallel_subagents: 8 }));

    expect(found).toEqual({
      path: "max_parallel_subagents",
      given: "8",
      allowed: "a number of at most 7",
      message: "max_parallel_subagents: a number of at most 7 expected, 8 given",
    });
  });

  test("A3 the error's message lists them all and names the agent", () => {
    const make = () => Agent.fromJSON({ ...MINIMAL, max_steps: 0, colour: "red" });

    expect(make).toThrow(AgentConfigError);
    expect(make).toThrow(TracksideError);
    expect(make).toThrow(/^agent "clerk" has 2 problems:\n {2}- max_steps: .*\n {2}- colour: unknown key$/);
  });

  test("A3 what is missing is named as given nothing", () => {
    const problems = problemsOf(() => Agent.fromJSON({}));

    expect(problems.map(({ path, given }) => [path, given])).toEqual([
      ["name", "nothing"],
      ["model", "nothing"],
    ]);
  });

  test("A3 all that is wrong with the registry is told beside the rest", () => {
    const tools = [namedTool("search"), namedTool("search"), { name: "handmade" }];

    expect(pathsOf(() => Agent.fromJSON({ name: "clerk" }, { tools, rails: [] } as never))).toEqual([
      "model",
      "registry.rails",
      "registry.tools[1]",
      "registry.tools[2]",
    ]);
    expect(pathsOf(() => Agent.fromJSON(MINIMAL, { tools: "all" } as never))).toEqual(["registry.tools"]);
    expect(pathsOf(() => Agent.fromJSON(MINIMAL, null as never))).toEqual(["registry"]);
  });

  test("A3 a definition is checked alike without a registry at hand", () => {
    const found = checkDefinition({ ...MINIMAL, max_steps: 0, hitl_tools: ["somewhere"] }, { tools: null });

    expect(found.ok ? [] : found.issues.map(({ path }) => path)).toEqual(["max_steps"]);
  });

  test("A3 a secret in a server's settings is not repeated in the problem", () => {
    const server = { name: "files", env: { TOKEN: "hunter2" }, headers: { authorization: "hunter3" } };

    for (const mcp_servers of [[server], [{ ...server, command: "x" }], [{ ...server, url: "y" }]]) {
      expect(JSON.stringify(problemsOf(() => Agent.fromJSON({ ...MINIMAL, mcp_servers })))).not.toMatch(
        /hunter/,
      );
    }
  });
});

describe("A3 unknown keys are problems", () => {
  test.each([
    ["max_step", "max_steps"],
    ["maxSteps", "max_steps"],
    ["temprature", "temperature"],
  ])("A3 %s in JSON is asked whether %s was meant", (key, meant) => {
    const [found] = problemsOf(() => Agent.fromJSON({ ...MINIMAL, [key]: 1 }));

    expect(found).toMatchObject({ path: key, given: key });
    expect(found?.message).toContain(`did you mean \`${meant}\`?`);
  });

  test.each([
    ["max_steps", "maxSteps"],
    ["maxstep", "maxSteps"],
  ])("A3 %s in code is asked whether %s was meant", (key, meant) => {
    const problems = problemsOf(() => inCode({ ...MINIMAL, [key]: 1 }));

    expect(problems.map((found) => found.path)).toEqual([key]);
    expect(problems[0]?.message).toContain(`did you mean \`${meant}\`?`);
  });

  test("A3 the spelling of JSON is a problem in code at every level, and so is what is wrong below it", () => {
    const paths = pathsOf(() =>
      inCode({
        ...MINIMAL,
        max_steps: 0,
        no_such_thing: 1,
        rails: [{ use: "pii", on_error: "never" }],
        hooks: { on: { START: [{ use: "trace", timeout_ms: 50 }] } },
      }),
    );

    expect(paths).toEqual(
      [
        "max_steps",
        "maxSteps",
        "no_such_thing",
        "rails[0].on_error",
        "rails[0].onError",
        "hooks.on.START[0].timeout_ms",
      ].sort(),
    );
  });

  test("A3 the spelling of code is a problem in JSON at every level", () => {
    const json = {
      ...MINIMAL,
      maxSteps: 3,
      rails: [{ use: "pii", onError: "abort" }],
      hooks: { post: [{ use: "tone", timeoutMs: 5 }] },
    };

    expect(pathsOf(() => Agent.fromJSON(json))).toEqual(
      ["maxSteps", "rails[0].onError", "hooks.post[0].timeoutMs"].sort(),
    );
  });

  test("A3 the keys that are allowed are those of that place", () => {
    const allowedFor = (fields: object) =>
      problemsOf(() => Agent.fromJSON({ ...MINIMAL, ...fields }))[0]?.allowed;

    expect(allowedFor({ hooks: { zzzz: [] } })).toBe("one of pre, post, stream, on");
    expect(allowedFor({ hooks: { on: { ZZZZ: [] } } })).toMatch(/^one of START, FINISHED, .*CONTEXT_WINDOW$/);
    expect(allowedFor({ hooks: { post: [{ use: "x", zzzz: 1 }] } })).toBe(
      "one of use, options, durable, critical, timeout_ms",
    );
    expect(allowedFor({ mcp_servers: [{ name: "x", url: "y", zzzz: 1 }] })).toMatch(/^one of name, command/);
  });
});
