// One definition as JSON with everything in it: a plan, a budget, humans, hidden arguments and sub-agents.
import { strict as assert } from "node:assert";
import { Agent, defineTool, localEngine } from "trackside";
import { type ScriptedReply, scriptedModel } from "trackside/testing";
import * as z from "zod";

const definition = {
  name: "ops-supervisor",
  model: "openai:gpt-4o",
  instructions: "Plan first, execute carefully, and escalate dangerous actions.",
  max_steps: 12,
  temperature: 0.2,
  max_tokens: 4096,
  planning_enabled: true,
  planning_model: "openai:gpt-4o-mini",
  planning_instructions: "Return a short numbered execution plan before acting.",
  budget_awareness: "limit:70",
  hitl_tools: ["deploy_service", "rotate_credentials"],
  emit_mcp_progress: true,
  injected_tool_args: {
    ui_request_id: "Opaque UI correlation id exposed only in tool schemas.",
    run_origin: "Short label for the caller surface, such as playground or workflow.",
  },
  allow_parallel_subagents: true,
  max_parallel_subagents: 4,
};

const deploy = defineTool({
  name: "deploy_service",
  input: z.object({ service: z.string(), replicas: z.number().int() }),
  execute: (args, { progress }) => {
    progress({ progress: 0.5, message: "half of it is up" });
    return `${"pulled a layer\n".repeat(400)}deployed ${JSON.stringify(args)}`;
  },
});
const rotate = defineTool({
  name: "rotate_credentials",
  input: z.object({ service: z.string() }),
  execute: ({ service }) => `rotated the keys of ${service}`,
});
const status = defineTool({
  name: "service_status",
  input: z.object({ service: z.string() }),
  effect: "none",
  execute: ({ service }) => ({ service, healthy: true }),
});

const agent = Agent.fromJSON(definition, { tools: [deploy, rotate, status] });
assert.deepEqual(agent.toJSON(), definition); // field for field

/** Stands in for gpt-4o: who asks, and how far it has come, decides what it says. It reports no usage. */
const silent = { usage: { input: 0, output: 0 } };
const jobs = ["shop", "payments"].map((service) => ({
  task: `Check ${service}`,
  tool_names: ["service_status"],
}));
const supervisor: ScriptedReply[] = [
  { calls: [{ tool: "spawn_parallel", args: { jobs, run_origin: "playground" } }] },
  { calls: [{ tool: "deploy_service", args: { service: "shop", replicas: 9, ui_request_id: "r7" } }] },
  { calls: [{ tool: "rotate_credentials", args: { service: "payments" } }] },
  { calls: [{ tool: "deploy_service", args: { service: "payments", replicas: 3 } }] },
  { text: "Both run with 3 replicas. The keys of payments stay, as you wished." },
];
const gpt4o = scriptedModel(
  [
    ({ prompt }) => {
      const checked = /Check (shop|payments)/.exec(JSON.stringify(prompt[1]))?.[1];
      if (checked === undefined) return { ...silent, ...supervisor.shift() };
      const done = prompt.some(({ role }) => role === "tool");
      const look = { calls: [{ tool: "service_status", args: { service: checked } }] };
      return { ...silent, ...(done ? { text: `${checked} is healthy` } : look) };
    },
  ],
  { loop: true },
);
const planner = scriptedModel([
  "1. Check both services\n2. Deploy the shop\n3. Rotate the keys of payments and deploy it",
]);

const engine = localEngine({
  models: { "openai:gpt-4o": gpt4o, "openai:gpt-4o-mini": planner },
  modelTable: { "openai:gpt-4o": { window: 6_000, output: 4_096 } }, // small, to see the budget at work
});
const stream = agent.stream("Deploy the shop, rotate the keys of payments, deploy payments", { engine });
for await (const event of stream) {
  const who = event.path.join("/") || "supervisor";
  if (event.type === "plan") console.log("plan:", event.plan?.steps.map(({ title }) => title).join(" / "));
  if (event.type === "tool_call") console.log(`${who}: ${event.tool} ${JSON.stringify(event.arguments)}`);
  if (event.type === "mcp_progress") console.log(`${who}: ${event.message}`);
  if (event.type === "context")
    console.log(`${event.action}: ${event.tokens_before} → ${event.tokens_after}`);
  if (event.type === "tool_result") {
    const { approval_status, injected_args } = event.metadata;
    console.log(`${who}: ${event.tool} ${approval_status} ${JSON.stringify(injected_args)}`);
  }
  if (event.type !== "approval" || event.state !== "pending") continue;
  const decision =
    event.tool === "deploy_service"
      ? { choice: "approve", editedArguments: { ...stream.pending[0]?.arguments, replicas: 3 } }
      : { choice: "reject", reason: "not before the audit" };
  await stream.decide(event.approval_id, { ...decision, by: "ann" });
}
const { output, stopReason, usage } = await stream.result;
console.log(`${stopReason}: ${output} (${usage.model_calls} model calls)`);
