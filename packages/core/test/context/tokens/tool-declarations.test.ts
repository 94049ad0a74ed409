import { describe, expect, it } from "vitest";
import { declareTools } from "../../../src/context/tool-declarations.ts";

const declare = (inputSchema: object, description?: string) =>
  declareTools([{ name: "act", description, inputSchema }]);

describe("B6 tools as OpenAI's models read them", () => {
  it("B6 are declarations with comments", () => {
    const schema = {
      type: "object",
      properties: {
        city: { type: "string", description: "Where" },
        days: { type: "integer", default: 3 },
        units: { enum: ["metric", "imperial"] },
        tags: { type: "array", items: { type: "string" } },
        limit: { anyOf: [{ type: "number" }, { type: "null" }] },
      },
      required: ["city"],
    };
    expect(declare(schema, "Looks up\nthe weather")).toBe(
      [
        "# Tools\n\n## functions\n\nnamespace functions {\n",
        "// Looks up\n// the weather\ntype act = (_: {",
        "// Where\ncity: string,",
        "days?: number, // default: 3",
        'units?: "metric" | "imperial",',
        "tags?: string[],",
        "limit?: number | null,",
        "}) => any;\n\n} // namespace functions",
      ].join("\n"),
    );
  });

  it("B6 a schema that refers to itself ends, however it branches", () => {
    const self = { $ref: "#/$defs/Node" };
    const properties = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`child_${i}`, self]));
    const schema = {
      type: "object",
      properties: { root: self },
      $defs: { Node: { type: "object", properties } },
    };
    expect(declare(schema).length).toBeLessThan(2_000);
  });

  it("B6 a schema that names its types over and over is not written over and over", () => {
    let schema: object = { type: "string" };
    for (let i = 0; i < 12; i++) schema = { type: Array(20).fill("object"), properties: { inner: schema } };
    expect(declare(schema).length).toBeLessThan(2_000);
  });

  it("B6 takes what is no schema at all", () => {
    const odd = {
      properties: { a: true, b: null, c: [], d: { $ref: "#/nowhere" }, e: { type: 5 } },
      required: "a",
    };
    expect(() => declare(odd)).not.toThrow();
    expect(declare({})).toContain("type act = () => any;");
  });
});
