import { randomBytes } from "node:crypto";
import type { AgentBinding, Tool } from "trackside";
import { scriptedModel } from "trackside/testing";
import { onTestFinished } from "vitest";
import { keyring, type Store, Trackside, type TracksideOptions } from "../../../src/index.ts";

/** The example of the founding runtime contract, as it is printed there. */
export const SEED_EXAMPLE = `{
  "name": "ops-supervisor",
  "model": "openai:gpt-4o",
  "instructions": "Plan first, execute carefully, and escalate dangerous actions.",
  "max_steps": 12,
  "temperature": 0.2,
  "max_tokens": 4096,
  "planning_enabled": true,
  "planning_model": "openai:gpt-4o-mini",
  "planning_instructions": "Return a short numbered execution plan before acting.",
  "budget_awareness": "limit:70",
  "hitl_tools": ["deploy_service", "rotate_credentials"],
  "emit_mcp_progress": true,
  "injected_tool_args": {
    "ui_request_id": "Opaque UI correlation id exposed only in tool schemas.",
    "run_origin": "Short label for the caller surface, such as playground or workflow."
  },
  "allow_parallel_subagents": true,
  "max_parallel_subagents": 4
}`;

const KEYS = keyring({ current: "k1", keys: { k1: randomBytes(32) } });

/** A model that answers with its instructions, so that one sees who spoke. */
export const echo = () =>
  scriptedModel(
    [
      ({ prompt }) => {
        const system = prompt.find(({ role }) => role === "system");
        return typeof system?.content === "string" ? system.content : "nothing to say";
      },
    ],
    { loop: true },
  );

export interface HostParts extends Omit<Partial<TracksideOptions>, "agents" | "tools"> {
  readonly agents?: readonly object[];
  readonly tools?: readonly Tool[];
}

/** A host whose model is `demo:echo` unless others are given. Closed after the test. */
export function hostOn(store: Store, parts: HostParts = {}, notices: string[] = []): Trackside {
  const { agents = [], ...rest } = parts;
  const trackside = new Trackside({
    store,
    keyring: KEYS,
    models: { "demo:echo": echo() },
    notice: (message) => void notices.push(message),
    ...rest,
    agents: agents as readonly AgentBinding[],
  });
  onTestFinished(() => trackside.close());
  return trackside;
}

/** A definition with what is asked for. */
export function agentOf(name: string, more: object = {}): Record<string, unknown> {
  return { name, model: "demo:echo", instructions: `I am ${name}.`, ...more };
}
