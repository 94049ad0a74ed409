// An agent in a file of its own: npm run trackside -- run examples/02-agent-file.ts "Is the shop up?"
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import * as z from "zod";

const status = defineTool({
  name: "service_status",
  description: "Says how a service is doing",
  input: z.object({ service: z.enum(["shop", "payments"]) }),
  effect: "none",
  execute: ({ service }) => ({ service, healthy: service === "shop", checked: "just now" }),
});

// Replace the script by a real model, such as "openai:gpt-4o", or pass --model.
const model = scriptedModel(
  [
    {
      text: "I will check both. ",
      calls: [
        { tool: "service_status", args: { service: "shop" } },
        { tool: "service_status", args: { service: "payments" } },
      ],
    },
    "The shop is up; payments is not healthy.",
  ],
  { loop: true },
);

export default new Agent({ name: "on-call", model, instructions: "Answer from the tools.", tools: [status] });
