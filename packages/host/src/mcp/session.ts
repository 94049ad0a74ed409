import type {
  Client,
  GetPromptResult,
  ListPromptsResult,
  ListResourcesResult,
  ReadResourceResult,
  RequestOptions,
} from "@modelcontextprotocol/client";
import type { Lease } from "./lease.ts";
import type { Deadlines } from "./options.ts";
import { request } from "./request.ts";

/** A connection for code: what a server has beside tools. Close it when done. */
export interface McpSession extends AsyncDisposable {
  /** All resources, of all pages. Empty if the server has none. */
  listResources(): Promise<ListResourcesResult["resources"]>;
  readResource(uri: string): Promise<ReadResourceResult["contents"]>;
  /** All prompts, of all pages. Empty if the server has none. */
  listPrompts(): Promise<ListPromptsResult["prompts"]>;
  getPrompt(name: string, args?: Readonly<Record<string, string>>): Promise<GetPromptResult>;
  close(): Promise<void>;
}

/** A session over a lease, within the deadlines of calls. */
export class LeasedSession implements McpSession {
  readonly #lease: Lease;
  readonly #deadlines: Deadlines;
  readonly #over = new AbortController();

  constructor(lease: Lease, deadlines: Deadlines) {
    this.#lease = lease;
    this.#deadlines = deadlines;
  }

  listResources(): Promise<ListResourcesResult["resources"]> {
    return this.#ask("listResources", async (client, options) =>
      client.getServerCapabilities()?.resources
        ? (await client.listResources(undefined, options)).resources
        : [],
    );
  }

  readResource(uri: string): Promise<ReadResourceResult["contents"]> {
    return this.#ask(
      "readResource",
      async (client, options) => (await client.readResource({ uri }, options)).contents,
    );
  }

  listPrompts(): Promise<ListPromptsResult["prompts"]> {
    return this.#ask("listPrompts", async (client, options) =>
      client.getServerCapabilities()?.prompts ? (await client.listPrompts(undefined, options)).prompts : [],
    );
  }

  getPrompt(name: string, args: Readonly<Record<string, string>> = {}): Promise<GetPromptResult> {
    return this.#ask("getPrompt", (client, options) =>
      client.getPrompt({ name, arguments: { ...args } }, options),
    );
  }

  #ask<T>(what: string, ask: (client: Client, options: RequestOptions) => Promise<T>): Promise<T> {
    return request(this.#lease, what, this.#over, this.#deadlines, ask);
  }

  async close(): Promise<void> {
    this.#over.abort(new Error("the MCP session is closed"));
    this.#lease.release();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
