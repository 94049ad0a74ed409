import { dirname } from "node:path";
import type { Trackside } from "@trackside/host";
import type { ServerOptions, TracksideServer } from "@trackside/server";
import type { Made } from "@trackside/server/config";
import { Complaint } from "../complaint.ts";
import { inventory } from "../inventory.ts";
import type { Io } from "../io.ts";
import { loadModule, shown } from "../load-module.ts";
import { EXAMPLE } from "./find-config.ts";

/** What a config exports: an installation, and how it is served. */
export interface Loaded {
  readonly trackside: Trackside;
  /** A server for it, with what the config says of one; `wanted` wins. */
  server(wanted: Partial<ServerOptions>): Promise<TracksideServer>;
}

/**
 * Loads what a config exports: `defineConfig({ … })`, or a Trackside. From here on the process works in the config's
 * folder: a store named "trackside.db" is the same one wherever the command is called.
 */
export async function loadConfig(path: string, io: Io): Promise<Loaded> {
  const name = shown(path, io.cwd);
  const folder = dirname(path);
  if (folder !== io.cwd) io.chdir(folder);
  const exports = await loadModule(path, io);
  const found = exports["default"];
  const loaded = readConfig(found, name);
  if (loaded !== undefined) return loaded;
  const misplaced = Object.keys(exports).find((key) => isTrackside(exports[key]) || makerOf(exports[key]));
  if (misplaced !== undefined)
    throw new Complaint(`${name} exports its configuration as \`${misplaced}\`; make it the default export.`);
  throw new Complaint(`${name} exports no configuration as default, ${inventory(exports)}. ${EXAMPLE}`);
}

function readConfig(found: unknown, name: string): Loaded | undefined {
  if (isTrackside(found)) {
    const served = async (wanted: Partial<ServerOptions>) => {
      const { createServer } = await import("@trackside/server");
      return createServer({ ...wanted, trackside: found });
    };
    return { trackside: found, server: served };
  }
  const made = makerOf(found);
  if (made === undefined) return undefined;
  try {
    const trackside = made.trackside();
    return { trackside, server: (wanted) => made.server(trackside, wanted) };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "config_invalid")
      throw new Complaint(`${name}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** What `defineConfig` left there. Asked by name: the user's copy of the server need not be ours. */
function makerOf(value: unknown): Made | undefined {
  return typeof value === "object" && value !== null ? Reflect.get(value, CONFIG) : undefined;
}

const CONFIG = Symbol.for("trackside.config");

/** Asked of the object, not of its class: the host is the user's own copy, and ours is never loaded. */
function isTrackside(value: unknown): value is Trackside {
  return (
    typeof value === "object" &&
    value !== null &&
    "engine" in value &&
    "runs" in value &&
    "approvals" in value &&
    "open" in value &&
    typeof value.open === "function"
  );
}
