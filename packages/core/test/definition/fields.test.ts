import { Agent } from "trackside";
import { describe, expect, test } from "vitest";
import { ALWAYS_WRITTEN, namedTool, OWN_DEFAULTS, OWN_EXAMPLES, REGISTRY } from "../support/definitions.ts";
import { pathsOf, problemsOf } from "../support/problems-of.ts";

const MINIMAL = { name: "clerk", model: "openai:gpt-4o" };
const withField = (field: string, value: unknown) => Agent.fromJSON({ ...MINIMAL, [field]: value }, REGISTRY);

const MAX_SAFE = Number.MAX_SAFE_INTEGER;
const TEXTS = { ok: ["", "be kind", "zeile\n2", "\u0000", "\ud800"], not: [null, 5, ["a"], {}] };
const FLAGS = { ok: [true, false], not: [null, 0, 1, "true", []] };
const MODELS = { ok: ["openai:gpt-4o", "ollama:llama3.2:3b"], not: ["", "gpt-4o", "nobody:x", 5, [], {}] };
const wholeFrom = (min: number) => ({
  ok: [min, min + 1, MAX_SAFE],
  not: [min - 1, min + 0.5, MAX_SAFE + 1, 1e300, Number.NaN, Number.POSITIVE_INFINITY, `${min}`, true, [min]],
});

interface Values {
  readonly ok: readonly unknown[];
  readonly not: readonly unknown[];
}

const orNull = ({ ok, not }: Values): Values => ({
  ok: [null, ...ok],
  not: not.filter((value) => value !== null),
});

/** Every field of the definition: what it takes, and what it does not. */
const FIELDS: Readonly<Record<string, Values>> = {
  name: {
    ok: ["a", "ops supervisor", "x".repeat(128), "größe", "__proto__"],
    not: ["", " ", " a", "a ", "a/b", "a\nb", "x".repeat(129), null, 5],
  },
  model: MODELS,
  instructions: TEXTS,
  max_steps: wholeFrom(1),
  temperature: orNull({ ok: [0, 0.2, 2], not: [-0.1, Number.NaN, Number.POSITIVE_INFINITY, "0", true] }),
  max_tokens: orNull(wholeFrom(1)),
  planning_enabled: FLAGS,
  planning_model: orNull(MODELS),
  planning_instructions: TEXTS,
  budget_awareness: orNull({
    ok: ["per-message", "limit:0", "limit:1", "limit:10", "limit:99", "limit:100"],
    not: [
      "limit:101",
      "limit:07",
      "limit:00",
      "limit:-1",
      "limit:1.5",
      "limit:",
      "limit: 5",
      "limit:5\n",
      "limit:1e1",
      "limit:٥",
      "PER-MESSAGE",
      "Limit:5",
      "per-message ",
      "",
      70,
    ],
  }),
  hitl_tools: {
    ok: [[], ["search"], ["search", "mail"], ["read_artifact"]],
    not: [
      ["nobody"],
      ["Search"],
      [""],
      [5],
      "search",
      null,
      ["spawn_self"],
      ["spawn_parallel"],
      ["mcp__files__read"],
    ],
  },
  emit_mcp_progress: FLAGS,
  injected_tool_args: {
    ok: [{}, { ui_request_id: "" }, { "a.b-C_9": "x" }, { ["x".repeat(64)]: "" }, { toString: "x" }],
    not: [
      { "": "x" },
      { "a b": "x" },
      { ä: "x" },
      { ["x".repeat(65)]: "x" },
      { constructor: "x" },
      { prototype: "x" },
      JSON.parse('{ "__proto__": "x" }'),
      { fine: 5 },
      { fine: null },
      { target: "a name the tools have themselves" },
      ["x"],
      "x",
      null,
    ],
  },
  allow_parallel_subagents: FLAGS,
  max_parallel_subagents: { ok: [1, 2, 7], not: [0, 8, 3.5, -1, "3", null, Number.NaN] },
  tools: {
    ok: [null, [], ["mail"], ["mail", "search"]],
    not: [["nobody"], ["mail", "mail"], [""], [null], "mail", {}],
  },
  mcp_servers: {
    ok: [[], OWN_EXAMPLES["mcp_servers"]],
    not: [null, {}, [{ name: "a" }], [{ name: "a_b", url: "x" }], [{ name: "", url: "x" }], ["files"]],
  },
  handoffs: { ok: [[], ["billing"]], not: [["a", "a"], [""], [5], "billing", null] },
  rails: { ok: [[], OWN_EXAMPLES["rails"]], not: [[{}], ["pii"], [{ use: "x", timeout_ms: 0.5 }], {}, null] },
  hooks: {
    ok: [{}, OWN_EXAMPLES["hooks"]],
    not: [[], null, { pre: {} }, { pre: [{ parallel: [] }] }, { on: [] }],
  },
  output_schema: { ok: [null, {}, { type: "object" }], not: ["object", 5, true, [], ["object"]] },
  context_window_tokens: orNull(wholeFrom(1)),
  injection_reserve_tokens: wholeFrom(0),
  hitl_timeout_seconds: orNull({ ok: [0.001, 1, 1e9], not: [0, -1, Number.POSITIVE_INFINITY, "1"] }),
  max_regenerations: wholeFrom(0),
  allow_self_spawn: FLAGS,
  offload_above_bytes: wholeFrom(0),
  stream_release: { ok: ["auto", "live", "after_rails"], not: ["", "Auto", null, true] },
  fallback_models: { ok: [[], ["openai:a", "openai:a"]], not: [["nobody:x"], [5], "openai:a", null] },
  audit_transient: FLAGS,
};

