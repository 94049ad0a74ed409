import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Long enough that a failed attempt is not repeated by every test file of a run. */
const REMEMBER_MS = 600_000;

const fileOf = (what: string) => join(tmpdir(), `trackside-services-${what}.failed`);

export function rememberFailure(what: string, reason: string): void {
  writeFileSync(fileOf(what), reason);
}

/** Why it failed a short while ago, and where to forget that. */
export function rememberedFailure(what: string): string | undefined {
  const path = fileOf(what);
  if (!existsSync(path)) return undefined;
  if (Date.now() - statSync(path).mtimeMs < REMEMBER_MS) {
    return `${readFileSync(path, "utf8")} (remembered in ${path})`;
  }
  rmSync(path, { force: true });
  return undefined;
}
