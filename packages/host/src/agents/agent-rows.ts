import * as z from "zod";
import { type DefinitionKind, definitionJson } from "../definitions/kind.ts";
import { versioned } from "../store/rows/versioned.ts";

const agent1 = z.object({
  v: z.literal(1),
  definition: definitionJson,
  /** Beside the definition, not in it (W1). */
  autonomous_mode: z.boolean(),
  by: z.string(),
});

const version1 = agent1.extend({
  note: z.string().optional(),
  restored_from: z.number().int().optional(),
});

/** An agent as it is now. Definitions in it are as old as their last save: they are checked when they are bound. */
export const agentBody = versioned({ name: "agents", current: 1, versions: { 1: agent1 }, upgrade: {} });
export const agentVersionBody = versioned({
  name: "agent_versions",
  current: 1,
  versions: { 1: version1 },
  upgrade: {},
});

/** What an agent has beside its definition. */
export interface BesideAgent {
  readonly autonomous_mode: boolean;
}

export const AGENTS: DefinitionKind<BesideAgent> = {
  noun: "agent",
  body: agentBody,
  version: agentVersionBody,
  beside: ({ autonomous_mode }) => ({ autonomous_mode }),
};
