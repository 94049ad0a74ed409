import { describe, expect, test } from "vitest";
import type { JsonObject } from "../schema/json.ts";
import {
  type WorkflowDefinition,
  type WorkflowDefinitionInput,
  workflowSchemas,
} from "../schema/workflow.ts";
import { type Catalog, checkWorkflow, outputOf } from "./check-workflow.ts";

const text = { type: "string" };
const severity = { enum: ["low", "high"] };
const ticket: JsonObject = {
  type: "object",
  properties: { title: text, tags: { type: "array", items: text } },
  required: ["title"],
};
const triaged: JsonObject = {
  type: "object",
  properties: {
    severity,
    score: { type: "integer" },
    people: { type: "array", items: { $ref: "#/$defs/person" } },
  },
  required: ["severity"],
  additionalProperties: false,
  $defs: { person: { type: "object", properties: { id: text, age: { type: "integer" } }, required: ["id"] } },
};
const deploy: JsonObject = {
  type: "object",
  properties: { version: text, replicas: { type: "integer" }, where: { enum: ["test", "live"] } },
  required: ["version"],
};

const NOTHING: Catalog = { agents: null, tools: null, workflows: null, rails: null };

const catalog: Catalog = {
  agents: new Map([
    ["triage", { output: triaged }],
    ["writer", { output: null }],
  ]),
  tools: new Map([
    ["deploy", { input: deploy, output: { type: "object", properties: { url: text } } }],
    ["search", { input: { type: "object" }, output: null }],
  ]),
  workflows: new Map([
    [
      "child",
      sound({
        name: "child",
        input: ticket,
        nodes: { w: agent("hello") },
        output_schema: ticket,
        output: { title: "x" },
      }),
    ],
  ]),
  rails: new Set(["pii", "budget"]),
};

type Nodes = WorkflowDefinitionInput["nodes"];
type Edges = NonNullable<WorkflowDefinitionInput["edges"]>;

function agent(prompt: string, name = "writer") {
  return { kind: "agent" as const, agent: name, prompt };
}

function tool(args: JsonObject, name = "deploy") {
  return { kind: "tool" as const, tool: name, arguments: args };
}

function sound(raw: WorkflowDefinitionInput): WorkflowDefinition {
  const checked = checkWorkflow(raw, NOTHING);
  if (!checked.ok) throw new Error(checked.issues.map((issue) => issue.message).join("\n"));
  return checked.definition;
}

/** "a>b", "a>b:failed" */
function edges(...all: readonly string[]): Edges {
  return all.map((one) => {
    const [way = "", when] = one.split(":");
    const [from = "", to = ""] = way.split(">");
    return { from, to, ...(when === undefined ? {} : { when }) } as Edges[number]; // `when` as the test writes it
  });
}

/** Every problem, as path and message. */
function problems(raw: unknown, names: Catalog = catalog): readonly string[] {
  const checked = checkWorkflow(raw, names);
  return checked.ok ? [] : checked.issues.map(({ message }) => message);
}

function of(nodes: Nodes, lines: readonly string[] = [], more: Partial<WorkflowDefinitionInput> = {}) {
  return { name: "main", nodes, edges: edges(...lines), ...more };
}

/** The problems of one node that comes after an agent with a known output, in a workflow with a known input. */
function ofNode(node: unknown): readonly string[] {
  return problems({
    name: "main",
    input: ticket,
    nodes: { first: agent("{{ input.title }}", "triage"), node, later: agent("x") },
    edges: edges("first>node"),
  });
}

