import type { StandardSchemaV1 } from "@standard-schema/spec";
import { Agent, defineTool, type JsonObject } from "trackside";
import { scriptedModel } from "trackside/testing";
import { describe, expect, test } from "vitest";
import * as z from "zod";
import { runCalls } from "../support/run-calls.ts";

const JSON_SCHEMA: JsonObject = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
  required: ["city"],
  additionalProperties: false,
};

/** A Standard Schema of one's own: a city, and days with a default. */
function handmade(describes: boolean): StandardSchemaV1<{ city: string }, { city: string; days: number }> {
  const standard: StandardSchemaV1.Props<{ city: string }, { city: string; days: number }> = {
    version: 1,
    vendor: "handmade",
    validate(value) {
      const { city, days = 1 } = value as { city?: unknown; days?: number }; // a JSON object
      if (typeof city !== "string")
        return { issues: [{ message: "a city is a text", path: [{ key: "city" }] }] };
      return { value: { city, days } };
    },
  };
  const jsonSchema = { input: () => JSON_SCHEMA };
  return { "~standard": describes ? Object.assign(standard, { jsonSchema }) : standard };
}

const kinds = {
  zod: z.strictObject({ city: z.string(), days: z.int().min(1).default(1) }),
  "a Standard Schema that describes itself": handmade(true),
  "raw JSON Schema": JSON_SCHEMA,
};

describe.each(Object.entries(kinds))("T1 with %s", (_kind, input) => {
  const given: unknown[] = [];
  const weather = defineTool({
    name: "weather",
    input,
    execute(args) {
      given.push(args);
      return "rain";
    },
  });

  test("T1 the model is shown its JSON Schema", async () => {
    const { requests } = await runCalls([weather], [{ tool: "weather", args: { city: "Oslo" } }]);

    expect(requests[0]?.tools).toMatchObject([
      {
        type: "function",
        name: "weather",
        inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      },
    ]);
  });

  test("T1 arguments that fit reach the tool", async () => {
    const { results } = await runCalls([weather], [{ tool: "weather", args: { city: "Oslo", days: 2 } }]);

    expect(given.at(-1)).toEqual({ city: "Oslo", days: 2 });
    expect(results[0]?.output).toEqual({ type: "text", value: "rain" });
  });

  test("T1 arguments that do not fit fail alone, with what is wrong, and siblings run", async () => {
    const before = given.length;
    const { results, told } = await runCalls(
      [weather],
      [
        { tool: "weather", args: { city: 5 } },
        { tool: "weather", args: { city: "Oslo" } },
        { tool: "weather", args: {} },
      ],
    );

    expect(results.map(({ output }) => output.type)).toEqual(["error", "text", "error"]);
    expect(told.map(({ type }) => type)).toEqual(["error-text", "text", "error-text"]);
    expect(told[0]).toMatchObject({ value: expect.stringMatching(/^The tool weather was not run: .*city/) });
    expect(given.length - before).toBe(1);
  });
});

describe("T1 what a schema makes of the arguments is what the tool gets", () => {
  test("T1 defaults and transforms", async () => {
    const input = z.object({
      city: z.string().transform((text) => text.toUpperCase()),
      days: z.coerce.number().default(3),
    });
    const fromZod = defineTool({ name: "fromZod", input, execute: (args) => args });
    const own = defineTool({
      name: "own",
      input: handmade(false),
      jsonSchema: JSON_SCHEMA,
      execute: (args) => args,
    });
    const { told } = await runCalls(
      [fromZod, own],
      [
        { tool: "fromZod", args: { city: "Oslo" } },
        { tool: "own", args: { city: "Oslo" } },
      ],
    );

    expect(told).toEqual([
      { type: "json", value: { city: "OSLO", days: 3 } },
      { type: "json", value: { city: "Oslo", days: 1 } },
    ]);
  });

  test("T1 the call in the log keeps what the model wrote, whatever the tool does to its arguments", async () => {
    const spoil = (args: unknown) => {
      Object.assign(args as object, { city: "nowhere" });
      return "ok";
    };
    const tools = [
      defineTool({ name: "raw", input: { type: "object" }, execute: spoil }),
      defineTool({ name: "own", input: handmade(true), execute: spoil }),
      defineTool({ name: "loose", input: z.any(), jsonSchema: { type: "object" }, execute: spoil }),
    ];
    const { result, requests } = await runCalls(
      tools,
      tools.map(({ name }) => ({ tool: name, args: { city: "Oslo" } })),
    );

    const [, asked] = result.messages;
    const parts = asked?.role === "assistant" ? asked.parts : [];
    for (const part of parts) expect(part).toMatchObject({ type: "tool_call", arguments: { city: "Oslo" } });
    expect(JSON.stringify(requests[1]?.prompt)).not.toContain("nowhere");
  });

  test("T1 asynchronous refinements are waited for, and asked once for each call", async () => {
    let asked = 0;
    const known = async (city: string) => {
      asked++;
      await new Promise((resolve) => setImmediate(resolve));
      return city === "Oslo";
    };
    const input = z.object({ city: z.string().refine(known, "no such city") });
    const tool = defineTool({ name: "weather", input, execute: () => "rain" });
    const { told } = await runCalls(
      [tool],
      [
        { tool: "weather", args: { city: "Oslo" } },
        { tool: "weather", args: { city: "Atlantis" } },
      ],
    );

    expect(told).toEqual([
      { type: "text", value: "rain" },
      { type: "error-text", value: "The tool weather was not run: city: no such city." },
    ]);
    expect(asked).toBe(2);
  });
});

