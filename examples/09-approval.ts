// A human approves, and edits what will run. The model is told what really ran.
import { Agent, ask, defineRail, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import * as z from "zod";

const deploy = defineTool({
  name: "deploy",
  input: z.object({ service: z.string(), replicas: z.number().int().max(10) }),
  execute: ({ service, replicas }) => `${service} runs with ${replicas} replicas`,
});
const production = defineRail({ name: "production", on: ["PRE_TOOL_CALL"], asks: true }, (ctx) => {
  if (ctx.inputs.toolName === "deploy") return ask("this reaches customers");
});
const model = scriptedModel([
  { calls: [{ tool: "deploy", args: { service: "shop", replicas: 9 } }] },
  "Deployed, with 3 replicas as you wished.",
]);
const agent = new Agent({ name: "ops", model, tools: [deploy], rails: [production] });

const stream = agent.stream("Deploy the shop");
for await (const event of stream) {
  if (event.type !== "approval" || event.state !== "pending") continue;
  const request = stream.pending.find(({ id }) => id === event.approval_id);
  console.log(`${request?.tool} ${JSON.stringify(request?.arguments)}? ${request?.reasons.join(", ")}`);
  await stream.decide(event.approval_id, {
    choice: "approve",
    by: "ann",
    editedArguments: { service: "shop", replicas: 3 },
  });
}
const { output, messages } = await stream.result;
for (const message of messages) if (message.role === "tool") console.log(message.output, message.told);
console.log(output);
