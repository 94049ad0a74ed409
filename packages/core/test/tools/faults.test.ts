import { defineTool, type RunResult } from "trackside";
import { manualClock } from "trackside/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCalls } from "../support/run-calls.ts";

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => void process.off("unhandledRejection", note));

/** Long enough for a rejection that no code handles to be reported. */
const settled = async () => {
  for (let turns = 0; turns < 5; turns++) await new Promise((resolve) => setImmediate(resolve));
};

function fail(what: unknown): never {
  throw what;
}

const unshowable = { toString: () => fail(new Error("cannot be shown")), message: "hidden" };
const bare = Object.create(null);

type Then = (done: (value: unknown) => void, no: (why: unknown) => void) => void;

function likePromise(then: Then): object {
  return { then };
}

function cycle(): object {
  const loop: Record<string, unknown> = { name: "loop" };
  loop["self"] = loop;
  return loop;
}

class Account {
  readonly #balance = 5;
  get balance() {
    return this.#balance;
  }
}

/** Runs a tool that behaves like this beside one that works, and shows what became of its call. */
async function callOf(execute: () => unknown) {
  unhandled.length = 0;
  const odd = defineTool({ name: "odd", execute });
  const sound = defineTool({ name: "sound", execute: () => "fine" });
  const { results, told } = await runCalls([odd, sound], ["odd", "sound"]);
  await settled();
  expect(unhandled).toEqual([]);
  expect(told[1]).toEqual({ type: "text", value: "fine" });
  const output = results[0]?.output;
  if (output === undefined) throw new Error("the call has no result");
  return { output, told: told[0] };
}

const THROWN: [string, unknown, string][] = [
  ["an Error", new Error("no luck"), "no luck"],
  ["an Error without words", new TypeError(), "TypeError"],
  [
    "an Error whose message throws",
    Object.defineProperty(new Error("x"), "message", { get: () => fail(1) }),
    "",
  ],
  ["a text", "no luck", "no luck"],
  ["an empty text", "", ""],
  ["null", null, "null"],
  ["undefined", undefined, "undefined"],
  ["a symbol", Symbol("no luck"), "Symbol(no luck)"],
  ["an object that cannot be shown", unshowable, ""],
  ["an object without a prototype", bare, ""],
];

describe("T1 a tool that throws gives its call alone an error result", () => {
  const ways: [string, (what: unknown) => () => unknown][] = [
    ["at once", (what) => () => fail(what)],
    ["later", (what) => () => Promise.resolve().then(() => fail(what))],
  ];
  const cases = THROWN.flatMap(([name, what, message]) =>
    ways.map(([when, way]) => [name, when, way(what), message] as const),
  );

  test.each(cases)("T1 %s, %s", async (_name, _when, execute, message) => {
    const { output, told } = await callOf(execute);

    expect(output).toMatchObject({ type: "error", failure: { code: "tool_failed" } });
    expect(told).toMatchObject({ type: "error-text", value: expect.stringContaining(message) });
    expect(told).not.toMatchObject({ value: "" });
  });
});

