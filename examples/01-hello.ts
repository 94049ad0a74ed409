import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import * as z from "zod";

const add = defineTool({
  name: "add",
  description: "Adds two numbers",
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

// A scripted model, so that this runs without a key. For a real one: model: "openai:gpt-4o".
const model = scriptedModel([{ calls: [{ tool: "add", args: { a: 2, b: 3 } }] }, "2 + 3 is 5."]);
const agent = new Agent({ name: "calculator", model, instructions: "Use the tools.", tools: [add] });

const { output, steps } = await agent.run("What is 2 + 3?");
console.log(`${output} (${steps} steps)`);
