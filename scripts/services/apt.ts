import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { withLock } from "./lock-file.ts";
import { rememberedFailure, rememberFailure } from "./past-failure.ts";

const APT_GET = "/usr/bin/apt-get";
/** A browser and what it stands on are hundreds of packages. */
const INSTALL_MS = 900_000;

/**
 * Installs a Debian package for the tests where that is possible: as root, with apt-get, one process at a time. `isThere`
 * is asked again once the lock is held, since another process may have installed it meanwhile. Undefined when it is there,
 * else why not.
 */
export async function aptInstall(packageName: string, isThere: () => boolean): Promise<string | undefined> {
  if (process.env["TRACKSIDE_SERVICES"] === "found") return "not found, and TRACKSIDE_SERVICES=found";
  if (process.getuid?.() !== 0) return "not found, and only root may install it";
  if (!existsSync(APT_GET)) return "not found, and this is no Debian";
  const reason = await withLock(
    "services-apt",
    async () => (isThere() ? "" : (rememberedFailure(packageName) ?? (await install(packageName)))),
    { waitMs: INSTALL_MS },
  );
  if (isThere()) return undefined;
  return reason || "not found, and another process is still installing something";
}

async function install(packageName: string): Promise<string> {
  process.stderr.write(`services: installing ${packageName} with apt-get, once\n`);
  const command = ["install", "-y", "--no-install-recommends", packageName];
  let problem = await apt(command);
  // The lists of packages are often missing in containers, or name versions that are gone.
  if (problem !== undefined) problem = (await apt(["update"])) ?? (await apt(command));
  if (problem === undefined)
    return `apt-get installed ${packageName}, but its programs are not where they should be`;
  const reason = `apt-get could not install it: ${problem}`;
  rememberFailure(packageName, reason);
  return reason;
}

function apt(args: readonly string[]): Promise<string | undefined> {
  const env = {
    ...process.env,
    DEBIAN_FRONTEND: "noninteractive",
    RUNLEVEL: "1", // the package's own server is not started: tests start theirs
  };
  return new Promise((resolve) => {
    const options = { env, timeout: INSTALL_MS / 2, maxBuffer: 2 ** 26 };
    execFile(APT_GET, ["-o", "DPkg::Lock::Timeout=60", ...args], options, (error, _stdout, stderr) => {
      if (error === null) return resolve(undefined);
      const lines = stderr.trim().split("\n");
      resolve(error.killed ? `no end within ${INSTALL_MS / 2000} s` : (lines.at(-1) ?? error.message));
    });
  });
}
