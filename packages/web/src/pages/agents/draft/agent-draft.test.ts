import { agentDefinition, type JsonObject } from "trackside/schema";
import { describe, expect, test } from "vitest";
import { SEED_EXAMPLE } from "../../../../../core/test/support/seed-example.ts";
import { type AgentDraft, definitionOf, draftOfDefinition, hookPaths, type RailRow } from "./agent-draft.ts";
import { DEFAULTS } from "./defaults.ts";
import { Issues } from "./issues.ts";
import { inOrder, moved } from "./rail-order.ts";

const SEED: JsonObject = JSON.parse(SEED_EXAMPLE);
const MINIMAL = { name: "clerk", model: "openai:gpt-4o" };

const WHOLE: JsonObject = {
  ...DEFAULTS,
  ...MINIMAL,
  tools: ["read_file"],
  mcp_servers: [{ name: "files", include: ["read_*"], rename: { read: "read_file" } }],
  handoffs: ["other"],
  rails: [{ use: "secrets" }, { use: "call-limits", options: { total: 5 }, mode: "shadow", priority: 12 }],
  hooks: {
    pre: [{ use: "a" }, { parallel: [{ use: "b" }, { use: "c", options: { x: 1 } }] }, { use: "d" }],
    post: [{ use: "e" }],
    stream: [{ use: "f" }],
    on: { START: [{ use: "g" }, { use: "h" }] },
  },
  output_schema: { type: "object", properties: {} },
  context_window_tokens: 1000,
  injection_reserve_tokens: 1,
  hitl_timeout_seconds: 60,
  max_regenerations: 0,
  allow_self_spawn: true,
  offload_above_bytes: 1,
  stream_release: "live",
  fallback_models: ["openai:gpt-4o-mini"],
  audit_transient: true,
  injected_tool_args: { why: "For the record." },
};

function edited(definition: JsonObject, change: Partial<AgentDraft>) {
  return definitionOf({ ...draftOfDefinition(definition), ...change });
}

test("A5 the defaults of the editor are those of the schema", () => {
  expect(agentDefinition.parse(MINIMAL)).toEqual({ ...DEFAULTS, ...MINIMAL });
});

describe("A1 a definition that is opened and saved is unchanged", () => {
  test("with every field set", () => {
    const { definition, unread } = edited(WHOLE, {});
    expect(unread).toEqual([]);
    expect(definition).toEqual(WHOLE);
  });

  test("absent tools stay absent, tools that are none stay a list", () => {
    expect(edited(MINIMAL, {}).definition).not.toHaveProperty("tools");
    expect(edited({ ...MINIMAL, tools: null }, {}).definition).not.toHaveProperty("tools");
    expect(edited({ ...MINIMAL, tools: [] }, {}).definition["tools"]).toEqual([]);
  });

  test("with what no control can show, and with keys nobody knows", () => {
    const odd: JsonObject = {
      ...MINIMAL,
      max_steps: "many",
      injected_tool_args: { a: 1 },
      rails: ["secrets"],
      hooks: { pre: [{ parallel: [] }], before: [] },
      mcp_servers: 5,
      output_schema: true,
      temprature: 1,
    };
    expect(edited(odd, {}).definition).toMatchObject(odd);
  });

  test("null where it is no value is told, not replaced", () => {
    expect(edited({ ...MINIMAL, max_steps: null }, {}).definition["max_steps"]).toBeNull();
  });
});

test("the example of seed 002 keeps its fields and their order", () => {
  expect(JSON.stringify(edited(SEED, {}).definition)).toBe(JSON.stringify(SEED));
});

test("two arguments of one name and one without are no definition yet", () => {
  const row = (name: string, value: string) => ({ id: name + value, name, value });
  const { unread } = edited(MINIMAL, { injected: [row("a", "1"), row("a", "2"), row("", "3"), row("", "")] });
  expect(unread.map(({ path }) => path)).toEqual(["injected_tool_args[1]", "injected_tool_args[2]"]);
});

