// Sub-agents at the same time, each with an answer of its own shape. What they do is seen under their path.
import { Agent, defineTool } from "trackside";
import { type ScriptedReply, scriptedModel } from "trackside/testing";
import * as z from "zod";

const lookUp = defineTool({
  name: "look_up",
  input: z.object({ what: z.string() }),
  effect: "none",
  execute: ({ what }) =>
    ({ "people of Ghent": 273_000, "rivers of Ghent": ["Scheldt", "Leie"] })[what] ?? null,
});

const jobs = [
  {
    task: "How many people live in Ghent?",
    tool_names: ["look_up"],
    output_schema: { type: "object", properties: { people: { type: "integer" } }, required: ["people"] },
  },
  {
    task: "Which rivers meet in Ghent?",
    output_schema: { type: "array", items: { type: "string" }, minItems: 2 },
  },
  { task: "Say something nice about Ghent", system_prompt: "You are a poet.", tool_names: [] },
];

/** What each agent says, found by what it was asked. A real model needs none of this. */
const said: Record<string, (string | ScriptedReply)[]> = {
  "Tell me": [{ calls: [{ tool: "spawn_parallel", args: { jobs } }] }, "Here is what we found."],
  people: [{ calls: [{ tool: "look_up", args: { what: "people of Ghent" } }] }, '{"people": 273000}'],
  rivers: [
    { calls: [{ tool: "look_up", args: { what: "rivers of Ghent" } }] },
    "The Scheldt and the Leie.", // does not fit its schema: it is sent back, once
    '["Scheldt", "Leie"]',
  ],
  nice: ["Three towers, one sky."],
};
const model = scriptedModel(
  [
    ({ prompt }) => {
      const asked = JSON.stringify(prompt.find(({ role }) => role === "user"));
      const [, steps = []] = Object.entries(said).find(([words]) => asked.includes(words)) ?? [];
      return steps.shift() ?? "";
    },
  ],
  { loop: true },
);

const agent = new Agent({
  name: "researcher",
  model,
  tools: [lookUp],
  allowParallelSubagents: true,
  maxParallelSubagents: 3,
});
const stream = agent.stream("Tell me about Ghent");
for await (const event of stream) {
  if (event.type === "subagent") console.log(`job ${event.index} ${event.state} ${event.status ?? ""}`);
  if (event.type === "tool_call") console.log(`${event.path.join("/") || "researcher"} calls ${event.tool}`);
}
const { output, messages, usage } = await stream.result;
const withoutUsage = (key: string, value: unknown) => (key === "usage" ? undefined : value);
for (const message of messages)
  if (message.role === "tool") console.log(JSON.stringify(message.output, withoutUsage, 1));
console.log(output, `${usage.model_calls} model calls in all`);