describe("W4 a workflow that is sound", () => {
  const whole: WorkflowDefinitionInput = {
    name: "deploy with approval",
    input: ticket,
    nodes: {
      triage: {
        ...agent("Triage: {{ input.title }} ({{ input.tags? }})", "triage"),
        retry: { attempts: 3 },
        timeout_ms: 60_000,
      },
      urgent: {
        kind: "condition",
        if: {
          all: [
            { left: "{{ nodes.triage.severity }}", op: "==", right: "high" },
            { not: { left: "{{ nodes.triage.people }}", op: "empty" } },
          ],
        },
      },
      ask: {
        kind: "approval",
        message: "Deploy {{ input.title }}?",
        show: { score: "{{ nodes.triage.score? }}" },
        response: { type: "object", properties: { version: text }, required: ["version"] },
      },
      ship: tool({ version: "{{ nodes.ask.version }}", replicas: 2, where: "live" }),
      tell: {
        kind: "map",
        over: "{{ nodes.triage.people }}",
        do: agent("Tell {{ item.id }} ({{ index }})"),
        concurrency: 2,
        on_error: "collect",
      },
      pause: { kind: "wait", for: { seconds: "{{ nodes.triage.score }}" } },
      answer: {
        kind: "wait",
        for: { webhook: { response: { type: "object", properties: { ok: { type: "boolean" } } } } },
      },
      sub: { kind: "workflow", workflow: "child", input: { title: "{{ nodes.tell[0].status }}" } },
      sorry: agent("It was rejected."),
    },
    edges: edges(
      "triage>urgent",
      "urgent>ask:true",
      "urgent>pause:false",
      "ask>ship",
      "ask>sorry:rejected",
      "ship>sorry:failed",
      "triage>tell",
      "pause>answer",
      "tell>sub",
    ),
    output: { url: "{{ nodes.ship.url? }}", told: "{{ nodes.tell }}", title: "{{ nodes.sub.title }}" },
    output_schema: {
      type: "object",
      properties: { url: { type: ["string", "null"] }, told: { type: "array" }, title: text },
    },
    rails: [{ use: "pii" }],
    hitl_tools: ["deploy"],
  };

  test("W4 comes back as a frozen copy with its defaults", () => {
    const checked = checkWorkflow(whole, catalog);
    if (!checked.ok) throw new Error(checked.issues.map((issue) => issue.message).join("\n"));
    const { definition } = checked;
    expect(definition.nodes["tell"]).toMatchObject({ kind: "map", concurrency: 2, on_error: "collect" });
    expect(definition.nodes["triage"]).toMatchObject({ retry: { attempts: 3, delay_ms: 1_000, backoff: 2 } });
    expect(Object.isFrozen(definition) && Object.isFrozen(definition.edges[0])).toBe(true);
    expect(checkWorkflow(JSON.parse(JSON.stringify(definition)), catalog)).toEqual(checked);
  });

  test("W4 is so without a registry at hand too, and whatever it names", () => {
    expect(problems(whole, NOTHING)).toEqual([]);
    expect(problems(of({ a: agent("x", "nobody"), b: tool({ any: 1 }, "nothing") }), NOTHING)).toEqual([]);
  });

  test("W4 may name its nodes as prototypes name their own", () => {
    const nodes = { constructor: agent("x"), toString: agent("{{ nodes.constructor }}") };
    expect(problems(of(nodes, ["constructor>toString"]))).toEqual([]);
    expect(problems(of({ a: agent("{{ nodes.constructor }}") }))).toHaveLength(1);
  });
});

test("W4 a part of a condition has one form", () => {
  const some = { left: 1, op: "exists" };
  const raw = (condition: unknown) => ({ name: "a", nodes: { a: { kind: "condition", if: condition } } });
  expect(problems(raw({ any: [some, { ...some, not: some }] }))).toEqual([
    "nodes.a.if.any[1]: one of `all`, `any`, `not` or a comparison with `left` expected, not and left given",
  ]);
  expect(
    problems(
      raw({ all: Array.from({ length: 50 }, () => ({ all: Array.from({ length: 50 }, () => some) })) }),
    ),
  ).toEqual(["nodes.a.if: a condition of at most 1000 parts expected, a larger one given"]);
});

