import type { AgentDefinition } from "trackside/schema";

/** The fields that a definition always writes, in this order (A1). */
export const CONTRACT_DEFAULTS = {
  name: "",
  model: "",
  instructions: "",
  max_steps: 20,
  temperature: null,
  max_tokens: null,
  planning_enabled: false,
  planning_model: null,
  planning_instructions: "",
  budget_awareness: null,
  hitl_tools: [],
  emit_mcp_progress: true,
  injected_tool_args: {},
  allow_parallel_subagents: false,
  max_parallel_subagents: 3,
} as const satisfies Partial<AgentDefinition>;

/** The fields that are written where they differ from these (A5). */
export const OWN_DEFAULTS = {
  tools: null,
  mcp_servers: [],
  handoffs: [],
  rails: [],
  hooks: {},
  output_schema: null,
  context_window_tokens: null,
  injection_reserve_tokens: 4000,
  hitl_timeout_seconds: 3600,
  max_regenerations: 2,
  allow_self_spawn: false,
  offload_above_bytes: 32768,
  stream_release: "auto",
  fallback_models: [],
  audit_transient: false,
} as const satisfies Omit<AgentDefinition, keyof typeof CONTRACT_DEFAULTS>;

export const DEFAULTS = { ...CONTRACT_DEFAULTS, ...OWN_DEFAULTS } satisfies AgentDefinition;

export type FieldName = Exclude<keyof AgentDefinition, "workflow">;
