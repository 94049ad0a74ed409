import { TracksideError } from "trackside";
import type { ConnectedTools, ConnectRequest, ServerDefinition, ToolServers } from "trackside/engine";
import { Lease } from "./lease.ts";
import { type Offer, offerTools } from "./offer.ts";
import { type HubSettings, type McpHubOptions, readOptions } from "./options.ts";
import { closedHub, Pool } from "./pool.ts";
import { resolveServer, type ServerConfig } from "./server-config.ts";
import { LeasedSession, type McpSession } from "./session.ts";
import type { Listing } from "./tool-listing.ts";

/**
 * Speaks MCP to the servers of agents, over stdio and Streamable HTTP. One for a process: connections are kept between
 * runs, and a run has its own while it lasts.
 *
 * @example
 * await using hub = new McpHub({ secrets: (name, scope) => secrets.reveal(name, scope) });
 * const connected = await hub.connect(agent.definition.mcp_servers, { agent: "helper", scope });
 */
export class McpHub implements ToolServers, AsyncDisposable {
  readonly #settings: HubSettings;
  readonly #pool: Pool;
  /** The tools of each server as they were last seen, for when it cannot be reached. */
  readonly #known = new Map<string, Listing>();
  #closed: Promise<void> | undefined;

  constructor(options: McpHubOptions = {}) {
    this.#settings = readOptions(options);
    this.#pool = new Pool(this.#settings);
  }

  async connect(servers: readonly ServerDefinition[], about: ConnectRequest): Promise<ConnectedTools> {
    const leases: Lease[] = [];
    const offers = await Promise.allSettled(servers.map((server) => this.#offer(server, about, leases)));
    const release = () => {
      for (const lease of leases) lease.release();
    };
    const failures = offers.flatMap((offer) =>
      offer.status === "rejected" ? [offer.reason as unknown] : [],
    );
    if (failures.length > 0) {
      release();
      throw failures.length === 1 ? failures[0] : together(failures);
    }
    const found = offers.flatMap((offer) => (offer.status === "fulfilled" ? [offer.value] : []));
    return {
      tools: found.flatMap(({ tools }) => tools),
      held: found.flatMap(({ held }) => held),
      withheld: found.flatMap(({ withheld }) => withheld),
      release,
    };
  }

  /** Opens a server for code: its resources and prompts. */
  async open(server: ServerDefinition, about: ConnectRequest): Promise<McpSession> {
    const lease = await this.#lease(server, about);
    await lease.ready();
    return new LeasedSession(lease, this.#settings.deadlines);
  }

  /** Ends every connection and the processes behind them. */
  close(): Promise<void> {
    this.#closed ??= this.#pool.close();
    return this.#closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #offer(server: ServerDefinition, about: ConnectRequest, leases: Lease[]): Promise<Offer> {
    const lease = await this.#lease(server, about);
    leases.push(lease);
    const listing = await this.#listing(lease);
    return await offerTools(lease, listing, this.#settings.definitions, this.#settings.deadlines);
  }

  /** The tools of a server: as they are now, or as they were while it cannot be reached. */
  async #listing(lease: Lease): Promise<Listing> {
    const known = this.#known.get(knownKey(lease.config));
    if (known !== undefined && lease.isWaiting) return known; // a run need not wait for what its calls can wait for
    try {
      return (await lease.ready()).listing;
    } catch (error) {
      if (known === undefined || this.#closed !== undefined) throw error;
      return known; // a call tries again, and says so if it cannot
    }
  }

  async #lease(server: ServerDefinition, { scope }: ConnectRequest): Promise<Lease> {
    if (this.#closed !== undefined) throw closedHub();
    const config = await resolveServer(server, scope, this.#settings.secrets);
    return new Lease(config, this.#pool, (listing) => this.#known.set(knownKey(config), listing));
  }
}

/** A server that fails with a new secret is still the server whose tools were seen. */
function knownKey({ tenant, identity }: ServerConfig): string {
  return `${identity} ${tenant}`;
}

function together(failures: readonly unknown[]): TracksideError {
  const lines = failures.map(
    (failure) => `  - ${failure instanceof Error ? failure.message : String(failure)}`,
  );
  return new TracksideError(
    "mcp_unavailable",
    `${failures.length} MCP servers cannot be used:\n${lines.join("\n")}`,
    {
      cause: failures[0],
    },
  );
}