describe("W4 the schema's own problems, with their paths", () => {
  test.each<[unknown, string]>([
    [5, "(root): an object expected, 5 given"],
    [{}, "name: a string expected, nothing given"],
    [{ name: "a", nodes: {} }, "nodes: at least one node expected, none given"],
    [
      of({ "9a": agent("x") }),
      "nodes.9a: a letter, then up to 63 letters, digits, '_' or '-' expected, \"9a\" given",
    ],
    [
      { name: "a", nodes: { a: { kind: "agnt" } } },
      'nodes.a.kind: "agent" or "tool" or "condition" or "map"',
    ],
    [{ name: "a", nodes: { a: {} } }, 'nodes.a.kind: "agent" or "tool"'],
    [
      { name: "a", nodes: { a: { kind: "map", over: "{{ input.x }}", do: { kind: "wait" } } } },
      'nodes.a.do.kind: "agent" or "tool" or "workflow" expected, "wait" given',
    ],
    [
      { name: "a", nodes: { a: { ...agent("x"), promt: "y" } } },
      "nodes.a.promt: unknown key, did you mean `prompt`?",
    ],
    [
      { name: "a", nodes: { a: { ...agent("x"), retry: { atempts: 1 } } } },
      "nodes.a.retry.atempts: unknown key, did you mean `attempts`?",
    ],
    [
      { name: "a", nodes: { a: agent("x") }, edges: [{ from: "a", too: "a" }] },
      "edges[0].too: unknown key, did you mean `to`?",
    ],
    [{ name: "a", nodes: { a: agent("x") }, ouput: 1 }, "ouput: unknown key, did you mean `output`?"],
    [
      { name: "a", nodes: { a: { kind: "condition", if: { left: 1, op: "~", right: 1 } } } },
      "nodes.a.if.op: ",
    ],
    [
      { name: "a", nodes: { a: { kind: "condition", if: { all: [{ left: 1, opp: "==" }] } } } },
      "nodes.a.if.all[0].opp: unknown key, did you mean `op`?",
    ],
    [
      { name: "a", nodes: { a: { kind: "wait", for: { second: 1 } } } },
      "nodes.a.for.second: unknown key, did you mean `seconds`?",
    ],
  ])("W4 %j", (raw, problem) => {
    expect(problems(raw).join("\n")).toContain(problem);
  });

  test("W4 are found beside all others", () => {
    const found = problems({
      name: "a",
      nodes: { a: { kind: "agnt" }, b: agent("{{ nodes.nobody }}"), c: agent("{{ nodes.a.x }}", "writr") },
      edges: [
        { from: "a", to: "c" },
        { from: "b", to: "z" },
        { from: 1, to: "b" },
      ],
      output: "{{ nodes.none }}",
      rails: [{ use: "pi" }, { use: 1 }],
    });
    for (const path of [
      "nodes.a.kind",
      "nodes.b.prompt",
      "nodes.c.agent",
      "edges[1].to",
      "edges[2].from",
      "output",
      "rails[0].use",
      "rails[1].use",
    ])
      expect(
        found.some((message) => message.startsWith(`${path}: `)),
        path,
      ).toBe(true);
    expect(found).toHaveLength(8);
  });
});

describe("W4 edges", () => {
  const nodes: Nodes = {
    a: agent("x"),
    b: agent("y"),
    c: agent("z"),
    yes: { kind: "condition", if: { left: 1, op: "exists" } },
    ask: { kind: "approval", message: "?" },
  };

  test.each<[readonly string[], string]>([
    [["a>bb"], 'edges[0].to: a node (a, b, c, yes, ask) expected, "bb" given, did you mean "b"?'],
    [["nobody>a"], 'edges[0].from: a node (a, b, c, yes, ask) expected, "nobody" given'],
    [["a>b", "a>a"], "edges[1]: an edge to another node expected, a → a given"],
    [["a>b", "a>b"], "edges[1]: each edge once expected, a → b given again"],
    [["a>b:failed", "a>b", "a>b:failed"], "edges[2]: each edge once expected, a → b (failed) given again"],
    [["a>b:true"], 'edges[0].when: "failed" or nothing after "a", which is an agent expected, "true" given'],
    [["a>b:rejected"], 'edges[0].when: "failed" or nothing'],
    [
      ["ask>b:false"],
      'edges[0].when: "rejected", "failed" or nothing after "ask", which is an approval expected, "false" given',
    ],
    [
      ["yes>b"],
      'edges[0].when: "true", "false" or "failed" after "yes", which is a condition expected, nothing given',
    ],
    [["yes>b:rejected"], 'edges[0].when: "true", "false" or "failed"'],
    [["a>b", "b>a"], "edges[1]: edges that never lead back expected, a cycle given: a → b → a"],
    [
      ["c>a", "a>b", "b>yes", "yes>a:true"],
      "edges[3]: edges that never lead back expected, a cycle given: a → b → yes → a",
    ],
  ])("W4 %j", (lines, problem) => {
    expect(problems(of(nodes, lines))).toEqual([expect.stringContaining(problem)]);
  });

  test("W4 after every outcome there is, and two of them to the same node", () => {
    const lines = [
      "yes>a:true",
      "yes>a:false",
      "yes>b:failed",
      "ask>b",
      "ask>c:rejected",
      "ask>c:failed",
      "a>c:failed",
      "a>c",
    ];
    expect(problems(of(nodes, lines))).toEqual([]);
  });

  test("W4 a long cycle is told in part", () => {
    const ids = Array.from({ length: 100 }, (_, i) => `n${i}`);
    const round = ids.map((id, i) => `${id}>n${(i + 1) % 100}`);
    const [problem = ""] = problems(of(Object.fromEntries(ids.map((id) => [id, agent("x")])), round));
    expect(problem).toContain("n0 → n1 → n2");
    expect(problem).toContain("more) → n0");
    expect(problem.length).toBeLessThan(300);
  });
});

