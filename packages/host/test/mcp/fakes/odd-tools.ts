import { type FakeTool, serve, text, tool } from "./wire.ts";

/** Tools that no model could be offered as they are. */
const schemas: Record<string, unknown> = {
  "schema-missing": undefined,
  "schema-null": null,
  "schema-text": "object",
  "schema-true": true,
  "schema-of-array": { type: "array" },
  "schema-of-unknown-type": { type: "objekt" },
  "schema-without-type": { properties: { a: { type: "string" } } },
  "schema-bad-required": { type: "object", required: "a" },
  "schema-bad-pattern": { type: "object", properties: { a: { type: "string", pattern: "(" } } },
  "schema-remote": { type: "object", properties: { a: { $ref: "http://127.0.0.1:9/schema" } } },
  "schema-dangling": { type: "object", properties: { a: { $ref: "#/$defs/none" } } },
  "schema-circular": { type: "object", properties: { a: { $ref: "#" } } },
  "schema-proto": JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
  "schema-deep": nested(2_000),
};

const names = [
  "spaces in it",
  "dots.in.it",
  "slash/in/it",
  "ünïcödé",
  "emoji 🛠",
  "",
  "x".repeat(64),
  "x".repeat(500),
  `${"x".repeat(500)}y`,
  "clash one",
  "clash_one",
  "clash.one",
  "twice",
  "twice",
  "__proto__",
  "constructor",
  "toString",
  "mcp__other__tool",
  "line\nbreak",
];

function nested(depth: number): unknown {
  let schema: object = { type: "string" };
  for (let i = 0; i < depth; i++) schema = { type: "object", properties: { a: schema } };
  return schema;
}

const tools: FakeTool[] = [
  tool("echo"),
  ...names.map((name) => tool(name)),
  ...Object.entries(schemas).map(([name, inputSchema]) => ({ name, description: "odd", inputSchema })),
  { name: "description-of-megabytes", description: "d".repeat(3_000_000), inputSchema: { type: "object" } },
  { name: "description-of-number", description: 7 as never, inputSchema: { type: "object" } },
];

serve({
  tools,
  methods: { "tools/call": (params) => text(`called ${String(params["name"])}`) },
});