const INVALID: [string, () => unknown, RegExp][] = [
  ["nothing", () => undefined, /it returned nothing; return a JSON value/],
  ["a function", () => () => 1, /it returned a function/],
  ["a symbol", () => Symbol("x"), /it returned a symbol/],
  ["a BigInt", () => 5n, /it returned a bigint/],
  ["NaN", () => Number.NaN, /it returned NaN, which JSON cannot express/],
  ["infinity", () => Number.NEGATIVE_INFINITY, /it returned -Infinity/],
  ["a cycle", cycle, /cannot be written as JSON \(Converting circular structure/],
  [
    "a BigInt in an object",
    () => ({ total: 5n }),
    /cannot be written as JSON \(Do not know how to serialize a BigInt\)/,
  ],
  [
    "a getter that throws",
    () => ({
      get x() {
        return fail(new Error("not today"));
      },
    }),
    /\(not today\)/,
  ],
  ["a toJSON that throws", () => ({ toJSON: () => fail(new Error("not today")) }), /\(not today\)/],
  [
    "a toJSON that throws what cannot be shown",
    () => ({ toJSON: () => fail(unshowable) }),
    /cannot be shown/,
  ],
  ["a toJSON that gives nothing", () => ({ toJSON: () => undefined }), /has no JSON form/],
  ["a Map", () => new Map([["a", 1]]), /it returned an object of Map, of which nothing is left in JSON/],
  ["a Set", () => new Set([1]), /it returned an object of Set/],
  ["an Error", () => new Error("returned, not thrown"), /it returned an object of Error/],
  ["an object that keeps everything private", () => new Account(), /it returned an object of Account/],
  ["65 MB of text", () => "x".repeat(65_000_000), /too large \(65000000 characters, at most 64000000\)/],
  [
    "an object nested without end",
    () => JSON.parse("[".repeat(50_000) + "]".repeat(50_000)),
    /cannot be written as JSON/,
  ],
  [
    "an object whose prototype throws",
    () => new Proxy({}, { getPrototypeOf: () => fail(1), ownKeys: () => fail(1) }),
    /cannot be written/,
  ],
];

describe("T1 a tool that returns what JSON cannot hold gives its call alone an error result", () => {
  const cases = INVALID.flatMap(([name, make, message]) => [
    [name, "at once", make, message] as const,
    [name, "later", async () => make(), message] as const,
  ]);

  test.each(cases)("T1 %s, %s", async (_name, _when, execute, message) => {
    const { output, told } = await callOf(execute);

    expect(output).toMatchObject({ type: "error", failure: { code: "tool_result_invalid" } });
    expect(told).toMatchObject({ value: expect.stringMatching(message) });
    expect(told).toMatchObject({ value: expect.stringMatching(/^The tool odd ran, but /) });
    expect(JSON.stringify(told).length).toBeLessThan(500);
  });
});

const VALID: [string, () => unknown, unknown][] = [
  ["a text", () => "x", { type: "text", value: "x" }],
  ["an empty text", () => "", { type: "text", value: "" }],
  ["null", () => null, { type: "json", value: null }],
  ["false", () => false, { type: "json", value: false }],
  ["zero", () => 0, { type: "json", value: 0 }],
  ["an empty object", () => ({}), { type: "json", value: {} }],
  ["an empty list", () => [], { type: "json", value: [] }],
  [
    "an object without a prototype",
    () => Object.assign(Object.create(null), { a: 1 }),
    { type: "json", value: { a: 1 } },
  ],
  ["a Date", () => new Date(0), { type: "json", value: "1970-01-01T00:00:00.000Z" }],
  [
    "an object with a Date and something undefined",
    () => ({ at: new Date(0), no: undefined }),
    { type: "json", value: { at: "1970-01-01T00:00:00.000Z" } },
  ],
  ["an object with a toJSON", () => ({ toJSON: () => ({ a: 1 }) }), { type: "json", value: { a: 1 } }],
  [
    "a key __proto__",
    () => JSON.parse('{"__proto__":{"polluted":true}}'),
    { type: "json", value: JSON.parse('{"__proto__":{"polluted":true}}') },
  ],
  ["30 kB of text", () => "x".repeat(30_000), { type: "text", value: "x".repeat(30_000) }],
  [
    "what behaves like a promise",
    () => likePromise((done) => done("later")),
    { type: "text", value: "later" },
  ],
];

describe("T1 a tool that returns JSON, or what becomes JSON, succeeds", () => {
  test.each(VALID)("T1 %s", async (_name, execute, expected) => {
    const { output, told } = await callOf(execute);

    expect(output).toEqual(expected);
    expect(told).toEqual(expected);
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });

  test("T1 what a tool does to its result afterwards changes nothing", async () => {
    const result = { total: 1, parts: [1] };
    const { output } = await callOf(() => result);
    result.total = 2;
    result.parts.push(2);

    expect(output).toEqual({ type: "json", value: { total: 1, parts: [1] } });
    expect(() => Object.assign(output.type === "json" ? Object(output.value) : {}, { total: 3 })).toThrow(
      TypeError,
    );
  });
});

describe("T1 promises that behave badly", () => {
  const bad: [string, () => unknown][] = [
    ["a then that throws", () => likePromise(() => fail(new Error("no then")))],
    ["a then that rejects", () => likePromise((_, no) => no(new Error("no then")))],
    [
      "a then that cannot be read",
      () => new Proxy({}, { has: () => true, get: () => fail(new Error("no then")) }),
    ],
  ];

  test.each(bad)("T1 %s fails its call alone", async (_name, execute) => {
    const { output, told } = await callOf(execute);

    expect(output).toMatchObject({ type: "error", failure: { code: "tool_failed" } });
    expect(told).toMatchObject({ value: "no then" });
  });

  test("T5 a tool that rejects after its time, or after its siblings, rejects to nobody", async () => {
    unhandled.length = 0;
    const clock = manualClock();
    const late = (ms: number) => () =>
      new Promise<never>((_, reject) => void clock.after(ms, () => reject(new Error("too late"))));
    const tools = [
      defineTool({ name: "late", timeoutMs: 10, execute: late(20) }),
      defineTool({
        name: "slow",
        execute: () => new Promise<string>((done) => void clock.after(40, () => done("slow"))),
      }),
    ];
    const { results } = await clock.finish(runCalls(tools, ["late", "slow"], { clock }));
    await settled();

    expect(results.map(({ metadata }) => metadata.status)).toEqual(["timed_out", "success"]);
    expect(unhandled).toEqual([]);
  });

  test("T1 one call of each kind at once: every call has its own result, in call order", async () => {
    const kinds = [
      ...THROWN.map(
        ([, what]) =>
          () =>
            fail(what),
      ),
      ...INVALID.map(([, make]) => make),
      ...VALID.map(([, make]) => make),
    ];
    const tools = kinds.map((execute, i) => defineTool({ name: `tool${i}`, execute }));
    const { results, result } = await runCalls(
      tools,
      tools.map(({ name }) => name),
    );

    expect(results.map(({ tool }) => tool)).toEqual(tools.map(({ name }) => name));
    expect(results.filter(({ metadata }) => metadata.status === "success")).toHaveLength(VALID.length);
    expect((result satisfies RunResult<string>).steps).toBe(2);
  });
});
