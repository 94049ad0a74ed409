export { McpHub, type McpTools } from "./mcp-hub.ts";
export type { WithheldTool } from "./offer.ts";
export type { Deadlines, DefinitionStore, McpHubOptions } from "./options.ts";
export type { McpSession } from "./session.ts";
