import { createHash } from "node:crypto";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { findPrograms, isProgram } from "./find-program.ts";
import { withLock } from "./lock-file.ts";
import { BUILD_MS, buildTemporal } from "./temporal-build.ts";
import { downloadTemporal } from "./temporal-download.ts";
import { TEMPORAL_CLI_VERSION } from "./temporal-version.ts";

/** Where to look, if not in the usual places. */
interface Places {
  /** For Temporal's test library. */
  readonly packages?: readonly string[];
  /** For Go, after the PATH. */
  readonly goPlaces?: readonly string[];
}

const chosen = () => process.env["TEMPORAL_CLI_PATH"] || undefined;

/** The `temporal` program: the one chosen by TEMPORAL_CLI_PATH, else one on the PATH, else our copy in the cache. */
export function findTemporal(): string | undefined {
  const path = chosen();
  if (path !== undefined) return isProgram(path) ? path : undefined;
  const folder = findPrograms(["temporal"], []);
  if (folder !== undefined) return join(folder, "temporal");
  return isProgram(cachedCopy()) ? cachedCopy() : undefined;
}

/** Where a download or a build puts it. */
export function cachedCopy(): string {
  const said = process.env["XDG_CACHE_HOME"] ?? "";
  const cache = isAbsolute(said) ? said : join(homedir(), ".cache");
  return join(cache, "trackside", `temporal-${TEMPORAL_CLI_VERSION}-${process.platform}-${process.arch}`);
}

/**
 * Sees to it that `findTemporal` finds one, which can take minutes: one process does the work, all others wait for it.
 * Undefined when it is there, else why not.
 */
export async function provideTemporal(places: Places = {}): Promise<string | undefined> {
  if (findTemporal() !== undefined) return undefined;
  if (chosen() !== undefined) return `TEMPORAL_CLI_PATH is ${chosen()}, which is no program that can be run`;
  if (process.env["TRACKSIDE_SERVICES"] === "found") return "not found, and TRACKSIDE_SERVICES=found";
  const target = cachedCopy();
  const reason = await withLock(
    `services-temporal-${createHash("sha256").update(target).digest("hex").slice(0, 12)}`,
    async () => (findTemporal() === undefined ? await fill(target, places) : ""),
    {
      waitMs: BUILD_MS,
      onWait: () => process.stderr.write(`services: waiting for Temporal, which another process prepares\n`),
    },
  );
  if (findTemporal() !== undefined) return undefined;
  return reason || "not found, and another process is still preparing it";
}

async function fill(target: string, places: Places): Promise<string> {
  try {
    const noDownload = await downloadTemporal(target, places);
    const noBuild = noDownload === undefined ? undefined : await buildTemporal(target, places);
    return noBuild === undefined ? "" : `not found; ${noDownload}; ${noBuild}`;
  } catch (error) {
    return `not found, and ${dirname(target)} cannot hold it: ${error}`;
  }
}