describe("W4 references", () => {
  test.each<[unknown, string]>([
    [
      agent("{{ nodes.frist.severity }}"),
      'nodes.node.prompt: a node before this one (first) expected, "frist" given, did you mean "first"?',
    ],
    [
      agent("{{ nodes.later }}"),
      'nodes.node.prompt: a node before this one expected, {{ nodes.later }} does not come before it; connect "later" to it',
    ],
    [
      agent("{{ nodes.node }}"),
      "nodes.node.prompt: a node before this one expected, {{ nodes.node }} is this node itself",
    ],
    [
      agent("{{ item }}"),
      "nodes.node.prompt: input or nodes.<id> expected, {{ item }} is only there in what a map does",
    ],
    [
      tool({ version: "v{{ index }}" }),
      "nodes.node.arguments.version: input or nodes.<id> expected, {{ index }} is only there in what a map does",
    ],
    [
      agent("{{ input.titel }}"),
      'nodes.node.prompt: a reference to what is there, or one with a ? (then it is null) expected, {{ input.titel }} given: there is no "titel", but "title", "tags"',
    ],
    [
      agent("{{ nodes.first.people[0].name }}"),
      '{{ nodes.first.people[0].name }} given: there is no "name", but "id", "age"',
    ],
    [agent("{{ nodes.first.severity.x }}"), "{{ nodes.first.severity.x }} given: a text has no keys"],
    [agent("{{ nodes.first"), 'nodes.node.prompt: "{{ nodes.first" is not closed'],
    [tool({ any: ["{{ secrets.key }}"] }, "search"), "nodes.node.arguments.any[0]: "],
    [{ kind: "map", over: "{{ item.x }}", do: agent("x") }, "nodes.node.over: input or nodes.<id> expected"],
    [
      { kind: "map", over: "{{ nodes.first.people }}", do: agent("{{ item.name }}") },
      'nodes.node.do.prompt: a reference to what is there, or one with a ? (then it is null) expected, {{ item.name }} given: there is no "name", but "id", "age"',
    ],
    [{ kind: "approval", message: "{{ nodes.x }}" }, "nodes.node.message: "],
    [{ kind: "approval", message: "?", show: { a: { b: "{{ nodes.x }}" } } }, "nodes.node.show.a.b: "],
    [{ kind: "wait", for: { seconds: "{{ nodes.x }}" } }, "nodes.node.for.seconds: "],
    [{ kind: "workflow", workflow: "child", input: { title: "{{ nodes.x }}" } }, "nodes.node.input.title: "],
    [
      { kind: "condition", if: { any: [{ not: { left: "{{ nodes.x }}", op: "exists" } }] } },
      "nodes.node.if.any[0].not.left: ",
    ],
  ])("W4 %j", (node, problem) => {
    expect(ofNode(node)).toEqual([expect.stringContaining(problem)]);
  });

  test.each<[unknown]>([
    [agent("{{ input.titel? }} {{ nodes.first.people[3].id }} \\{{ nodes.nobody }}")],
    [{ kind: "condition", if: { left: "{{ input.titel.x }}", op: "exists" } }],
    [{ kind: "condition", if: { left: "{{ input.titel.x }}", op: "empty" } }],
    [
      {
        kind: "map",
        over: "{{ nodes.first.people }}",
        do: tool({ version: "{{ item.id }}", replicas: "{{ index }}" }),
      },
    ],
  ])("W4 %j is sound", (node) => {
    expect(ofNode(node)).toEqual([]);
  });

  test("W4 to a node two steps back, and from the output to any", () => {
    const nodes = { a: agent("x"), b: agent("y"), c: agent("{{ nodes.a }}") };
    expect(problems(of(nodes, ["a>b", "b>c"], { output: { b: "{{ nodes.b }}" } }))).toEqual([]);
    expect(problems(of(nodes, [], { output: { b: "{{ item }}", n: "{{ nodes.n }}" } }))).toEqual([
      expect.stringContaining("nodes.c.prompt: a node before this one"),
      expect.stringContaining("output.b: input or nodes.<id>"),
      'output.n: a node (a, b, c) expected, "n" given',
    ]);
  });

  test("W4 to a wait for time, which comes to nothing", () => {
    const nodes: Nodes = {
      a: { kind: "wait", for: { seconds: 1 } },
      b: agent("{{ nodes.a }}"),
      c: agent("{{ nodes.a? }}"),
    };
    expect(problems(of(nodes, ["a>b", "a>c"]))).toEqual([
      "nodes.b.prompt: a node that comes to something expected, {{ nodes.a }} is only a wait",
    ]);
  });
});

