import { dirname } from "node:path";
import type { Trackside } from "@trackside/host";
import { Complaint } from "../complaint.ts";
import { inventory } from "../inventory.ts";
import { loadModule, shown } from "../load-module.ts";
import { EXAMPLE } from "./find-config.ts";

/**
 * Loads the Trackside that a config exports. From here on the process works in the config's folder: a store named
 * "trackside.db" is the same one wherever the command is called.
 */
export async function loadConfig(path: string, cwd: string): Promise<Trackside> {
  const name = shown(path, cwd);
  const folder = dirname(path);
  if (folder !== process.cwd()) process.chdir(folder);
  const exports = await loadModule(path, cwd);
  const found = exports["default"];
  if (isTrackside(found)) return found;
  const misplaced = Object.keys(exports).find((key) => isTrackside(exports[key]));
  if (misplaced !== undefined)
    throw new Complaint(`${name} exports its Trackside as \`${misplaced}\`; make it the default export.`);
  throw new Complaint(`${name} exports no Trackside as default, ${inventory(exports)}. ${EXAMPLE}`);
}

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
