import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../schema/json.ts";
import { MOST_NODES } from "../schema/workflow.ts";
import { type Catalog, checkWorkflow } from "./check-workflow.ts";

const NOTHING: Catalog = { agents: null, tools: null, workflows: null, rails: null };
const NONE: Catalog = { agents: new Map(), tools: new Map(), workflows: new Map(), rails: new Set() };

function agent(prompt: string) {
  return { kind: "agent", agent: "writer", prompt };
}

/** Whatever it is: an answer, bounded and readable. */
function problems(raw: unknown, catalog: Catalog = NOTHING): readonly string[] {
  const checked = checkWorkflow(raw, catalog);
  if (checked.ok) return [];
  expect(checked.issues.length).toBeGreaterThan(0);
  expect(checked.issues.length).toBeLessThanOrEqual(200);
  for (const { path, given, allowed, message } of checked.issues) {
    expect(message.startsWith(`${path}: `)).toBe(true);
    expect(path.length + given.length + allowed.length + message.length).toBeLessThan(12_000);
  }
  return checked.issues.map(({ message }) => message);
}

function line(count: number, prompt: (i: number) => string) {
  const ids = Array.from({ length: count }, (_, i) => `n${i}`);
  return {
    name: "line",
    nodes: Object.fromEntries(ids.map((id, i) => [id, agent(prompt(i))])),
    edges: ids.slice(1).map((to, i) => ({ from: `n${i}`, to })),
  };
}

describe("W4 large workflows", () => {
  test("W4 a thousand nodes, each of which refers to all before it", () => {
    const all = Array.from({ length: MOST_NODES }, (_, i) => `{{ nodes.n${i}.x? }}`);
    expect(problems(line(MOST_NODES, (i) => `go ${all.slice(Math.max(0, i - 50), i).join("")}`))).toEqual([]);
  });

  test("W4 a thousand nodes and five thousand edges in a circle", () => {
    const { nodes, edges } = line(MOST_NODES, (i) => `{{ nodes.n${(i * 7) % MOST_NODES}.x }}`);
    const more = Array.from({ length: 4_000 }, (_, i) => ({
      from: `n${(i * 13) % 1000}`,
      to: `n${(i * 17 + 1) % 1000}`,
    }));
    const found = problems({ name: "a", nodes, edges: [...edges, { from: "n999", to: "n0" }, ...more] });
    expect(found.some((message) => message.includes("a cycle given"))).toBe(true);
  });

  test("W4 too many nodes, too many edges", () => {
    expect(problems(line(MOST_NODES + 1, () => "x")).join("\n")).toContain("1000 nodes at most");
    const { nodes, edges } = line(3, () => "x");
    expect(problems({ name: "a", nodes, edges: Array.from({ length: 20_000 }, () => edges[0]) })).not.toEqual(
      [],
    );
  });

  test("W4 of very many problems two hundred are told", () => {
    const found = problems(
      line(MOST_NODES, (i) => `{{ nodes.m${i} }} {{ item }} {{`),
      NONE,
    );
    expect(found).toHaveLength(200);
  });

  test("W4 a thousand slips, each nearly one of a thousand long names", () => {
    const id = (i: number, end: string) => `${"a".repeat(58)}${i}${end}`;
    const ids = Array.from({ length: MOST_NODES }, (_, i) => i);
    const nodes = Object.fromEntries(ids.map((i) => [id(i, "x"), agent(`{{ nodes.${id(i, "y")} }}`)]));
    const edges = ids.map((i) => ({ from: id(i, "z"), to: id(i, "w") }));
    expect(problems({ name: "a", nodes, edges })).toHaveLength(200);
  });

  test("W4 a thousand calls of a tool whose schema is made to be slow", () => {
    let input: JsonObject = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
    for (let i = 0; i < 40; i++) input = { anyOf: [input, input], allOf: [input, { oneOf: [input, input] }] };
    const tools = new Map([["slow", { input, output: input }]]);
    const nodes = Object.fromEntries(
      Array.from({ length: MOST_NODES }, (_, i) => [
        `n${i}`,
        { kind: "tool", tool: "slow", arguments: { a: i === 0 ? 1 : `{{ nodes.n${i - 1}.a }}` } },
      ]),
    );
    const edges = Array.from({ length: MOST_NODES - 1 }, (_, i) => ({ from: `n${i}`, to: `n${i + 1}` }));
    problems({ name: "a", nodes, edges }, { ...NONE, tools });
  });
});

