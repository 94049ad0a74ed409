import { setTimeout as sleep } from "node:timers/promises";
import { Agent, defineTool } from "trackside";
import { type ScriptedReply, type ScriptedRequest, scriptedModel } from "trackside/testing";
import type { Parts } from "./support/parts.ts";

/** The parts of a control room with an agent that plans, asks sub-agents and deploys, and one that only writes. */

const input = {
  type: "object",
  properties: { service: { type: "string" } },
  required: ["service"],
  additionalProperties: false,
} as const;

const STEPS = ["draining", "starting", "moving traffic"];

/** While it is closed, a deploy stays where it is: for tests that look at it. */
export const traffic = { isClosed: false };

const check = defineTool({
  name: "check_service",
  description: "Checks a service.",
  input,
  effect: "none",
  async execute({ service }, { progress }) {
    progress({ progress: 1, total: 2, message: "unit tests" });
    return { service: String(service), passed: true };
  },
});

const deploy = defineTool({
  name: "deploy_service",
  description: "Deploys a service.",
  input,
  effect: "idempotent",
  irreversible: true,
  async execute({ service }, { progress, signal }) {
    for (const [at, message] of STEPS.entries()) {
      progress({ progress: at + 1, total: STEPS.length, message });
    }
    do await sleep(20, undefined, { signal });
    while (traffic.isClosed);
    return { service: String(service), deployed: true };
  },
});

export const STORY = Array.from({ length: 120 }, (_, at) => `word${at}`).join(" ");
export const HOSTILE = [
  "# Report",
  "<img src=x onerror=alert(1)> and <script>alert(2)</script>",
  "![a picture](https://example.invalid/pixel.png) and [a link](javascript:alert(3))",
  "| a | b |\n| - | - |\n| 1 | 2 |",
].join("\n\n");

function release({ prompt }: ScriptedRequest): ScriptedReply {
  const written = JSON.stringify(prompt);
  if (written.includes("You are planning")) return { text: "1. Check both services.\n2. Deploy checkout." };
  const asked = prompt.findLastIndex(({ role }) => role === "user");
  const since = prompt.slice(asked + 1).filter(({ role }) => role === "tool").length;
  const job = /Task:\\nCheck (\w+)/.exec(JSON.stringify(prompt[asked]))?.[1];
  if (job !== undefined)
    return since > 0
      ? { text: `${job} is fine.` }
      : { text: `I check ${job}.`, calls: [{ tool: "check_service", args: { service: job } }] };
  const done = prompt.filter(({ role }) => role === "tool").length;
  if (done === 0) {
    const jobs = ["checkout", "payments"].map((name) => ({
      task: `Check ${name}`,
      tool_names: ["check_service"],
    }));
    return { text: "I have both checked.", calls: [{ tool: "spawn_parallel", args: { jobs } }] };
  }
  if (done === 1)
    return { text: "Both are fine.", calls: [{ tool: "deploy_service", args: { service: "checkout" } }] };
  return { text: written.includes("deployed") ? "Checkout is **deployed**." : "Checkout was not deployed." };
}

function write({ prompt }: ScriptedRequest): ScriptedReply {
  const said = JSON.stringify(prompt.findLast(({ role }) => role === "user"));
  if (said.includes("endless")) return { text: STORY, hangAfter: 40 };
  if (said.includes("story")) return { text: STORY, chunkDelayMs: 60 };
  if (said.includes("report")) return { text: HOSTILE };
  if (said.includes("fail")) return { error: new Error("the model is out of order") };
  return { text: "You said something." };
}

const looping = { loop: true, record: "none" } as const;
const parts: Parts = {
  agents: [
    new Agent({
      name: "releaser",
      model: scriptedModel([release], looping),
      tools: [check, deploy],
      hitlTools: ["deploy_service"],
      planningEnabled: true,
      allowParallelSubagents: true,
      contextWindowTokens: 100_000,
    }),
    new Agent({ name: "writer", model: scriptedModel([write], looping) }),
  ],
};
export default parts;
