import * as fc from "fast-check";
import { defineTool } from "trackside";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { parseArguments } from "../../src/tools/parse-arguments.ts";
import { runCalls } from "../support/run-calls.ts";

const calls: unknown[] = [];
const note = (args: unknown) => {
  calls.push(args);
  return "noted";
};
/** Tools that would take anything, so that only the reading of arguments stands before them. */
const tools = [
  defineTool({ name: "raw", input: {}, execute: note }),
  defineTool({ name: "loose", input: z.looseObject({}), execute: note }),
  defineTool({ name: "record", input: z.record(z.string(), z.any()), execute: note }),
];

const POISON = [
  ["__proto__", '{"__proto__":{"polluted":true}}'],
  ["constructor", '{"constructor":{"prototype":{"polluted":true}}}'],
  ["prototype", '{"prototype":{"polluted":true}}'],
  ["an escaped __proto__", '{"\\u005f_proto__":{"polluted":true}}'],
  ["an escaped constructor", '{"c\\u006Fnstructor":{"polluted":true}}'],
  [
    "a wholly escaped prototype",
    `{"${[..."prototype"].map((c) => `\\u00${c.charCodeAt(0).toString(16)}`).join("")}":1}`,
  ],
  ["__proto__ further down", '{"a":{"b":{"__proto__":{"polluted":true}}}}'],
  ["__proto__ in a list", '{"a":[1,[{"__proto__":{"polluted":true}}]]}'],
  ["__proto__ twice", '{"__proto__":1,"__proto__":{"polluted":true}}'],
] as const;

describe("T1 keys that could reach a prototype reach nothing", () => {
  test.each(POISON)("T1 %s in the arguments", async (_what, rawArgs) => {
    calls.length = 0;
    const { results, told } = await runCalls(tools, [
      ...tools.map(({ name }) => ({ tool: name, rawArgs })),
      { tool: "raw", args: { fine: 1 } },
    ]);

    for (const result of results.slice(0, tools.length))
      expect(result.output).toMatchObject({ type: "error", failure: { code: "tool_arguments_invalid" } });
    expect(told[0]).toMatchObject({
      value: expect.stringContaining("the arguments contain the forbidden key"),
    });
    expect(calls).toEqual([{ fine: 1 }]);
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("polluted");
  });

  test("T1 the same words as values are only words", async () => {
    calls.length = 0;
    const args = { word: "__proto__", words: ["constructor", "\u0070rototype"], "proto\u00e4": 1 };
    await runCalls(tools, [{ tool: "raw", args }]);

    expect(calls).toEqual([args]);
  });

  test("T1 whatever the JSON, no forbidden key gets through and all else arrives as it is", () => {
    const key = fc.oneof(fc.constantFrom("__proto__", "constructor", "prototype", "a"), fc.string());
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string(),
        fc.integer(),
        fc.array(tie("value"), { maxLength: 3 }),
        tie("object"),
      ),
      object: fc
        .array(fc.tuple(key, tie("value")), { maxLength: 3 })
        .map((entries) => `\u0000{${entries.map(([k, v]) => `${spelt(k)}:${asText(v)}`).join(",")}}`),
    }));
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value), { maxLength: 4 }), (entries) => {
        const text = `{${entries.map(([k, v]) => `${spelt(k)}:${asText(v)}`).join(",")}}`;
        const parsed = parseArguments(text);
        const forbidden = hasForbidden(JSON.parse(text));
        expect(parsed.ok).toBe(!forbidden);
        if (parsed.ok) expect(JSON.stringify(parsed.value)).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });
});

/** A JSON text of a key, now and then written in escapes. */
function spelt(key: string): string {
  if (key.length % 2 === 0) return JSON.stringify(key);
  const units = Array.from({ length: key.length }, (_, i) => key.charCodeAt(i).toString(16).padStart(4, "0"));
  return `"${units.map((unit) => `\\u${unit}`).join("")}"`;
}

/** Objects come as JSON text already, marked with a null character, so that a key may be anything. */
function asText(value: unknown): string {
  if (typeof value === "string") return value.startsWith("\u0000{") ? value.slice(1) : JSON.stringify(value);
  return Array.isArray(value) ? `[${value.map(asText).join(",")}]` : JSON.stringify(value);
}

function hasForbidden(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(
    ([key, inner]) => ["__proto__", "constructor", "prototype"].includes(key) || hasForbidden(inner),
  );
}

describe("T1 arguments are read strictly", () => {
  test.each([
    ["a list", "[1]"],
    ["a text", '"x"'],
    ["null", "null"],
    ["a number", "5"],
    ["text around it", 'Sure: {"a":1}'],
    ["two objects", '{"a":1}{"b":2}'],
    ["a cut object", '{"a":1'],
    ["a trailing comma", '{"a":1,}'],
    ["single quotes", "{'a':1}"],
    ["NaN", '{"a":NaN}'],
    ["a comment", '{"a":1} // done'],
  ])("T1 %s is no object of arguments", async (_what, rawArgs) => {
    calls.length = 0;
    const { results } = await runCalls(tools, [{ tool: "raw", rawArgs }]);

    expect(results[0]?.output).toMatchObject({ type: "error", failure: { code: "tool_arguments_invalid" } });
    expect(calls).toEqual([]);
  });

  test("T1 arguments nested without end fail alone", async () => {
    const deep = (levels: number) => `{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    const { told } = await runCalls(tools, [
      ...tools.map(({ name }) => ({ tool: name, rawArgs: deep(100_000) })),
      { tool: "raw", rawArgs: deep(50) },
    ]);

    expect(told.map(({ type }) => type)).toEqual(["error-text", "error-text", "error-text", "text"]);
    expect(told[0]).toMatchObject({ value: expect.stringContaining("nested more than 100 levels deep") });
  });

  test("T1 a hundred thousand keys and a megabyte of text are still arguments", async () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`key${i}`, i]));
    const { told } = await runCalls(tools, [
      { tool: "raw", args: many },
      { tool: "raw", args: { text: "x".repeat(1_000_000) } },
    ]);

    expect(told.map(({ type }) => type)).toEqual(["text", "text"]);
  });
});
