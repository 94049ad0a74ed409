import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { Complaint } from "../complaint.ts";
import { findFile } from "../load-module.ts";

const NAMES = ["trackside.config.ts", "trackside.config.mts", "trackside.config.js", "trackside.config.mjs"];

/** The config that is nearest: in the folder or in one above it. */
export function findConfig(cwd: string): string | undefined {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const found = NAMES.map((name) => join(folder, name)).find(isFile);
    if (found !== undefined) return found;
    if (folder === dirname(folder)) return undefined;
  }
}

/** The config that `--config` names, else the nearest. Without one there is nothing to work on. */
export function configFile(given: string | undefined, cwd: string): string {
  if (given !== undefined) return findFile(given, cwd);
  const found = findConfig(cwd);
  if (found !== undefined) return found;
  throw new Complaint(
    `There is no ${NAMES[0]} in ${cwd} or in a folder above it. ${EXAMPLE}\nOr name another file with --config.`,
  );
}

export const EXAMPLE = `It exports a configuration:

  import { sqlite } from "@trackside/host";
  import { defineConfig } from "@trackside/server/config";
  import agent from "./agent.ts";

  export default defineConfig({ store: sqlite("trackside.db"), agents: [agent] });
`;

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
