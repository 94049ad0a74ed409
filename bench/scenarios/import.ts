import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Measured } from "../measure.ts";
import type { Metric } from "./scenario.ts";

/** The packages a user imports, by contestant. `zod` is the baseline here: the bare loop needs no more than that. */
export const packages: Record<string, string> = {
  zod: "zod",
  trackside: "trackside",
  pi: "@mariozechner/pi-agent-core",
  "ai-sdk": "ai",
  "openai-agents": "@openai/agents",
  langchain: "langchain",
};

export const imports = {
  title: "Import in a fresh process, and what `npm install` brings",
  metrics: [
    { key: "importMillis", label: "ms to import", digits: 1, ratio: true },
    { key: "installMB", label: "MB installed", digits: 1 },
    { key: "packages", label: "transitive packages", digits: 0 },
  ] satisfies Metric[],
};

export interface Installed {
  dir: string;
  name: string;
  values: Measured;
}

/** Installs one package alone, as a user gets it, in a directory of its own. */
export function install(contestant: string, versions: Record<string, string>, core: string): Installed {
  const name = packages[contestant];
  if (name === undefined) throw new Error(`no package for ${contestant}`);
  const dir = mkdtempSync(join(tmpdir(), `bench-${contestant}-`));
  writeFileSync(join(dir, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const wanted = name === "trackside" ? pack(core, dir) : `${name}@${versions[name]}`;
  npm(["install", "--no-audit", "--no-fund", "--omit=dev", wanted], dir);

  const lock: { packages: Record<string, unknown> } = JSON.parse(
    readFileSync(join(dir, "node_modules", ".package-lock.json"), "utf8"),
  );
  return {
    dir,
    name,
    values: {
      installMB: sizeOf(join(dir, "node_modules")) / 1024 / 1024,
      packages: Object.keys(lock.packages).length - 1,
    },
  };
}

/** Milliseconds that `import(name)` takes in a new process. */
export function importMillis({ dir, name }: Installed): number {
  const code = `const start = performance.now(); await import(${JSON.stringify(name)});
    process.stdout.write(String(performance.now() - start)); process.exit(0)`;
  return Number(
    execFileSync(process.execPath, ["--input-type=module", "--eval", code], { cwd: dir, encoding: "utf8" }),
  );
}

export function uninstall({ dir }: Installed): void {
  rmSync(dir, { recursive: true, force: true });
}

function pack(core: string, into: string): string {
  if (!existsSync(join(core, "dist"))) throw new Error("packages/core is not built: npm run build");
  const tarball = npm(["pack", "--silent", "--pack-destination", into], core).trim().split("\n").at(-1) ?? "";
  return join(into, tarball);
}

function npm(args: string[], cwd: string): string {
  return execFileSync("npm", args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function sizeOf(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  return stat.isDirectory()
    ? readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0)
    : stat.size;
}