describe("W4 types", () => {
  test.each<[unknown, readonly string[]]>([
    [
      tool({ version: "{{ nodes.first.score }}" }),
      ["nodes.node.arguments.version: a text expected, a whole number comes from nodes.first.score"],
    ],
    [tool({ version: "v{{ nodes.first.score }}" }), []],
    [tool({ version: 1 }), ["nodes.node.arguments.version: a text expected, 1 given"]],
    [tool({}), ["nodes.node.arguments.version: a text expected, nothing given"]],
    [
      tool({ version: "1", versoin: "2" }),
      ["nodes.node.arguments.versoin: unknown key, did you mean `version`?"],
    ],
    [
      tool({ version: "1", other: 2 }),
      ["nodes.node.arguments.other: unknown key, a key it takes (version, replicas, where) expected"],
    ],
    [
      tool({ version: "1", replicas: 1.5 }),
      ["nodes.node.arguments.replicas: a whole number expected, 1.5 given"],
    ],
    [
      tool({ version: "1", where: "prod" }),
      ['nodes.node.arguments.where: "test" or "live" expected, "prod" given'],
    ],
    [
      tool({ version: "1", where: "{{ nodes.first.severity }}" }),
      [
        'nodes.node.arguments.where: "test" or "live" expected, "low" or "high" comes from nodes.first.severity',
      ],
    ],
    [
      tool({ version: "1", where: { a: 1 } }),
      ['nodes.node.arguments.where: "test" or "live" expected, an object given'],
    ],
    [
      tool({ version: "1", replicas: "{{ input.tags }}" }),
      ["nodes.node.arguments.replicas: a whole number expected, a list comes from input.tags"],
    ],
    [tool({ anything: ["{{ input.tags }}"] }, "search"), []],
    [
      { kind: "workflow", workflow: "child", input: {} },
      ["nodes.node.input.title: a text expected, nothing given"],
    ],
    [
      { kind: "workflow", workflow: "child", input: { title: "x", tags: ["{{ nodes.first.score }}", "b"] } },
      ["nodes.node.input.tags[0]: a text expected, a whole number comes from nodes.first.score"],
    ],
    [
      { kind: "workflow", workflow: "child", input: { title: "x", tags: "{{ nodes.first.people }}" } },
      ["nodes.node.input.tags: a text at [] expected, an object comes from nodes.first.people[]"],
    ],
    [
      { kind: "map", over: "{{ input.title }}", do: agent("x") },
      [
        "nodes.node.over: one reference to a list, such as {{ input.items }}, expected, a text comes from input.title",
      ],
    ],
    [
      { kind: "map", over: "all of {{ input.tags }}", do: agent("x") },
      [
        'nodes.node.over: one reference to a list, such as {{ input.items }}, expected, "all of {{ input.tags }}" given',
      ],
    ],
    [
      { kind: "map", over: "[1, 2]", do: agent("x") },
      ['nodes.node.over: one reference to a list, such as {{ input.items }}, expected, "[1, 2]" given'],
    ],
    [
      { kind: "map", over: "{{ nodes.first.people }}", do: tool({ version: "{{ item.age }}" }) },
      ["nodes.node.do.arguments.version: a text expected, a whole number comes from item.age"],
    ],
    [
      { kind: "map", over: "{{ input.tags }}", do: tool({ version: "{{ index }}" }) },
      ["nodes.node.do.arguments.version: a text expected, a whole number comes from index"],
    ],
    [
      { kind: "wait", for: { seconds: "{{ input.title }}" } },
      [
        "nodes.node.for.seconds: a number of seconds, or one reference to it such as {{ input.seconds }}, expected, a text comes from input.title",
      ],
    ],
    [
      { kind: "wait", for: { seconds: "30" } },
      [
        'nodes.node.for.seconds: a number of seconds, or one reference to it such as {{ input.seconds }}, expected, "30" given',
      ],
    ],
    [
      { kind: "condition", if: { left: "{{ nodes.first.severity }}", op: "==", right: "hihg" } },
      ['nodes.node.if.right: "low" or "high" expected, "hihg" given'],
    ],
    [
      { kind: "condition", if: { left: "hihg", op: "!=", right: "{{ nodes.first.severity }}" } },
      ['nodes.node.if.left: "low" or "high" expected, "hihg" given'],
    ],
    [{ kind: "condition", if: { left: "{{ nodes.first.severity? }}", op: "==", right: null } }, []],
    [
      { kind: "condition", if: { left: "{{ nodes.first.score }}", op: ">", right: "5" } },
      [
        "nodes.node.if: two numbers or two texts expected, a whole number on the left and a text on the right given",
      ],
    ],
    [{ kind: "condition", if: { left: "{{ nodes.first.score }}", op: ">", right: 2.5 } }, []],
    [
      { kind: "condition", if: { left: "{{ nodes.first.score }}", op: "contains", right: 2 } },
      [
        "nodes.node.if.left: a list, a text or an object expected, a whole number comes from nodes.first.score",
      ],
    ],
    [
      { kind: "condition", if: { left: 1, op: "in", right: 2 } },
      ["nodes.node.if.right: a list, a text or an object expected, a whole number given"],
    ],
    [
      { kind: "condition", if: { left: 1, op: "==" } },
      ["nodes.node.if.right: a value to compare with by == expected, nothing given"],
    ],
    [
      { kind: "condition", if: { left: 1, op: "empty", right: 1 } },
      ["nodes.node.if.right: nothing beside empty expected, 1 given"],
    ],
  ])("W4 %j", (node, expected) => {
    expect(ofNode(node)).toEqual(expected);
  });

  test("W4 the output fits its schema, the one of the last nodes too", () => {
    const output_schema = {
      type: "object",
      properties: { a: text },
      required: ["a", "z"],
      additionalProperties: false,
    };
    const nodes = { a: agent("x", "triage"), b: agent("x") };
    expect(
      problems(of(nodes, [], { output_schema, output: { a: "{{ nodes.a.score }}", z: 1, y: 1 } })),
    ).toEqual([
      "output.a: a text expected, a whole number comes from nodes.a.score",
      "output.z: unknown key, a key it takes (a) expected",
      "output.y: unknown key, a key it takes (a) expected",
    ]);
    expect(problems(of(nodes, [], { output_schema, output: "{{ nodes.b }}" }))).toEqual([
      "output: an object expected, a text comes from nodes.b",
    ]);
    expect(
      problems(of(nodes, [], { output_schema: { type: "object", properties: { a: text, b: text } } })),
    ).toEqual(["output.a: a text expected, an object or null comes from nodes.a"]);
  });

  test("W4 what comes of an approval, a map and a workflow is known", () => {
    const nodes: Nodes = {
      ask: { kind: "approval", message: "?" },
      each: { kind: "map", over: "{{ input.list }}", do: agent("x") },
      all: { kind: "map", over: "{{ input.list }}", do: agent("x"), on_error: "collect" },
      sub: { kind: "workflow", workflow: "child", input: { title: "x" } },
      use: agent(
        "{{ nodes.ask.decided_by }} {{ nodes.each[0].x }} {{ nodes.all[0].status }} {{ nodes.all[0].out }} {{ nodes.sub.titel }}",
      ),
    };
    const found = problems(of(nodes, ["ask>use", "each>use", "all>use", "sub>use"]));
    expect(found).toEqual([
      expect.stringContaining("{{ nodes.each[0].x }} given: a text has no keys"),
      expect.stringContaining(
        '{{ nodes.all[0].out }} given: there is no "out", but "status", "output", "failure"',
      ),
      expect.stringContaining('{{ nodes.sub.titel }} given: there is no "titel", but "title", "tags"'),
    ]);
  });
});

