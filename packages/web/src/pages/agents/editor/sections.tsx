import type { ComponentType } from "react";
import type { FieldName } from "../draft/defaults.ts";
import { Basics } from "./basics.tsx";
import { Context } from "./context-budget.tsx";
import { Hooks } from "./hooks.tsx";
import { Injected } from "./injected.tsx";
import { Output } from "./output.tsx";
import { Planning } from "./planning.tsx";
import { Rails } from "./rails.tsx";
import { Servers } from "./servers.tsx";
import { SubAgents } from "./sub-agents.tsx";
import { Tools } from "./tools.tsx";

export interface Section {
  readonly id: string;
  readonly title: string;
  /** Whose problems are counted beside it. */
  readonly fields: readonly FieldName[];
  readonly body: ComponentType;
}

export const SECTIONS: readonly Section[] = [
  {
    id: "basics",
    title: "Basics",
    fields: ["name", "model", "fallback_models", "instructions", "max_steps", "temperature", "max_tokens"],
    body: Basics,
  },
  {
    id: "planning",
    title: "Planning",
    fields: ["planning_enabled", "planning_model", "planning_instructions"],
    body: Planning,
  },
  {
    id: "tools",
    title: "Tools and approvals",
    fields: ["tools", "hitl_tools", "hitl_timeout_seconds", "emit_mcp_progress"],
    body: Tools,
  },
  { id: "injected", title: "Injected arguments", fields: ["injected_tool_args"], body: Injected },
  {
    id: "sub-agents",
    title: "Sub-agents",
    fields: ["allow_self_spawn", "allow_parallel_subagents", "max_parallel_subagents", "handoffs"],
    body: SubAgents,
  },
  {
    id: "context",
    title: "Budget and context",
    fields: ["budget_awareness", "context_window_tokens", "injection_reserve_tokens", "offload_above_bytes"],
    body: Context,
  },
  { id: "rails", title: "Rails", fields: ["rails"], body: Rails },
  { id: "hooks", title: "Hooks", fields: ["hooks"], body: Hooks },
  { id: "mcp", title: "MCP servers", fields: ["mcp_servers"], body: Servers },
  {
    id: "output",
    title: "Output and limits",
    fields: ["output_schema", "stream_release", "max_regenerations", "audit_transient"],
    body: Output,
  },
];
