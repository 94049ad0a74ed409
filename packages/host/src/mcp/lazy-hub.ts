import type { ConnectedTools, ConnectRequest, ServerDefinition, ToolServers } from "trackside/engine";
import type { McpHub } from "./mcp-hub.ts";
import type { McpHubOptions } from "./options.ts";

/** A hub that is made, and its client loaded, when an agent with servers first runs. */
export class LazyHub implements ToolServers {
  readonly #options: McpHubOptions;
  #hub: Promise<McpHub> | undefined;

  constructor(options: McpHubOptions) {
    this.#options = options;
  }

  async connect(servers: readonly ServerDefinition[], about: ConnectRequest): Promise<ConnectedTools> {
    this.#hub ??= import("./mcp-hub.ts").then(({ McpHub: Hub }) => new Hub(this.#options));
    return (await this.#hub).connect(servers, about);
  }

  async close(): Promise<void> {
    await (await this.#hub)?.close();
  }
}