describe("W4 names", () => {
  test.each<[unknown, string]>([
    [
      of({ a: agent("x", "writr") }),
      'nodes.a.agent: a registered agent (triage, writer) expected, "writr" given, did you mean "writer"?',
    ],
    [of({ a: tool({}, "fly") }), 'nodes.a.tool: a registered tool (deploy, search) expected, "fly" given'],
    [
      of({ a: { kind: "workflow", workflow: "chidl" } }),
      'nodes.a.workflow: a registered workflow (child, main) expected, "chidl" given, did you mean "child"?',
    ],
    [
      of({ a: { kind: "map", over: "{{ input.x }}", do: tool({}, "fly") } }),
      "nodes.a.do.tool: a registered tool",
    ],
    [
      of({ a: agent("x") }, [], { rails: [{ use: "pii" }, { use: "budgt" }] }),
      'rails[1].use: a registered rail (pii, budget) expected, "budgt" given, did you mean "budget"?',
    ],
    [
      of({ a: tool({ version: "1" }) }, [], { hitl_tools: ["deploy", "search"] }),
      'hitl_tools[1]: a tool of a node or of an agent in it (deploy) expected, "search" given',
    ],
    [
      of({ a: tool({ version: "1" }) }, [], { hitl_tools: ["deploy", "deploy"] }),
      'hitl_tools[1]: each name once expected, "deploy" given',
    ],
  ])("W4 %j", (raw, problem) => {
    expect(problems(raw)).toEqual([expect.stringContaining(problem)]);
  });

  test("W4 there are none", () => {
    const none: Catalog = { ...catalog, agents: new Map() };
    expect(problems(of({ a: agent("x") }), none)).toEqual([
      'nodes.a.agent: a registered agent (there are none) expected, "writer" given',
    ]);
  });

  test("W4 a tool that a map uses may be asked about", () => {
    const nodes: Nodes = { a: { kind: "map", over: "{{ input.x }}", do: tool({ version: "1" }) } };
    expect(problems(of(nodes, [], { hitl_tools: ["deploy"] }))).toEqual([]);
  });
});

