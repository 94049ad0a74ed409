import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../schema/json.ts";
import {
  fill,
  fillLeniently,
  fillText,
  literal,
  referencesIn,
  referenceText,
  type Values,
} from "./template.ts";

const values: Values = {
  input: {
    a: { b: 1, none: null },
    list: [{ x: "first" }, [2]],
    "odd key": true,
    'with "quotes" and }}': 7,
    text: "hello",
    größe: 3,
    0: "zero",
  },
  node: (id) => (id === "triage" ? { severity: "high" } : id === "with-dash_1" ? 5 : undefined),
};
const inMap: Values = { ...values, item: { x: 9 }, index: 0 };

function problemOf(template: Json, from: Values = values): string {
  const found = fill(template, from);
  return found.ok ? "none" : found.problem;
}

describe("W4 a text that is nothing but a reference becomes what it stands for", () => {
  test.each<[string, Json]>([
    ["{{ input }}", values.input],
    ["{{input.a.b}}", 1],
    ["{{\n input.a \t}}", { b: 1, none: null }],
    ["{{ input.a.none }}", null],
    ["{{ input.list[0].x }}", "first"],
    ["{{ input.list[1][0] }}", 2],
    ['{{ input["odd key"] }}', true],
    ['{{ input["with \\"quotes\\" and }}"] }}', 7],
    ["{{ input.größe }}", 3],
    ["{{ input.0 }}", "zero"],
    ["{{ nodes.triage }}", { severity: "high" }],
    ["{{ nodes.triage.severity }}", "high"],
    ['{{ nodes["triage"]["severity"] }}', "high"],
    ["{{ nodes.with-dash_1 }}", 5],
    ["{{ item.x }}", 9],
    ["{{ index }}", 0],
    ["{{ input.nowhere? }}", null],
    ["{{ input.nowhere.at.all ? }}", null],
    ["{{ nodes.skipped.output? }}", null],
    ["{{ input.a.none.deeper? }}", null],
    ["{{ input.list[9]? }}", null],
  ])("%s", (template, value) => {
    expect(fill(template, inMap)).toEqual({ ok: true, value });
  });
});

describe("W4 any other text gets what its references stand for as text", () => {
  test.each<[string, string]>([
    ["", ""],
    ["no reference } here }}", "no reference } here }}"],
    ["b is {{ input.a.b }}.", "b is 1."],
    ["{{ input.text }}{{ input.text }}", "hellohello"],
    [" {{ input.a }}", ' {"b":1,"none":null}'],
    ["[{{ input.a.none }}|{{ input.x? }}]", "[|]"],
    ['{"list":{{ input.list }}}', '{"list":[{"x":"first"},[2]]}'],
    ["\\{{ input.a }}", "{{ input.a }}"],
    ["\\\\{{ input.a.b }}", "\\1"],
    ["\\\\\\{{ input.a.b }}", "\\{{ input.a.b }}"],
    ["C:\\dir \\ {{ input.text }}\\", "C:\\dir \\ hello\\"],
  ])("%s", (template, value) => {
    expect(fill(template, values)).toEqual({ ok: true, value });
    expect(fillText(template, values)).toEqual({ ok: true, value });
  });

  test("W4 what is always a text gets even a lone reference as text", () => {
    expect(fillText("{{ input.a }}", values)).toEqual({ ok: true, value: '{"b":1,"none":null}' });
    expect(fillText("{{ input.a.none }}", values)).toEqual({ ok: true, value: "" });
    expect(fillText("{{ input.text }}", values)).toEqual({ ok: true, value: "hello" });
  });
});

test("W4 templates are filled in at every level; keys are none, and what has no reference is not copied", () => {
  const still = { deep: [1, { text: "as it is" }] };
  const filled = fill({ "{{ input.text }}": ["{{ input.a.b }}", still, null, 2, "\\{{"] }, values);
  expect(filled).toEqual({ ok: true, value: { "{{ input.text }}": [1, still, null, 2, "{{"] } });
  const same = fill(still, values);
  expect(same.ok && same.value).toBe(still);
});

test("W4 what is put in is never itself a template", () => {
  const input = { hostile: "{{ input.secret }}", secret: "hidden", object: { a: "{{ input.secret }}" } };
  const from = { ...values, input };
  expect(fillText("{{ input.hostile }} and {{ input.object }}", from)).toEqual({
    ok: true,
    value: '{{ input.secret }} and {"a":"{{ input.secret }}"}',
  });
  expect(fill(["{{ input.object }}"], from)).toEqual({ ok: true, value: [input.object] });
});

