// A workflow: research in parallel, a human's yes, then the deploy. It is guarded, durable and approvable as agents are.
import { Agent, defineTool, defineWorkflow } from "trackside";
import { scriptedModel } from "trackside/testing";
import * as z from "zod";

const deploy = defineTool({
  name: "deploy",
  input: z.object({ service: z.string(), window: z.enum(["day", "night"]) }),
  output: z.object({ url: z.string(), at: z.string() }),
  execute: ({ service, window }) => ({ url: `https://${service}.example.com`, at: `by ${window}` }),
});
const reviewer = new Agent({
  name: "reviewer",
  model: scriptedModel(["No open incident.", "All tests pass."], { loop: true }),
});

const release = defineWorkflow({
  name: "release",
  input: z.object({ service: z.string(), checks: z.array(z.string()) }),
  output: z.object({ url: z.string(), reviews: z.array(z.string()) }),
  nodes: {
    review: {
      kind: "map",
      over: "{{ input.checks }}",
      concurrency: 1,
      do: { kind: "agent", agent: reviewer, prompt: "Check {{ item }} of {{ input.service }}." },
    },
    ask: {
      kind: "approval",
      message: "Deploy {{ input.service }}?",
      show: { reviews: "{{ nodes.review }}" },
      response: z.object({ window: z.enum(["day", "night"]) }),
    },
    deploy: {
      kind: "tool",
      tool: deploy,
      arguments: { service: "{{ input.service }}", window: "{{ nodes.ask.window }}" },
    },
  },
  edges: [
    { from: "review", to: "ask" },
    { from: "ask", to: "deploy" },
  ],
  result: { url: "{{ nodes.deploy.url }}", reviews: "{{ nodes.review }}" },
});

const stream = release.stream({ service: "shop", checks: ["incidents", "tests"] });
for await (const event of stream) {
  if (event.type === "node" && event.state !== "started") console.log(`${event.node} ${event.state}`);
  if (event.type !== "approval" || event.state !== "pending") continue;
  console.log(event.reasons[0], JSON.stringify(stream.pending[0]?.arguments));
  await stream.decide(event.approval_id, { choice: "approve", response: { window: "night" }, by: "ann" });
}
const { output } = await stream.result;
console.log(output.url, output.reviews.length);
