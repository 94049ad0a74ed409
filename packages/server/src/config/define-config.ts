import { Trackside, type TracksideOptions } from "@trackside/host";
import type { ServerOptions, TracksideServer } from "../server.ts";

/** How the server listens, and who is let in. */
export interface ServerSettings
  extends Pick<ServerOptions, "host" | "port" | "publicUrl" | "hosts" | "web" | "limits" | "trustProxy"> {}

/**
 * Everything an installation is made of, in one file: agents, tools, rails, hooks, MCP servers, store, engine, sign-in.
 * `trackside dev`, `start`, `worker` and all other commands read it.
 */
export interface TracksideConfig extends TracksideOptions {
  readonly server?: ServerSettings;
  /** Your own sign-in beside users and tokens: says who a request is from, or nothing. */
  readonly auth?: NonNullable<ServerOptions["auth"]>;
}

/** Whoever reads a config asks the config itself to make things of it: its packages need not be the reader's own. */
const CONFIG = Symbol.for("trackside.config");

/**
 * The configuration, for `trackside.config.ts`.
 *
 * @example
 * export default defineConfig({
 *   store: sqlite("trackside.db"),
 *   agents: [clerk],
 *   tools: [refund, lookUp],
 *   rails: builtInRails,
 * });
 */
export function defineConfig(config: TracksideConfig): TracksideConfig {
  const { server = {}, auth, ...options } = config;
  const made: Made = {
    trackside: () => new Trackside(options),
    // Loaded when it is wanted: most commands serve nothing.
    server: async (trackside, wanted) => {
      const { createServer } = await import("../server.ts");
      return createServer({ ...server, ...(auth === undefined ? {} : { auth }), ...wanted, trackside });
    },
  };
  return Object.freeze({ ...config, [CONFIG]: made });
}

/** What can be made of a config. */
export interface Made {
  trackside(): Trackside;
  server(trackside: Trackside, wanted: Partial<ServerOptions>): Promise<TracksideServer>;
}