test("A4 the tables below cover every field", () => {
  const fields = Object.keys(Agent.fromJSON(MINIMAL).definition);

  expect(Object.keys(FIELDS)).toEqual(fields);
  expect(["name", "model", ...Object.keys({ ...ALWAYS_WRITTEN, ...OWN_DEFAULTS })]).toEqual(fields);
});

describe("A4 fields of the seed", () => {
  test.each(Object.entries(ALWAYS_WRITTEN))("A4 %s is %j by default", (field, byDefault) => {
    expect(Agent.fromJSON(MINIMAL).toJSON()[field]).toEqual(byDefault);
  });
});

describe("A5 our own fields", () => {
  test.each(Object.entries(OWN_DEFAULTS))("A5 %s is %j by default", (field, byDefault) => {
    expect(Agent.fromJSON(MINIMAL).definition).toHaveProperty(field, byDefault);
  });
});

const taken = Object.entries(FIELDS).flatMap(([field, { ok }]) => ok.map((value) => [field, value] as const));
const refused = Object.entries(FIELDS).flatMap(([field, { not }]) =>
  not.map((value) => [field, value] as const),
);

describe("A4 and A5 each bound", () => {
  test.each(taken)("A4 %s takes %j and writes it back", (field, value) => {
    const json = withField(field, value).toJSON();

    expect(field in json ? json[field] : OWN_DEFAULTS[field]).toEqual(value);
  });

  test.each(refused)("A4 %s does not take %j", (field, value) => {
    const paths = pathsOf(() => withField(field, value));

    expect(new Set(paths.map((path) => path.split(/[.[]/)[0]))).toEqual(new Set([field]));
  });
});

describe("A4 hitl_tools names tools of this agent", () => {
  const gated = (hitl_tools: string[], fields: object = {}, registry: object = REGISTRY) =>
    Agent.fromJSON({ ...MINIMAL, hitl_tools, ...fields }, registry).definition.hitl_tools;

  test("A4 bound in code", () => {
    const mail = namedTool("send");

    expect(new Agent({ ...MINIMAL, tools: [mail], hitlTools: ["send"] }).definition.hitl_tools).toEqual([
      "send",
    ]);
    expect(pathsOf(() => new Agent({ ...MINIMAL, tools: [mail], hitlTools: ["mail"] }))).toEqual([
      "hitlTools[0]",
    ]);
  });

  test("A4 named in tools, not merely registered", () => {
    expect(gated(["mail"], { tools: ["mail"] })).toEqual(["mail"]);
    const [found] = problemsOf(() => gated(["search"], { tools: ["mail"] }));
    expect(found).toMatchObject({
      path: "hitl_tools[0]",
      given: '"search"',
      allowed: "a tool of this agent (mail)",
    });
  });

  test("A4 built in, once switched on", () => {
    expect(gated(["spawn_self"], { allow_self_spawn: true })).toEqual(["spawn_self"]);
    expect(gated(["spawn_parallel"], { allow_parallel_subagents: true })).toEqual(["spawn_parallel"]);
    expect(gated(["read_artifact"])).toEqual(["read_artifact"]);
    expect(pathsOf(() => gated(["spawn_self"], { allow_parallel_subagents: true }))).toEqual([
      "hitl_tools[0]",
    ]);
  });

  test("A4 of a declared server, whose tools are known once it connects", () => {
    const mcp_servers = [{ name: "files", command: "files-server" }];

    expect(gated(["mcp__files__read"], { mcp_servers })).toEqual(["mcp__files__read"]);
    for (const name of ["mcp__wiki__read", "mcp__files__", "mcp__files", "files__read", "mcp__file__s__read"])
      expect(pathsOf(() => gated([name], { mcp_servers }))).toEqual(["hitl_tools[0]"]);
  });

  test("A4 an agent without tools says that there are none", () => {
    expect(problemsOf(() => gated(["mail"], {}, {}))[0]?.allowed).toBe(
      "a tool of this agent (there are none)",
    );
  });
});

describe("A4 injected_tool_args", () => {
  test("A4 a name that a tool of this agent has itself is a problem naming the tool", () => {
    const [found] = problemsOf(() => withField("injected_tool_args", { target: "x" }));

    expect(found?.allowed).toBe('a name that the tool "deploy_service" does not use itself');
  });

  test("A4 tools that are registered but not this agent's do not matter", () => {
    const agent = Agent.fromJSON({ ...MINIMAL, tools: [], injected_tool_args: { target: "x" } }, REGISTRY);

    expect(agent.definition.injected_tool_args).toEqual({ target: "x" });
  });
});

describe("A4 fields of a switched-off feature", () => {
  const OFF = {
    planning_enabled: false,
    planning_model: "openai:gpt-4o-mini",
    planning_instructions: "Be brief.",
    allow_parallel_subagents: false,
    max_parallel_subagents: 7,
    hitl_tools: [],
    hitl_timeout_seconds: 5,
    emit_mcp_progress: false,
  };

  test("A4 they are kept and exported", () => {
    expect(Agent.fromJSON({ ...MINIMAL, ...OFF }).toJSON()).toMatchObject(OFF);
  });

  test("A4 they are validated", () => {
    const wrong = { planning_model: "nobody:x", planning_instructions: 5, max_parallel_subagents: 8 };

    expect(pathsOf(() => Agent.fromJSON({ ...MINIMAL, ...OFF, ...wrong }))).toEqual(
      Object.keys(wrong).sort(),
    );
  });
});
