import type { ToolServers } from "trackside";

/** MCP servers of agents in files. The client is loaded, and a server started, when an agent has one. */
class FileServers implements ToolServers {
  #hub: Promise<ToolServers> | undefined;

  async connect(...asked: Parameters<ToolServers["connect"]>): ReturnType<ToolServers["connect"]> {
    this.#hub ??= import("@trackside/host/mcp").then(({ McpHub }) => new McpHub({ keepMs: 0 }));
    return (await this.#hub).connect(...asked);
  }
}

export const toolServers: ToolServers = new FileServers();
