import { setTimeout as sleep } from "node:timers/promises";
import { type AgentDefinitionInput, defineTool, type Tool } from "trackside";
import { type ModelPrompt, readPrompt } from "./read-prompt.ts";
import type { Reply } from "./rules.ts";

/** The second agent of the demo: it plans, asks two sub-agents, and deploys once a human has approved. */

const INSTRUCTIONS =
  "You are the release manager of a small online shop. Have the services checked before you deploy, then deploy, then say in two sentences what was done.";

export const RELEASE_SUGGESTION = "Release checkout 2.14";

/** As it is serialized: the control room has it as an agent like any other, to be edited. */
export function releaseManager(model: string): AgentDefinitionInput {
  return {
    name: "release-manager",
    model,
    instructions: INSTRUCTIONS,
    max_steps: 12,
    planning_enabled: true,
    budget_awareness: "limit:70",
    context_window_tokens: 128_000,
    hitl_tools: ["deploy_service"],
    injected_tool_args: { why: "One sentence for the record on why this call is made." },
    allow_parallel_subagents: true,
    max_parallel_subagents: 3,
    tools: ["check_service", "deploy_service"],
    rails: [
      { use: "secrets" },
      { use: "call-limits", options: { tools: { deploy_service: 2 } }, mode: "shadow" },
    ],
  };
}

const CHECKS = ["unit tests", "contract tests", "canary traffic", "error budget"];
const STEPS = ["draining old instances", "starting new ones", "moving traffic", "watching errors", "done"];

/** Made up, as the shop is: nothing outside is touched. */
export function releaseTools(pauseMs = 350): readonly Tool[] {
  const service = { type: "string", description: "storefront, checkout, payments or search" };
  return [
    defineTool({
      name: "check_service",
      description: "Runs the checks of a service before a release and says what came of them.",
      input: { type: "object", properties: { service }, required: ["service"], additionalProperties: false },
      effect: "none",
      async execute(args, { signal, progress }) {
        for (const [i, check] of CHECKS.entries()) {
          await sleep(pauseMs, undefined, { signal });
          progress({ progress: i + 1, total: CHECKS.length, message: check });
        }
        return { service: args["service"] ?? null, passed: CHECKS, failed: [] };
      },
    }),
    defineTool({
      name: "deploy_service",
      description: "Deploys a version of a service to production. It cannot be taken back.",
      input: {
        type: "object",
        properties: {
          service,
          version: { type: "string", pattern: "^\\d+\\.\\d+(\\.\\d+)?$", description: "such as 2.14" },
          strategy: { type: "string", enum: ["rolling", "canary", "all-at-once"], default: "rolling" },
        },
        required: ["service", "version"],
        additionalProperties: false,
      },
      effect: "once",
      irreversible: true,
      async execute(args, { signal, progress }) {
        for (const [i, step] of STEPS.entries()) {
          await sleep(pauseMs, undefined, { signal });
          progress({ progress: i + 1, total: STEPS.length, message: step });
        }
        return { ...args, deployed: true, instances: 6 };
      },
    }),
  ];
}

/** What the scripted model says as the release manager, as its planner, or as one of its sub-agents; undefined as anybody else. */
export function releaseReply(prompt: ModelPrompt): Reply | undefined {
  const system = prompt.flatMap((message) => (message.role === "system" ? [message.content] : [])).join("\n");
  if (!system.includes(INSTRUCTIONS)) return undefined;
  const { question, called } = readPrompt(prompt);
  if (system.includes("You are planning")) return plan(releaseIn(prompt));
  const job = /Check the service (\w+)/.exec(question)?.[1];
  if (job !== undefined) return check(job, called.length > 0);
  const release = releaseIn(prompt);
  if (release === undefined)
    return { text: `I release services of the shop, one at a time. Try: ${RELEASE_SUGGESTION}` };
  return deploy(release, called);
}

interface Release {
  readonly service: string;
  readonly version: string;
}

/** The last release somebody asked for: what is sent beside the question comes after it. */
function releaseIn(prompt: ModelPrompt): Release | undefined {
  const said = prompt.filter((message) => message.role === "user").map((message) => JSON.stringify(message));
  for (const text of said.toReversed()) {
    const found =
      /\b(?:release|deploy|ship)\s+(storefront|checkout|payments|search)\s+(?:version\s+)?v?(\d+(?:\.\d+)+)/i.exec(
        text,
      );
    if (found?.[1] !== undefined && found[2] !== undefined)
      return { service: found[1].toLowerCase(), version: found[2] };
  }
  return undefined;
}

function plan(release: Release | undefined): Reply {
  if (release === undefined) return { text: "1. Find out which service is to be released." };
  const { service, version } = release;
  return {
    text: [
      `1. Check ${service} and payments: two sub-agents, side by side.`,
      `2. Deploy ${service} ${version}: needs a human's approval.`,
      "3. Say what was done.",
    ].join("\n"),
  };
}

function check(service: string, isChecked: boolean): Reply {
  if (isChecked) return { text: `${service}: all four checks passed.` };
  return { text: `I run the checks of ${service}.`, calls: [{ tool: "check_service", args: { service } }] };
}

function deploy({ service, version }: Release, called: ReturnType<typeof readPrompt>["called"]): Reply {
  const deployed = called.findLast(({ tool }) => tool === "deploy_service");
  if (deployed?.value !== undefined)
    return { text: `Both services passed their checks. ${service} ${version} is deployed on 6 instances.` };
  if (deployed !== undefined)
    return { text: `${service} ${version} was not deployed. ${deployed.problem ?? ""}`.trim() };
  if (called.some(({ tool }) => tool === "spawn_parallel"))
    return {
      text: `The checks passed. I deploy ${service} ${version}.`,
      calls: [
        { tool: "deploy_service", args: { service, version, strategy: "rolling", why: "the checks passed" } },
      ],
    };
  const jobs = [...new Set([service, "payments"])].map((name) => ({
    task: `Check the service ${name} before a release.`,
    tool_names: ["check_service"],
  }));
  return {
    text: "I have the services checked side by side.",
    calls: [{ tool: "spawn_parallel", args: { jobs } }],
  };
}