describe("T1 a schema that itself fails", () => {
  const down = () => {
    throw new Error("the database is down");
  };
  const broken = {
    "a refinement that throws": z.object({ city: z.string().refine(down) }),
    "a refinement that rejects": z.object({ city: z.string().refine(async () => down()) }),
    "a transform that throws": z.object({ city: z.string().transform(down) }),
    "a Standard Schema that throws": {
      "~standard": { version: 1, vendor: "handmade", validate: down },
    } as StandardSchemaV1,
    "a Standard Schema that rejects": {
      "~standard": { version: 1, vendor: "handmade", validate: async () => down() },
    } as StandardSchemaV1,
    "a JSON Schema with a reference to nowhere": {
      type: "object",
      properties: { city: { $ref: "#/nowhere" } },
    },
  };

  test.each(Object.entries(broken))("T1 %s fails that call alone", async (_what, input) => {
    let ran = false;
    const jsonSchema = "~standard" in input ? { jsonSchema: JSON_SCHEMA } : {};
    const fragile = defineTool({ name: "fragile", input, ...jsonSchema, execute: () => (ran = true) });
    const sound = defineTool({ name: "sound", execute: () => "fine" });
    const { results, told } = await runCalls(
      [fragile, sound],
      [{ tool: "fragile", args: { city: "Oslo" } }, "sound"],
    );

    expect(results[0]?.output).toMatchObject({ type: "error", failure: { code: "tool_arguments_invalid" } });
    expect(told[0]).toMatchObject({ value: expect.stringMatching(/^The tool fragile was not run: /) });
    expect(told[1]).toEqual({ type: "text", value: "fine" });
    expect(ran).toBe(false);
  });
});

describe("T1 a result that is declared is checked", () => {
  const report = (result: unknown) =>
    defineTool({ name: "report", output: z.object({ total: z.number() }), execute: () => result });

  test("T1 one that fits is given to the model", async () => {
    const { told } = await runCalls([report({ total: 5 })], ["report"]);

    expect(told).toEqual([{ type: "json", value: { total: 5 } }]);
  });

  test("T1 one that does not says so", async () => {
    const { results, told } = await runCalls([report({ total: "five" })], ["report"]);

    expect(results[0]?.output).toMatchObject({ type: "error", failure: { code: "tool_result_invalid" } });
    expect(told[0]).toMatchObject({
      value: expect.stringMatching(/^The tool report ran, but its result does not fit its schema: total: /),
    });
  });
});

test("T1 a tool without a schema takes no arguments", async () => {
  const ping = defineTool({ name: "ping", execute: () => "pong" });
  const { told, requests } = await runCalls(
    [ping],
    ["ping", { tool: "ping", rawArgs: "" }, { tool: "ping", args: { a: 1 } }],
  );

  expect(told.map(({ type }) => type)).toEqual(["text", "text", "error-text"]);
  expect(requests[0]?.tools).toMatchObject([{ inputSchema: { type: "object", properties: {} } }]);
});

test("T1 the schema of a tool is derived once, however many agents and runs use it", async () => {
  let derived = 0;
  const standard = {
    version: 1 as const,
    vendor: "handmade",
    validate: (value: unknown) => ({ value }),
    jsonSchema: {
      input() {
        derived++;
        return JSON_SCHEMA;
      },
    },
  };
  const tool = defineTool({ name: "weather", input: { "~standard": standard }, execute: () => "rain" });
  for (let i = 0; i < 3; i++) {
    const model = scriptedModel([{ calls: [{ tool: "weather", args: { city: "Oslo" } }] }, "done"]);
    await new Agent({ name: "clerk", model, tools: [tool] }).run("Go");
  }

  expect(derived).toBe(1);
});