describe("W4 hostile JSON", () => {
  let deep: Json = "{{ input.a }}";
  for (let i = 0; i < 20_000; i++) deep = i % 2 === 0 ? [deep] : { a: deep };
  let condition: Json = { left: 1, op: "exists" };
  for (let i = 0; i < 5_000; i++) condition = { not: condition };
  let many: Json = { left: 1, op: "exists", right: 1 };
  for (let i = 0; i < 12; i++) many = { all: [many, many], any: [many], not: many };
  const around: Record<string, unknown> = { name: "a" };
  around["nodes"] = { a: around };
  const wild = new Proxy(
    {},
    {
      ownKeys: () => {
        throw new Error("no");
      },
    },
  );

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["a function", () => 1],
    ["a list", []],
    ["what contains itself", around],
    ["what cannot be read", wild],
    ["nodes that cannot be read", { name: "a", nodes: wild }],
    ["a deep template", { name: "a", nodes: { a: { kind: "tool", tool: "x", arguments: { deep } } } }],
    ["a deep output", { name: "a", nodes: { a: agent("x") }, output: deep }],
    ["a deep schema", { name: "a", nodes: { a: agent("x") }, input: { properties: { deep } } }],
    ["a deep condition", { name: "a", nodes: { a: { kind: "condition", if: condition } } }],
    ["a condition of all forms at once", { name: "a", nodes: { a: { kind: "condition", if: many } } }],
    [
      "a node __proto__",
      JSON.parse('{"name":"a","nodes":{"__proto__":{"kind":"agent","agent":"x","prompt":"x"}}}'),
    ],
    [
      "an argument __proto__",
      JSON.parse(
        '{"name":"a","nodes":{"a":{"kind":"tool","tool":"x","arguments":{"__proto__":{"polluted":1}}}}}',
      ),
    ],
    ["a key that is far too long", { name: "a", nodes: { ["k".repeat(100_000)]: agent("x") } }],
    ["a name that is far too long", { name: "n".repeat(1_000_000), nodes: { a: agent("{{ nodes.b }}") } }],
    [
      "an agent's name that is far too long",
      { name: "a", nodes: { a: { ...agent("x"), agent: "n".repeat(1_000_000) } } },
    ],
    ["a million braces", { name: "a", nodes: { a: agent("{{".repeat(500_000)) } }],
    ["very many bad references", { name: "a", nodes: { a: agent("{{ nodes.b }}{{ x }}".repeat(20_000)) } }],
    ["a date", { name: "a", nodes: { a: { ...agent("x"), position: new Date(0) } } }],
    ["nodes as a list", { name: "a", nodes: [agent("x")] }],
    ["edges as an object", { name: "a", nodes: { a: agent("x") }, edges: { from: "a", to: "a" } }],
    [
      "very many edges of nothing",
      {
        name: "a",
        nodes: { a: agent("x") },
        edges: Array.from({ length: 5_000 }, (_, i) => ({ from: `x${i}`, to: "a" })),
      },
    ],
  ])("W4 %s", (_, raw) => {
    expect(problems(raw, NONE)).not.toEqual([]);
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  test("W4 any JSON in any place gets an answer", () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    const maybe = (sound: unknown) => fc.oneof(fc.constant(sound), value);
    const node = fc.oneof(
      fc.record({ kind: maybe("tool"), tool: maybe("x"), arguments: maybe({ a: "{{ nodes.b }}" }) }),
      fc.record({ kind: maybe("condition"), if: maybe({ left: "{{ input }}", op: "<", right: 1 }) }),
      fc.record({ kind: maybe("map"), over: maybe("{{ input.x }}"), do: maybe(agent("{{ item }}")) }),
      fc.record({ kind: maybe("wait"), for: maybe({ seconds: 1 }) }),
      value,
    );
    const workflow = fc.record(
      {
        name: maybe("a"),
        input: maybe({ type: "object", properties: { x: { type: "array" } } }),
        nodes: fc.oneof(fc.record({ a: node, b: node }), value),
        edges: maybe([{ from: "a", to: "b" }]),
        output: maybe("{{ nodes.a }}"),
        output_schema: value,
        rails: value,
        hitl_tools: value,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(workflow, (raw) => {
        problems(raw, NONE);
      }),
      { numRuns: 200 },
    );
  });
});