describe("W4 a reference to what is not there says what is, and that ? makes it optional", () => {
  test.each<[string, string]>([
    [
      "{{ input.a.c }}",
      '{{ input.a.c }}: there is no "c", but an object with "b", "none"; with a ? ({{ input.a.c? }}) it would be null',
    ],
    ["{{ input.list[2] }}", "there is no [2], but a list of 2 entries"],
    ["{{ input.list.x }}", 'there is no "x", but a list of 2 entries ([0] is the first)'],
    ["{{ input.a[0] }}", 'there is no [0], but an object with "b", "none"'],
    ["{{ input.text.length }}", 'there is no "length", but a text'],
    ["{{ input.text[0] }}", "there is no [0], but a text"],
    ["{{ input.list.length }}", 'there is no "length"'],
    ["{{ input.a.none.x }}", 'there is no "x", but null'],
    ["{{ input.a.b.x }}", 'there is no "x", but a number'],
    ["{{ input.constructor }}", 'there is no "constructor"'],
    ["{{ input.__proto__ }}", 'there is no "__proto__"'],
    ["{{ input.toString.name }}", 'there is no "toString"'],
    ["{{ nodes.skipped.x }}", 'the node "skipped" has come to nothing'],
    ["{{ item.x }}", "item is only there within a map"],
    ["{{ index }}", "index is only there within a map"],
    ["text {{ input.nowhere }}", 'there is no "nowhere"'],
  ])("%s", (template, problem) => {
    expect(problemOf(template)).toContain(problem);
    expect(problemOf({ in: [template] })).toContain(problem);
  });

  test("W4 only some of many keys are shown, and long ones in part", () => {
    const input = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`${"k".repeat(500)}${i}`, i]));
    const problem = problemOf(`{{ input.${"n".repeat(5_000)} }}`, { ...values, input });
    expect(problem).toContain("and 4990 more");
    expect(problem.length).toBeLessThan(2_000);
  });

  test("W4 leniently, it is null; but what cannot be read stays a problem", () => {
    expect(fillLeniently("{{ input.nowhere.x }}", values)).toEqual({ ok: true, value: null });
    expect(fillLeniently("{{ input. }}", values)).toMatchObject({ ok: false });
  });
});

describe("W4 a malformed reference is told", () => {
  test.each<[string, string]>([
    ["{{", "is not closed; write }} after it"],
    ["{{ input.a", "is not closed"],
    ["{{}}", "begins with input, nodes.<id>, item or index"],
    ["{{ }}", "begins with input"],
    ["{{ secrets.key }}", '"{{ secrets.key }}": a path that begins with input'],
    ["{{ inputs }}", "begins with input"],
    ["{{ nodes }}", "the id of a node expected after nodes"],
    ["{{ nodes[0] }}", "the id of a node expected"],
    ["{{ index.x }}", "index is a number and has no parts"],
    ["{{ input. }}", "a name expected after the point"],
    ["{{ input..a }}", "a name expected after the point"],
    ["{{ input[] }}", "in brackets"],
    ["{{ input[-1] }}", "in brackets"],
    ["{{ input[a] }}", "in brackets"],
    ["{{ input[1e3] }}", "in brackets"],
    ["{{ input[12345678901] }}", "in brackets"],
    ["{{ input['a'] }}", "in brackets"],
    ['{{ input["a }}', "is not closed"],
    ['{{ input["\\q"] }}', "in brackets"],
    ["{{ input.a | upper }}", "a path and nothing else"],
    ["{{ input.a + 1 }}", "a path and nothing else"],
    ["{{ input.a }", "is not closed"],
    ["{{{ input.a }}}", "begins with input"],
    [`{{ input${".a".repeat(101)} }}`, "at most 100 steps"],
  ])("%s", (template, problem) => {
    expect(problemOf(template)).toContain(problem);
    expect(referencesIn({ x: [template] }).problems).toEqual([
      { at: ["x", 0], problem: expect.stringContaining(problem) },
    ]);
  });
});

