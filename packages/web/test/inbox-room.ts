import { Agent, ask, defineRail, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import type { Parts } from "./support/parts.ts";

/** A control room whose agents ask about everything a human can be asked about, by the word in the user's message. */

const service = { type: "string", description: "storefront, checkout, payments or search" };

const deploy = defineTool({
  name: "deploy_service",
  description: "Deploys a version of a service to production.",
  input: {
    type: "object",
    properties: {
      service,
      version: { type: "string", pattern: "^\\d+\\.\\d+$", description: "such as 2.14" },
      strategy: { type: "string", enum: ["rolling", "canary", "all-at-once"], default: "rolling" },
    },
    required: ["service", "version"],
    additionalProperties: false,
  },
  effect: "once",
  irreversible: true,
  execute: (args) => ({ ...args, deployed: true }),
});

const restart = defineTool({
  name: "restart_service",
  description: "Restarts the instances of a service one after the other.",
  input: {
    type: "object",
    properties: {
      service,
      instances: { type: "integer", minimum: 1, maximum: 12, description: "How many at the same time" },
      drain: { type: "boolean", default: true, description: "Lets requests finish first" },
      notes: { type: "array", items: { type: "string" } },
    },
    required: ["service", "instances"],
    additionalProperties: false,
  },
  effect: "idempotent",
  execute: (args) => ({ ...args, restarted: true }),
});

const check = defineTool({
  name: "check_service",
  description: "Looks at the health of a service.",
  input: { type: "object", properties: { service }, required: ["service"], additionalProperties: false },
  effect: "none",
  execute: (args) => ({ ...args, healthy: 4, failing: 2, error_rate: 0.031 }),
});

const pick = defineTool({
  name: "pick_window",
  description: "Lets a person pick the window of the release.",
  executor: "client",
  output: {
    type: "object",
    properties: {
      day: { type: "string", enum: ["today", "tomorrow"] },
      hour: { type: "integer", minimum: 0, maximum: 23 },
    },
    required: ["day", "hour"],
    additionalProperties: false,
  },
});

const order = defineTool({
  name: "order_capacity",
  description: "Orders machines for a load test.",
  effect: "none",
  execute: async (_, { elicit }) => {
    const answer = await elicit({
      message: "How many machines, and until when?",
      schema: {
        type: "object",
        properties: { machines: { type: "integer", minimum: 1 }, until: { type: "string" } },
        required: ["machines"],
      },
    });
    return JSON.stringify(answer);
  },
});

const nightWatch = defineRail({ name: "night-watch", on: ["PRE_TOOL_CALL"], asks: true }, (ctx) =>
  ctx.inputs.toolName === "restart_service"
    ? ask("2 of 6 instances are failing: a restart drops their requests")
    : undefined,
);

const LONG = Array.from({ length: 60 }, (_, i) => `line ${i + 1} of the notes, kept whole`);

const CALLS: Readonly<Record<string, readonly { tool: string; args?: object }[]>> = {
  deploy: [
    { tool: "deploy_service", args: { service: "checkout", version: "2.14", why: "the checks passed" } },
  ],
  restart: [
    { tool: "restart_service", args: { service: "payments", instances: 2, why: "half of them fail" } },
  ],
  both: [
    { tool: "restart_service", args: { service: "storefront", instances: 1, why: "first one" } },
    { tool: "restart_service", args: { service: "search", instances: 1, why: "then the other" } },
  ],
  long: [
    { tool: "restart_service", args: { service: "search", instances: 1, notes: LONG, why: "see the notes" } },
  ],
  hostile: [
    {
      tool: "restart_service",
      args: { service: "<img src=x onerror=alert(1)>\u202e", instances: 1, why: "-" },
    },
  ],
  window: [{ tool: "pick_window" }],
  capacity: [{ tool: "order_capacity" }],
};

/** Looks first, then calls what the message names, then says that it is done. */
const model = scriptedModel(
  [
    ({ prompt }) => {
      const since = prompt.slice(prompt.findLastIndex(({ role }) => role === "user"));
      const said = JSON.stringify(since[0]);
      const calls = Object.entries(CALLS).find(([word]) => said.includes(word))?.[1];
      const rounds = since.filter(({ role }) => role === "tool").length;
      if (calls === undefined || rounds >= 2) return "Done as you said.";
      if (rounds === 0)
        return {
          text: "I look at the service before I touch it.",
          calls: [{ tool: "check_service", args: { service: "checkout", why: "to know before acting" } }],
        };
      return { text: "Two instances fail their checks. I go on.", calls };
    },
  ],
  { loop: true },
);

const keeper = new Agent({
  name: "keeper",
  model,
  tools: [deploy, restart, check, pick, order],
  hitlTools: ["deploy_service", "restart_service"],
  injectedToolArgs: { why: "One sentence for the record on why this call is made." },
  rails: [nightWatch],
});

const parts: Parts = { agents: [keeper] };
export default parts;
