// Three ways to say what a tool takes; all are checked, and shown to the model as JSON Schema.
import { Agent, defineTool, type StandardSchemaV1 } from "trackside";
import { scriptedModel } from "trackside/testing";
import * as z from "zod";

const zod = defineTool({
  name: "with_zod",
  input: z.object({ day: z.string().default("today") }),
  execute: ({ day }) => `zod: ${day}`,
});

const json = defineTool({
  name: "with_json_schema",
  input: { type: "object", properties: { day: { type: "string" } }, required: ["day"] },
  execute: (args) => `json: ${JSON.stringify(args)}`,
});

const own: StandardSchemaV1<{ day: string }> = {
  "~standard": {
    version: 1,
    vendor: "ours",
    validate: (value) =>
      typeof value === "object" && value !== null && "day" in value && typeof value.day === "string"
        ? { value: { day: value.day } }
        : { issues: [{ message: "a day is needed" }] },
  },
};
const standard = defineTool({
  name: "with_standard_schema",
  input: own,
  jsonSchema: { type: "object", properties: { day: { type: "string" } } },
  execute: ({ day }) => `standard: ${day}`,
});

const calls = [zod, json, standard].map(({ name }) => ({
  tool: name,
  args: name === "with_zod" ? {} : { day: "Monday" },
}));
const agent = new Agent({
  name: "a",
  model: scriptedModel([{ calls }, "done"]),
  tools: [zod, json, standard],
});
const { messages } = await agent.run("go");
for (const message of messages)
  if (message.role === "tool" && message.output.type === "text") console.log(message.output.value);
