import { defineTool, describeTool } from "trackside";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { pathsOf, problemsOf } from "../support/problems-of.ts";

/** What a caller without types could pass. */
const define = (config: unknown) => defineTool(config as never);
const SOUND = { name: "sound", execute: () => 1 };

describe("T1 defineTool tells every mistake at once", () => {
  test("T1 a config wrong in every field", () => {
    const config = {
      name: "no spaces",
      description: 5,
      input: "text",
      jsonSchema: { type: "object" },
      output: 5,
      execute: "run",
      executor: "cloud",
      effect: "twice",
      onUnknown: "retry",
      timeoutMs: 0,
      exclusive: "yes",
      resourceKey: 5,
      childSafe: null,
      retries: 3,
      timeoutMS: 5,
    };

    expect(pathsOf(() => define(config))).toEqual(Object.keys(config).sort());
    expect(() => define(config)).toThrow(/^tool "no spaces" has 15 problems:\n/);
  });

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["a text", "tool"],
    ["a function", () => 1],
    ["a BigInt", 1n],
  ])("T1 %s instead of a config", (_what, config) => {
    expect(pathsOf(() => define(config))).toEqual(["(root)"]);
  });

  test("T1 a missing name and function", () => {
    expect(pathsOf(() => define({}))).toEqual(["execute", "name"]);
    expect(() => define({})).toThrow(/^the tool has 2 problems/);
  });

  test("T1 an unknown key is asked what was meant", () => {
    expect(problemsOf(() => define({ ...SOUND, timeoutMS: 5 }))[0]?.message).toContain(
      "did you mean `timeoutMs`?",
    );
  });

  test.each([
    [
      "name",
      ["a", "A-b_9", "x".repeat(64)],
      ["", "a b", "x".repeat(65), "ä", "a.b", "a\n", null, 5n, Symbol("a")],
    ],
    ["timeoutMs", [1, 0.5, 2 ** 31 - 1], [0, -1, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY, "5", null]],
    ["effect", ["none", "idempotent", "once", undefined], ["", "Once", null]],
    ["onUnknown", ["ask", "fail", undefined], ["", null]],
    ["exclusive", [true, false, undefined], [1, null]],
    ["childSafe", [true, false, undefined], [1, null]],
    ["resourceKey", ["disk", () => "disk", undefined], [5, null]],
    ["description", ["", "Adds"], [5, null]],
    [
      "input",
      [z.object({}), {}, { type: "object" }, undefined],
      [null, 5, [], z.string(), z.date(), { type: "string" }],
    ],
    ["output", [z.number(), {}, { type: "string" }, undefined], [null, 5, [], z.date(), { a: () => 1 }]],
  ])("T1 %s is checked", (field, right, wrong) => {
    for (const value of right) expect(() => define({ ...SOUND, [field]: value })).not.toThrow();
    for (const value of wrong) expect(pathsOf(() => define({ ...SOUND, [field]: value }))).toEqual([field]);
  });

  test("T1 a schema that cannot say what it is needs its JSON Schema beside it", () => {
    const input = { "~standard": { version: 1, vendor: "odd", validate: (value: unknown) => ({ value }) } };
    const [found] = problemsOf(() => define({ ...SOUND, input }));

    expect(found?.allowed).toBe(
      "a schema that can describe itself as JSON Schema (odd cannot), or `jsonSchema` beside it",
    );
    expect(() => define({ ...SOUND, input, jsonSchema: { type: "object" } })).not.toThrow();
    expect(() => define({ ...SOUND, input: z.date(), jsonSchema: { type: "object" } })).not.toThrow();
  });

  test("T1 a JSON Schema that would be ignored is a problem", () => {
    const jsonSchema = { type: "object" };

    expect(pathsOf(() => define({ ...SOUND, jsonSchema }))).toEqual(["jsonSchema"]);
    expect(pathsOf(() => define({ ...SOUND, jsonSchema, input: { type: "object" } }))).toEqual([
      "jsonSchema",
    ]);
  });

  test("T8 a client tool has no function, a server tool needs one", () => {
    expect(pathsOf(() => define({ name: "pick", executor: "client", execute: () => 1 }))).toEqual([
      "execute",
    ]);
    expect(pathsOf(() => define({ name: "pick", executor: "server" }))).toEqual(["execute"]);
    expect(defineTool({ name: "pick", executor: "client" }).executor).toBe("client");
  });
});

describe("T5 a tool as it is written down", () => {
  test("T5 with its defaults", () => {
    expect(describeTool(defineTool({ name: "ping", execute: () => 1 }))).toEqual({
      name: "ping",
      description: "",
      input_schema: { type: "object", properties: {}, additionalProperties: false },
      output_schema: null,
      executor: "server",
      effect: "once",
      on_unknown: "ask",
      timeout_ms: null,
      exclusive: false,
      child_safe: true,
    });
  });

  test("T5 with everything said", () => {
    const tool = defineTool({
      name: "read",
      description: "Reads a file",
      input: { type: "object", properties: { path: { type: "string" } } },
      output: { type: "string" },
      execute: () => "text",
      effect: "none",
      onUnknown: "fail",
      timeoutMs: 5000,
      exclusive: true,
      childSafe: false,
    });

    expect(describeTool(tool)).toEqual({
      name: "read",
      description: "Reads a file",
      input_schema: { type: "object", properties: { path: { type: "string" } } },
      output_schema: { type: "string" },
      executor: "server",
      effect: "none",
      on_unknown: "fail",
      timeout_ms: 5000,
      exclusive: true,
      child_safe: false,
    });
  });

  test("T5 a config that changes later changes no tool", () => {
    const config = { name: "ping", execute: () => "pong", timeoutMs: 5 };
    const tool = defineTool(config);
    config.execute = () => "changed";
    config.timeoutMs = 9;

    expect(tool.timeoutMs).toBe(5);
    expect(tool.run({}, {} as never)).toBe("pong"); // this tool looks at no context
    expect(() => Object.assign(tool, { timeoutMs: 9 })).toThrow(TypeError);
  });
});
