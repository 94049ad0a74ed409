// A rail in ten lines: it sees every tool call before it runs, with arguments it need not cast.
import { Agent, abort, defineTool, Rail, RailAbortError, type RailContext, skip } from "trackside";
import { scriptedModel } from "trackside/testing";
import * as z from "zod";

class Budget extends Rail {
  override handle(ctx: RailContext) {
    if (ctx.event !== "PRE_TOOL_CALL" || ctx.inputs.toolName !== "pay") return;
    const amount = Number(ctx.inputs.arguments["amount"]);
    if (amount > 1000) return abort(`${amount} is far too much`);
    if (amount > 100) return skip("ask for 100 at most");
  }
}

const pay = defineTool({
  name: "pay",
  input: z.object({ to: z.string(), amount: z.number() }),
  execute: ({ to, amount }) => `paid ${amount} to ${to}`,
});
const asks = (amount: number) => ({ calls: [{ tool: "pay", args: { to: "Ann", amount } }] });
const model = scriptedModel([asks(500), asks(50), "Ann has her 50.", asks(5000)]);
const agent = new Agent({
  name: "clerk",
  model,
  tools: [pay],
  rails: [new Budget("budget", { priority: 10 })],
});

const { output, messages } = await agent.run("Pay Ann 500");
for (const message of messages)
  if (message.role === "tool") console.log(message.metadata.status, message.output);
console.log(output);

try {
  await agent.run("Pay Ann 5000");
} catch (error) {
  if (error instanceof RailAbortError) console.log(`${error.railName} at ${error.point}: ${error.reason}`);
}
