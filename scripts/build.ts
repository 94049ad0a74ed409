import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "tsdown";
import { type Manifest, promisesTypes, publicPackages } from "./public-packages.ts";

/** Source file of each file that the manifest promises in dist/, keyed by its name there without extension. */
export function entriesOf(manifest: Manifest): Record<string, string> {
  const entries: Record<string, string> = {};
  const add = (dist: string, source: string) => {
    const name = /^\.\/dist\/(.+)\.js$/.exec(dist)?.[1];
    if (!name) throw new Error(`${manifest.name}: ${dist} should be ./dist/….js`);
    entries[name] = source;
  };
  for (const target of Object.values(manifest.exports ?? {})) {
    if (typeof target === "object" && target.default && target["@trackside/source"])
      add(target.default, target["@trackside/source"]);
  }
  for (const dist of Object.values(manifest.bin ?? {}))
    add(dist, dist.replace("/dist/", "/src/").replace(/\.js$/, ".ts"));
  return entries;
}

/** One character beyond Latin-1 makes Node hold a whole file at two bytes a character, and read it more slowly. */
const asciiOnly = {
  name: "ascii-only",
  // After the source map: within a line that has such a character its columns are off by a little.
  generateBundle(_options: unknown, files: Record<string, { code?: string }>): void {
    for (const [name, file] of Object.entries(files)) {
      if (file.code === undefined || !name.endsWith(".js")) continue;
      file.code = file.code.replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
    }
  },
};

async function buildPackage(root: string, dir: string, manifest: Manifest): Promise<void> {
  const entry = entriesOf(manifest);
  for (const source of Object.values(entry)) {
    if (!existsSync(join(root, dir, source)))
      throw new Error(`${manifest.name}: ${dir}/${source} does not exist`);
  }
  await build({
    config: false,
    cwd: join(root, dir),
    tsconfig: join(root, "tsconfig.json"),
    entry,
    format: "esm",
    platform: "node",
    fixedExtension: false,
    copy: join(root, "LICENSE"),
    sourcemap: true,
    // src/ is published, so the maps need not repeat it.
    outputOptions: { sourcemapExcludeSources: true, plugins: [asciiOnly] },
    dts: promisesTypes(manifest) && { sourcemap: false },
    deps: {
      neverBundle: true,
      // A package that is only a devDependency is there for us and missing for users.
      onlyImport: Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }),
    },
    failOnWarn: true,
    suppressWarnings: [/TypeScript 7\.0 does not yet have a stable API/],
    logLevel: "warn",
  });
  // What a package makes of its own dist/.
  const after = join(root, dir, "after-build.ts");
  if (existsSync(after)) await import(pathToFileURL(after).href);
  console.log(`built ${manifest.name}: ${Object.keys(entry).join(", ")}`);
}

if (import.meta.main) {
  const only = process.argv.slice(2);
  for (const { dir, manifest } of publicPackages(process.cwd())) {
    if (only.length === 0 || only.includes(manifest.name)) await buildPackage(process.cwd(), dir, manifest);
  }
}
