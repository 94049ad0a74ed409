import { Agent } from "trackside";
import { describe, expect, test } from "vitest";
import { workedMs } from "../support/patience.ts";
import { pathsOf, problemsOf } from "../support/problems-of.ts";

const MINIMAL = { name: "clerk", model: "openai:gpt-4o" };

const fromCode = (config: unknown) => new Agent(config as never); // what a caller without types could pass
const fromJSON = (json: unknown) => Agent.fromJSON(json);
const WAYS = [
  ["code", fromCode],
  ["JSON", fromJSON],
] as const;

function cycle(): object {
  const loop: Record<string, unknown> = { use: "pii" };
  loop["options"] = { inside: loop };
  return loop;
}

function deep(levels: number): object {
  return JSON.parse(`${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`);
}

/** Small to hold, endless to walk: each level holds the one below twice. */
function doubling(levels: number): object {
  let value: object = {};
  for (let i = 0; i < levels; i++) value = { a: value, b: value };
  return value;
}

function unreadable(): object {
  return new Proxy({}, { ownKeys: () => fail(), get: () => fail(), getPrototypeOf: () => fail() });
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function fail(): never {
  throw new Error("not for you");
}

class Settings {
  use = "pii";
}

describe.each(WAYS)("A3 hostile input in %s is told, never a crash", (way, make) => {
  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a text", "clerk"],
    ["a number", Number.NaN],
    ["a BigInt", 10n],
    ["a symbol", Symbol("agent")],
    ["a function", () => MINIMAL],
    ["a list", [MINIMAL]],
    ["a Map", new Map(Object.entries(MINIMAL))],
    ["a Date", new Date(0)],
    ["a promise", Promise.resolve(MINIMAL)],
    ["a proxy that throws", unreadable()],
    ["a revoked proxy", revoked()],
  ])("A3 %s instead of an agent", (_what, value) => {
    expect(pathsOf(() => make(value))).toContain("(root)");
  });

  test.each([
    ["a function", () => 1],
    ["a symbol", Symbol("rail")],
    ["a BigInt", 10n],
    ["a Map", new Map([["use", "pii"]])],
    ["an object of a class", new Settings()],
    ["a cycle", cycle()],
    ["a proxy that throws", unreadable()],
    ["a revoked proxy", revoked()],
    ["an object without a prototype and without its keys", Object.create(null)],
    ["an object that throws when it is shown", { toString: fail, toJSON: fail }],
    ["undefined", undefined],
    ["an object whose options nest without end", { use: "pii", options: deep(10_000) }],
    ["an object whose options double without end", { use: "pii", options: doubling(60) }],
  ])("A3 %s as a rail", (_what, value) => {
    expect(pathsOf(() => make({ ...MINIMAL, rails: [value] }))[0]).toMatch(/^rails\[0\]/);
  });

  test("A3 a hole in a list", () => {
    expect(pathsOf(() => make({ ...MINIMAL, rails: new Array(1), handoffs: new Array(2) }))).toEqual([
      "handoffs[0]",
      "handoffs[1]",
      "rails[0]",
    ]);
  });

  test("A3 a getter that throws is a problem of its place, and the others are still told", () => {
    const config = {
      ...MINIMAL,
      get instructions() {
        return fail();
      },
      colour: "red",
      rails: [
        {
          get use() {
            return fail();
          },
        },
      ],
    };

    expect(pathsOf(() => make(config))).toEqual(["colour", "instructions", "rails[0].use"]);
  });

  test("A3 a getter is read once, so that what was checked is what is kept", () => {
    let reads = 0;
    const agent = make({
      ...MINIMAL,
      get instructions() {
        return reads++ === 0 ? "be kind" : 5;
      },
    });

    expect(agent.definition.instructions).toBe("be kind");
  });

  test("A3 keys that are symbols are problems, not dropped", () => {
    const config = { ...MINIMAL, [Symbol("colour")]: "red", rails: [{ use: "pii", [Symbol("x")]: 1 }] };

    expect(pathsOf(() => make(config))).toEqual(["Symbol(colour)", "rails[0].Symbol(x)"]);
  });

  test("A3 an own key __proto__ is a problem wherever it is, and changes no prototype", () => {
    const hidden = JSON.parse('{ "__proto__": { "polluted": true } }');
    const config = {
      ...hidden,
      ...MINIMAL,
      rails: [{ use: "pii", options: hidden }],
      hooks: { on: hidden },
    };
    Object.defineProperty(config, "__proto__", { value: hidden, enumerable: true });

    expect(pathsOf(() => make(config))).toEqual(
      ["__proto__", "rails[0].options.__proto__", "hooks.on.__proto__"].sort(),
    );
    const schema = way === "JSON" ? "output_schema" : "outputSchema";
    expect(pathsOf(() => make({ ...MINIMAL, [schema]: hidden }))).toEqual([schema]);
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });

  test("A3 huge texts, keys and numbers of problems make bounded messages, soon", () => {
    const huge = "x".repeat(5_000_000);
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`key${i}`, i]));
    const before = workedMs();

    problemsOf(() => make({ ...MINIMAL, name: huge }));
    problemsOf(() => make({ ...MINIMAL, model: huge }));
    problemsOf(() => make({ ...MINIMAL, [huge]: 1 }));
    problemsOf(() => make({ ...MINIMAL, rails: [{ [huge]: { [huge]: huge } }] }));
    problemsOf(() => make({ ...MINIMAL, tools: Array.from({ length: 3_000 }, (_, i) => `tool${i}`) }));
    expect(problemsOf(() => make({ ...MINIMAL, ...many }))).toHaveLength(3_000);
    expect(workedMs() - before).toBeLessThan(5_000);
  });
});

describe("A3 hostile things in place of models, tools and schemas", () => {
  const hostile = [
    ["a number", 5],
    ["a list", [[]]],
    ["an empty object", {}],
    ["a Map", new Map()],
    ["a proxy that throws", unreadable()],
    ["a revoked proxy", revoked()],
    ["a class", Settings],
    ["a model of an unknown specification", { specificationVersion: "v9", doStream() {}, doGenerate() {} }],
    [
      "a model that cannot say its name",
      { specificationVersion: "v4", doStream() {}, doGenerate() {}, provider: Symbol("p") },
    ],
  ] as const;

  test.each(hostile)("A3 %s as the model, a fallback model and a tool", (_what, value) => {
    const config = { name: "clerk", model: value, fallbackModels: [value], tools: [value] };

    expect(pathsOf(() => fromCode(config))).toEqual(["fallbackModels[0]", "model", "tools[0]"]);
  });

  test.each([
    ["a function", () => 1],
    ["a JSON Schema that holds a function", { type: "object", default: () => 1 }],
    ["a Date", new Date(0)],
    ["a list", []],
    ["a proxy that throws", unreadable()],
    [
      "a schema that has no JSON form",
      { "~standard": { version: 1, vendor: "odd", validate: () => ({ value: 1 }) } },
    ],
    ["a schema that is none", { "~standard": null }],
  ])("A3 %s as the output schema", (_what, outputSchema) => {
    expect(pathsOf(() => fromCode({ ...MINIMAL, outputSchema }))).toEqual(["outputSchema"]);
  });
});
