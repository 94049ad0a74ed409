import { execFile } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withLock } from "./lock-file.ts";

const APT_GET = "/usr/bin/apt-get";
const INSTALL_MS = 240_000;
/** A failed attempt is not repeated by every test file of a run. */
const REMEMBER_FAILURE_MS = 600_000;

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
    async () => (isThere() ? "" : ((await failedBefore(packageName)) ?? (await install(packageName)))),
    { waitMs: INSTALL_MS },
  );
  if (isThere()) return undefined;
  return reason || "not found, and another process is still installing something";
}

const failureFile = (packageName: string) => join(tmpdir(), `trackside-services-${packageName}.failed`);

async function failedBefore(packageName: string): Promise<string | undefined> {
  const path = failureFile(packageName);
  if (!existsSync(path) || Date.now() - statSync(path).mtimeMs > REMEMBER_FAILURE_MS) return undefined;
  return `${readFileSync(path, "utf8")} (remembered in ${path})`;
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
  writeFileSync(failureFile(packageName), reason);
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