describe("W4 workflows within workflows", () => {
  /** A workflow that uses others. */
  const using = (name: string, ...others: readonly string[]): WorkflowDefinition => {
    const nodes: Nodes = { end: agent("x") };
    for (const [i, workflow] of others.entries()) nodes[`n${i}`] = { kind: "workflow", workflow };
    return workflowSchemas().workflowDefinition.parse({ name, nodes });
  };
  const known = (...all: readonly WorkflowDefinition[]): Catalog => ({
    ...NOTHING,
    workflows: new Map(all.map((one) => [one.name, one])),
  });

  test("W4 none leads back to itself", () => {
    const told = "a workflow that never leads back expected,";
    expect(problems(using("a", "a"), known())).toEqual([`nodes.n0.workflow: ${told} a → a given`]);
    expect(problems(using("a", "b"), known(using("b", "a")))).toEqual([
      `nodes.n0.workflow: ${told} a → b → a given`,
    ]);
    expect(problems(using("a", "b"), known(using("b", "c"), using("c", "d", "b"), using("d")))).toEqual([
      `nodes.n0.workflow: ${told} a → b → c → b given`,
    ]);
    const mapped = of({
      m: { kind: "map", over: "{{ input.x }}", do: { kind: "workflow", workflow: "main" } },
    });
    expect(problems(mapped, known())).toEqual([`nodes.m.do.workflow: ${told} main → main given`]);
  });

  test("W4 what is saved counts, and not what was saved before it", () => {
    const before = known(using("a", "b"), using("b", "a"));
    expect(problems(using("b"), before)).toEqual([]);
    expect(problems(using("a", "c"), known(using("a", "b"), using("b", "a"), using("c")))).toEqual([]);
  });

  test("W4 ten levels of them and no more, however many ways lead there", () => {
    const chain = (levels: number) =>
      Array.from({ length: levels }, (_, i) =>
        using(`w${i}`, ...(i + 1 < levels ? [`w${i + 1}`, `w${i + 1}`] : [])),
      );
    expect(problems(using("top", "w0"), known(...chain(10)))).toEqual([]);
    expect(problems(using("top", "w0"), known(...chain(11)))).toEqual([
      expect.stringContaining(
        "nodes.n0.workflow: at most 10 workflows within each other expected, top → w0 → w1",
      ),
    ]);
    const wide = Array.from({ length: 60 }, (_, i) =>
      using(
        `x${i}`,
        ...(i % 6 === 5 ? [] : [1, 2, 3, 4, 5].map((k) => `x${i - (i % 6) + Math.min(5, (i % 6) + k)}`)),
      ),
    );
    expect(problems(using("top", ...wide.map(({ name }) => name)), known(...wide))).toEqual([]);
  });
});

