// Triage hands the turn to a specialist, who sees the whole conversation, and who hands it back by name.
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import * as z from "zod";

const refund = defineTool({
  name: "refund",
  input: z.object({ order: z.number() }),
  execute: ({ order }) => `order ${order} is refunded`,
});

const billing = new Agent({
  name: "billing",
  model: scriptedModel([
    { calls: [{ tool: "refund", args: { order: 17 } }] },
    {
      calls: [
        {
          tool: "handoff_to_triage",
          args: { reason: "the parcel is not ours", input: "Answer on the parcel" },
        },
      ],
    },
  ]),
  instructions: "Invoices, payments and refunds.\nBe exact.", // the first line is what others are told of it
  tools: [refund],
  handoffs: ["triage"], // by name, since neither can be made before the other
});
const triage = new Agent({
  name: "triage",
  model: scriptedModel([
    { calls: [{ tool: "handoff_to_billing", args: { reason: "a refund" } }] },
    "Order 17 is refunded, and your parcel comes tomorrow.",
  ]),
  instructions: "Answer, or find somebody who can.",
  handoffs: [billing],
});

const stream = triage.stream("Refund order 17. And where is my parcel?");
for await (const event of stream) {
  if (event.type === "handoff") console.log(`${event.from} → ${event.to}: ${event.reason}`);
  if (event.type === "tool_result") console.log(event.tool, JSON.stringify(event.output));
}
const { output, steps, messages } = await stream.result;
console.log(output);
console.log(`one log of ${messages.length} messages, ${steps} steps in all`);