test("an argument called __proto__ reaches the check instead of vanishing", () => {
  const { definition } = edited(MINIMAL, { injected: [{ id: "1", name: "__proto__", value: "x" }] });
  expect(Object.keys(definition["injected_tool_args"] ?? {})).toEqual(["__proto__"]);
});

test("an output schema that is no JSON is told and not saved", () => {
  const { definition, unread } = edited(MINIMAL, { outputSchema: "{" });
  expect(definition).not.toHaveProperty("output_schema");
  expect(unread).toMatchObject([{ path: "output_schema" }]);
});

test("half-written options are told at the place of their rail or hook", () => {
  const written = {
    draft: { as: "unsaid" } as const,
    problems: [{ path: ["tools", 0], message: "a number" }],
  };
  const rails: RailRow[] = [
    { id: "r", ref: { use: "x" } },
    { id: "s", ref: { use: "y" }, written },
  ];
  expect(edited(MINIMAL, { rails }).unread[0]?.path).toBe("rails[1].options.tools[0]");
  const hooks = draftOfDefinition(WHOLE).hooks.map((row) =>
    row.ref["use"] === "c" ? { ...row, written } : row,
  );
  expect(edited(MINIMAL, { hooks }).unread[0]?.path).toBe("hooks.pre[1].parallel[1].options.tools[0]");
});

test("hooks know their places in the definition", () => {
  const { hooks } = draftOfDefinition(WHOLE);
  const paths = hookPaths(hooks);
  expect(hooks.map((row) => `${row.ref["use"]} ${paths.get(row.id)}`)).toEqual([
    "a hooks.pre[0]",
    "b hooks.pre[1].parallel[0]",
    "c hooks.pre[1].parallel[1]",
    "d hooks.pre[2]",
    "e hooks.post[0]",
    "f hooks.stream[0]",
    "g hooks.on.START[0]",
    "h hooks.on.START[1]",
  ]);
});

describe("R1 rails are shown in the order they run", () => {
  const registered = (use: string) => ({ early: 10, late: 80 })[use];
  const rails: RailRow[] = ["late", "plain", "early", "plain"].map((use, i) => ({
    id: `${i}`,
    ref: { use },
  }));
  const ids = (rows: readonly RailRow[]) => inOrder(rows, registered).map(({ row }) => row.id);

  test("by priority, ties as listed", () => {
    expect(ids(rails)).toEqual(["2", "1", "3", "0"]);
  });

  test("moving changes places with the neighbour and nothing else, up and down, through ties", () => {
    for (const [id, by, order] of [
      ["1", -1, ["1", "2", "3", "0"]],
      ["1", 1, ["2", "3", "1", "0"]],
      ["3", 1, ["2", "1", "0", "3"]],
      ["0", -1, ["2", "1", "0", "3"]],
      ["2", -1, ["2", "1", "3", "0"]],
      ["0", 1, ["2", "1", "3", "0"]],
    ] as const)
      expect(ids(moved(rails, id, by, registered)), `${id} by ${by}`).toEqual(order);
  });

  test("among equals no priority is written", () => {
    expect(moved(rails, "3", -1, registered).every(({ ref }) => ref["priority"] === undefined)).toBe(true);
  });
});

test("issues are found at their field and below, without repeating the path", () => {
  const issues = new Issues([
    { path: "rails[1].options.tools", message: "rails[1].options.tools: a list expected, 5 given" },
    { path: "rails[10]", message: "rails[10]: an object expected" },
    { path: "max_steps", message: "max_steps: at least 1 expected, 0 given" },
  ]);
  expect(issues.words("max_steps")).toBe("at least 1 expected, 0 given");
  expect(issues.at("rails[1]")).toHaveLength(1);
  expect(issues.within("rails[1].options")).toEqual([
    { path: ["tools"], message: "a list expected, 5 given" },
  ]);
  expect(issues.ofFields(["rails"])).toHaveLength(2);
  expect(issues.words("name")).toBeUndefined();
});
