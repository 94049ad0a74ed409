export { VersionConflictError } from "../definitions/errors.ts";
export {
  type AgentInput,
  type AgentRecord,
  Agents,
  type AgentVersion,
  type AgentVersionFacts,
  type Author,
  type ListAgents,
  type Validation,
} from "./agents.ts";
export type { AgentChange } from "./diff.ts";
export type { McpServer } from "./servers.ts";
export {
  type HookDescription,
  type RailDescription,
  type ServerDescription,
  Toolkit,
  type ToolkitDescription,
  type ToolkitOptions,
} from "./toolkit.ts";
