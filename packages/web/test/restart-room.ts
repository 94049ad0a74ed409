import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import type { Parts } from "./support/parts.ts";

/** The parts of a control room that is killed: one agent that asks before it acts, one that writes slowly. */

export const STORY = Array.from({ length: 80 }, (_, at) => `word${at}`).join(" ");

const restart = defineTool({
  name: "restart_service",
  description: "Restarts a service.",
  input: { type: "object", properties: { service: { type: "string" } }, required: ["service"] },
  effect: "idempotent",
  execute: ({ service }) => `${String(service)} is restarted`,
});

const keeper = new Agent({
  name: "keeper",
  model: scriptedModel(
    [
      ({ prompt }) =>
        prompt.some(({ role }) => role === "tool")
          ? "It runs again."
          : {
              text: "I restart it if I may.",
              calls: [{ tool: "restart_service", args: { service: "payments" } }],
            },
    ],
    { loop: true },
  ),
  tools: [restart],
  hitlTools: ["restart_service"],
});

const writer = new Agent({
  name: "writer",
  model: scriptedModel([{ text: STORY, chunkDelayMs: 50 }], { loop: true }),
});

const parts: Parts = { agents: [keeper, writer] };
export default parts;
