export { McpHub } from "./mcp-hub.ts";
export type { Deadlines, DefinitionStore, McpHubOptions } from "./options.ts";
export type { McpSession } from "./session.ts";
