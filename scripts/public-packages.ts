import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Manifest {
  name: string;
  private?: boolean;
  exports?: Record<string, string | { "@trackside/source"?: string; types?: string; default?: string }>;
  bin?: Record<string, string>;
  dependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
}

/** Every package of the workspace that is meant for npm. */
export function publicPackages(root: string): { dir: string; manifest: Manifest }[] {
  return globSync("packages/*/package.json", { cwd: root })
    .sort()
    .map((path) => ({
      dir: dirname(path),
      manifest: JSON.parse(readFileSync(join(root, path), "utf8")) as Manifest,
    }))
    .filter(({ manifest }) => !manifest.private);
}

export function promisesTypes(manifest: Manifest): boolean {
  return Object.values(manifest.exports ?? {}).some((target) => typeof target === "object" && target.types);
}
