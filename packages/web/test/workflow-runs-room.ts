import { Agent, defineTool, defineWorkflow } from "trackside";
import { scriptedModel } from "trackside/testing";
import * as z from "zod";
import type { Parts } from "./support/parts.ts";

/** A control room with workflows in code: branches side by side, maps, a question, a workflow inside, and a tool that breaks. */
export function workflowRoom(): { parts: Parts; mend(): void } {
  let isBroken = true;

  const build = defineTool({
    name: "build_service",
    description: "Builds a service.",
    effect: "none",
    input: z.object({ service: z.string() }),
    execute: ({ service }) => {
      if (service === "nothing") throw new Error("there is no such service");
      return { image: `registry/${service}:2.14`, size_mb: 40 + service.length };
    },
  });
  const deploy = defineTool({
    name: "deploy_service",
    description: "Deploys a version to production.",
    effect: "none",
    input: z.object({ version: z.string(), share: z.number() }),
    execute: ({ version, share }) => ({ version, share, instances: 6 }),
  });
  const smoke = defineTool({
    name: "smoke_test",
    description: "Looks whether the site works.",
    effect: "none",
    input: z.object({ version: z.string() }),
    execute: ({ version }) => {
      if (isBroken) throw new Error(`checkout answers 502 with ${version}`);
      return { version, passed: 12 };
    },
  });
  const tell = defineTool({
    name: "tell_team",
    description: "Writes to the team.",
    effect: "none",
    input: z.object({ text: z.string() }),
    execute: ({ text }) => ({ sent: text }),
  });
  const writer = new Agent({
    name: "writer",
    model: scriptedModel(["Faster checkout, and two bugs less."], { loop: true }),
  });

  const rollout = defineWorkflow({
    name: "rollout",
    description: "A few instances first, then all of them.",
    input: z.object({ version: z.string() }),
    nodes: {
      canary: { kind: "tool", tool: deploy, arguments: { version: "{{ input.version }}", share: 0.1 } },
      settle: { kind: "wait", for: { seconds: 0.02 } },
      all: { kind: "tool", tool: deploy, arguments: { version: "{{ input.version }}", share: 1 } },
    },
    edges: [
      { from: "canary", to: "settle" },
      { from: "settle", to: "all" },
    ],
  });

  const release = defineWorkflow({
    name: "release",
    description: "Builds, asks, rolls out, looks.",
    input: z.object({ version: z.string(), services: z.array(z.string()) }),
    nodes: {
      notes: { kind: "agent", agent: writer, prompt: "Write the notes of {{ input.version }}." },
      builds: {
        kind: "map",
        over: "{{ input.services }}",
        do: { kind: "tool", tool: build, arguments: { service: "{{ item }}" } },
      },
      reviews: {
        kind: "map",
        over: "{{ input.services }}",
        do: { kind: "agent", agent: writer, prompt: "Review {{ item }}." },
      },
      ask: {
        kind: "approval",
        name: "sign-off",
        message: "Release {{ input.version }} to production?",
        show: { version: "{{ input.version }}", notes: "{{ nodes.notes }}", images: "{{ nodes.builds }}" },
        response: z.object({
          window: z.enum(["now", "tonight"]).describe("When it goes out"),
          note: z.string().optional(),
        }),
        irreversible: true,
      },
      roll: { kind: "workflow", workflow: rollout, input: { version: "{{ input.version }}" } },
      smoke: {
        kind: "tool",
        tool: smoke,
        arguments: { version: "{{ input.version }}" },
        retry: { attempts: 2, delayMs: 10 },
      },
      announce: { kind: "tool", tool: tell, arguments: { text: "{{ input.version }} is out" } },
      hold: { kind: "tool", tool: tell, arguments: { text: "{{ input.version }} is held back" } },
    },
    edges: [
      { from: "notes", to: "ask" },
      { from: "builds", to: "ask" },
      { from: "reviews", to: "ask" },
      { from: "ask", to: "roll" },
      { from: "ask", to: "hold", when: "rejected" },
      { from: "roll", to: "smoke" },
      { from: "smoke", to: "announce" },
    ],
  });

  const intake = defineWorkflow({
    name: "intake",
    description: "Waits until the shop sends an order.",
    nodes: {
      order: {
        kind: "wait",
        for: { webhook: { response: z.object({ order: z.string(), amount: z.number() }) } },
      },
      confirm: { kind: "tool", tool: tell, arguments: { text: "Order {{ nodes.order.order }}" } },
    },
    edges: [{ from: "order", to: "confirm" }],
  });

  const rebuild = defineWorkflow({
    name: "rebuild",
    description: "Builds everything.",
    input: z.object({ services: z.array(z.string()) }),
    nodes: {
      each: {
        kind: "map",
        over: "{{ input.services }}",
        onError: "collect",
        concurrency: 20,
        do: { kind: "tool", tool: build, arguments: { service: "{{ item }}" } },
      },
    },
  });

  return {
    parts: { agents: [writer], workflows: [release, rollout, intake, rebuild] } as never, // workflows of different types in one list
    mend: () => {
      isBroken = false;
    },
  };
}