describe("W4 the references of a template can be listed", () => {
  test("W4 with where they are and what they say", () => {
    const { references, problems } = referencesIn({
      a: "{{ input.list[0].x? }}",
      b: ["see {{ nodes.triage.severity }} and {{ index }}", "\\{{ input.no }}"],
      "{{ input.key }}": 1,
    });
    expect(problems).toEqual([]);
    expect(references).toEqual([
      { at: ["a"], root: "input", path: ["list", 0, "x"], optional: true, alone: true },
      { at: ["b", 0], root: "nodes", node: "triage", path: ["severity"], optional: false, alone: false },
      { at: ["b", 0], root: "index", path: [], optional: false, alone: false },
    ]);
  });

  test("W4 a reference written out is read as the same one, and reads what it names", () => {
    const sign = fc.constantFrom(
      "a",
      "é",
      "\\",
      '"',
      "}}",
      "{{",
      "?",
      " ",
      "\n",
      "\u2028",
      "\ud800",
      "😀",
      ".",
      "]",
    );
    const odd = fc.array(sign, { maxLength: 6 }).map((signs) => signs.join(""));
    const key = fc.oneof(odd, fc.constantFrom("__proto__", "constructor", "a-b_c$1", "0"));
    const step = fc.oneof(key, fc.nat({ max: 3 }));
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 5 }),
        fc.boolean(),
        fc.jsonValue({ maxDepth: 1 }),
        (path, optional, leaf) => {
          const template = `{{ ${referenceText({ root: "input", path })}${optional ? "?" : ""} }}`;
          expect(referencesIn(template)).toEqual({
            references: [{ at: [], root: "input", path, optional, alone: true }],
            problems: [],
          });
          // fast-check's values are JSON, by its own word
          const input = path.reduceRight<Json>((inner, at) => around(inner, at), leaf as Json);
          expect(fill(template, { ...values, input })).toEqual({ ok: true, value: leaf });
        },
      ),
    );
  });

  test("W4 a text made literal is filled in as that very text, between references too", () => {
    const sign = fc.constantFrom("{", "}", "\\", "{{", "}}", "input", " ", "ä", "?");
    fc.assert(
      fc.property(fc.array(sign), fc.array(sign), (one, other) => {
        const [a, b] = [one.join(""), other.join("")];
        expect(fillText(literal(a), values)).toEqual({ ok: true, value: a });
        expect(referencesIn(literal(a))).toEqual({ references: [], problems: [] });
        // A backslash directly before braces counts, so what is before the reference ends otherwise.
        const whole = `${literal(a)}.{{ input.text }}${literal(b)}`;
        if (!a.endsWith("{")) expect(fillText(whole, values)).toEqual({ ok: true, value: `${a}.hello${b}` });
      }),
    );
  });

  test("W4 any text at all is filled in or has a problem, and is never thrown at", () => {
    const sign = fc.constantFrom(
      "{{",
      "}}",
      "input",
      "nodes.x",
      ".",
      "[",
      "]",
      '"',
      "\\",
      "0",
      "?",
      " ",
      "{",
      "a",
    );
    fc.assert(
      fc.property(fc.array(sign, { maxLength: 30 }), (signs) => {
        const text = signs.join("");
        const { problems } = referencesIn(text);
        const found = fillLeniently(text, values);
        expect(found.ok).toBe(problems.length === 0);
      }),
      { numRuns: 300 },
    );
  });
});

describe("W4 hostile templates", () => {
  test.each<[string, string]>([
    ["braces", "{{".repeat(500_000)],
    ["opened and closed", "{{}}".repeat(250_000)],
    ["backslashes", `${"\\".repeat(1_000_000)}{{`],
    ["escaped braces", "\\{{".repeat(330_000)],
    ["an open key", `{{ input["${"a".repeat(1_000_000)}`],
    ["open keys", '{{ input["'.repeat(100_000)],
    ["a long path", `{{ input${".a".repeat(500_000)} }}`],
    ["spaces", `{{${" ".repeat(1_000_000)}`],
    ["digits", `{{ input[${"1".repeat(1_000_000)}] }}`],
  ])("W4 a million signs of %s are read at once", (_, text) => {
    const { problems } = referencesIn(text);
    const found = fill(text, values);
    expect(problems.length).toBeLessThan(20);
    expect(JSON.stringify(problems).length).toBeLessThan(10_000);
    expect(found.ok).toBe(problems.length === 0);
  });

  test("W4 many references in one text", () => {
    const text = "{{ input.a.b }},".repeat(20_000);
    expect(referencesIn(text).references).toHaveLength(20_000);
    expect(fillText(text, values)).toEqual({ ok: true, value: "1,".repeat(20_000) });
  });

  test("W4 a small template that stands for far too much text", () => {
    const input = { big: "x".repeat(1_000_000) };
    const found = fillText("{{ input.big }}".repeat(1_000), { ...values, input });
    expect(found).toEqual({ ok: false, problem: expect.stringContaining("at most 10000000 characters") });
  });

  test("W4 templates and values that are too deep", () => {
    let deep: Json = "{{ input.a }}";
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(fill(deep, values)).toMatchObject({ ok: false });
    expect(referencesIn(deep).problems).toHaveLength(1);
    expect(fillText("see {{ input }}", { ...values, input: deep })).toMatchObject({ ok: false });
    expect(fill("{{ input }}", { ...values, input: deep })).toMatchObject({ ok: true });
  });

  test("W4 a key __proto__ is a key like any other", () => {
    const template: Json = JSON.parse('{"__proto__":"{{ input.text }}","b":{"__proto__":1}}');
    const found = fill(template, values);
    expect(JSON.stringify(found)).toBe('{"ok":true,"value":{"__proto__":"hello","b":{"__proto__":1}}}');
    expect(Reflect.get({}, "text")).toBeUndefined();
    const input: Json = JSON.parse('{"__proto__":{"x":1}}');
    expect(fill("{{ input.__proto__.x }}", { ...values, input })).toEqual({ ok: true, value: 1 });
  });
});

/** A value that has another at a key or a place. */
function around(inner: Json, at: string | number): Json {
  if (typeof at === "number") return [...Array.from({ length: at }, () => null), inner];
  return Object.fromEntries([[at, inner]]);
}
