// Plan first, then act. The plan is an event and part of the result; nothing else of the planner stays.
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import * as z from "zod";

const tickets = defineTool({ name: "open_tickets", effect: "none", execute: () => ["T-1", "T-2"] });
const close = defineTool({
  name: "close_ticket",
  input: z.object({ ticket: z.string() }),
  execute: ({ ticket }) => `${ticket} is closed`,
});

// The planner has a model of its own here, and may look before it plans.
const planner = scriptedModel([
  { calls: [{ tool: "open_tickets" }] },
  "1. Close T-1 with close_ticket\n2. Close T-2 with close_ticket\n   - it is the newer one\n3. Say what was closed",
]);
const executor = scriptedModel([
  { calls: ["T-1", "T-2"].map((ticket) => ({ tool: "close_ticket", args: { ticket } })) },
  "Both tickets are closed.",
]);
const agent = new Agent({
  name: "clerk",
  model: executor,
  planningEnabled: true,
  planningModel: planner,
  tools: [tickets, close],
});

const stream = agent.stream("Close all open tickets");
for await (const event of stream) {
  const who = event.path.join("/") || "executor"; // what the planner does is under the path `planner`
  if (event.type === "tool_call") console.log(`${who} calls ${event.tool}`);
  if (event.type === "plan") console.log(`${event.plan?.steps.length} steps are planned`);
}
const { output, plan, messages } = await stream.result;
for (const [i, { title, detail }] of plan?.steps.entries() ?? []) console.log(i + 1, title, detail ?? "");
console.log(output);

const last = executor.requests[0]?.prompt.at(-1);
console.log("the executor was sent the plan:", JSON.stringify(last).includes("Close T-2"));
console.log("the log has it:", JSON.stringify(messages).includes("newer one"));
