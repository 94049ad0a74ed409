import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import type { Parts } from "./support/parts.ts";

/** The parts of a control room in which services are checked and deployed by workflows. */

const service = {
  type: "object",
  properties: { service: { type: "string" } },
  required: ["service"],
} as const;

const check = defineTool({
  name: "check_service",
  description: "Says whether a service is ready.",
  input: service,
  output: {
    type: "object",
    properties: { service: { type: "string" }, ready: { type: "boolean" } },
    required: ["service", "ready"],
  },
  effect: "none",
  execute: (given) => {
    const name = String(given["service"]);
    return { service: name, ready: name !== "broken" };
  },
});

/** One service fails once, and is deployed when somebody tries again. */
const failed = new Set<string>();

const deploy = defineTool({
  name: "deploy_service",
  description: "Puts a version of a service into production.",
  input: {
    type: "object",
    properties: { service: { type: "string" }, version: { type: "string" }, replicas: { type: "integer" } },
    required: ["service", "version"],
  },
  effect: "idempotent",
  irreversible: true,
  execute: (given) => {
    if (given["service"] === "flaky" && failed.size === 0) {
      failed.add("flaky");
      throw new Error("the disk is full");
    }
    return { deployed: `${String(given["service"])} ${String(given["version"])}` };
  },
});

const onCall = new Agent({ name: "on-call", model: scriptedModel(["All is well."], { loop: true }) });

const parts: Parts = { agents: [onCall], tools: [check, deploy] };
export default parts;