describe("W4 schemas that are none", () => {
  test.each<[unknown, string]>([
    [
      of({ a: agent("x") }, [], { input: { type: "strng" } }),
      "input: a usable JSON Schema expected, #/type: ",
    ],
    [
      of({ a: agent("x") }, [], { input: { type: "array" } }),
      "input: the JSON Schema of an object expected, one of a list given",
    ],
    [
      of({ a: agent("x") }, [], { output_schema: { $ref: "#/$defs/none" } }),
      "output_schema: a usable JSON Schema expected",
    ],
    [
      of({ a: { kind: "approval", message: "?", response: { pattern: "(a+)+$", type: 7 } } }),
      "nodes.a.response: a usable JSON Schema expected",
    ],
    [
      of({ a: { kind: "wait", for: { webhook: { response: { type: "x" } } } } }),
      "nodes.a.for.webhook.response: a usable JSON Schema expected",
    ],
  ])("W4 %j", (raw, problem) => {
    expect(problems(raw)).toEqual([expect.stringContaining(problem)]);
  });
});

test("W4 what a node comes to can be asked of it alone", () => {
  const { nodes } = sound(
    of({
      text: agent("x"),
      json: agent("x", "triage"),
      stranger: agent("x", "nobody"),
      tool: tool({ version: "1" }),
      each: { kind: "map", over: "{{ input.x }}", do: agent("x") },
      wait: { kind: "wait", for: { seconds: 1 } },
      hook: { kind: "wait", for: { webhook: {} } },
      yes: { kind: "condition", if: { left: 1, op: "exists" } },
      sub: { kind: "workflow", workflow: "child" },
    }),
  );
  const outputs = Object.fromEntries(
    Object.entries(nodes).map(([id, node]) => [id, outputOf(node, catalog)]),
  );
  expect(outputs).toEqual({
    text: "text",
    json: triaged,
    stranger: "any",
    tool: { type: "object", properties: { url: text } },
    each: { type: "array", items: text },
    wait: "nothing",
    hook: "any",
    yes: { type: "boolean" },
    sub: ticket,
  });
  const bare = sound({
    name: "bare",
    nodes: { a: agent("x"), b: agent("y") },
    edges: [{ from: "a", to: "b" }],
  });
  const named = { ...NOTHING, workflows: new Map([["bare", bare]]) };
  expect(outputOf({ kind: "workflow", workflow: "bare", input: {} }, named)).toEqual({
    type: "object",
    properties: { b: {} },
    additionalProperties: false,
  });
});
