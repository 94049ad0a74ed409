import { existsSync, globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join } from "node:path";
import { type Import, importsOf, type Node, parse } from "./syntax.ts";

export interface SourceFile {
  path: string;
  text: string;
  program: Node;
  imports: Import[];
}

/** Where an import leads: into a file of the workspace, or to a package from outside (`node:` for Node's own). */
export type Target = { file: string } | { packageName: string } | { problem: string };

/** The packages below a root folder: their source files, and where an import in one of them leads. */
export class Workspace {
  readonly root: string;
  private readonly files = new Map<string, SourceFile>();
  private readonly packages = new Map<string, { dir: string; sources: Map<string, string> }>();

  constructor(root: string) {
    this.root = root;
    for (const manifest of globSync("packages/*/package.json", { cwd: root })) {
      const { name, exports = {} } = JSON.parse(readFileSync(join(root, manifest), "utf8"));
      const sources = new Map<string, string>();
      for (const path of Object.keys(exports)) {
        const source = exports[path]["@trackside/source"];
        if (source) sources.set(path, source);
      }
      this.packages.set(name, { dir: dirname(manifest), sources });
    }
  }

  /** Tests are left out: they may look behind every door. */
  sourcePaths(): string[] {
    return globSync("packages/*/src/**/*.{ts,tsx}", { cwd: this.root })
      .filter((path) => !/\.test\.tsx?$/.test(path))
      .sort();
  }

  read(path: string): SourceFile {
    const known = this.files.get(path);
    if (known) return known;
    const text = readFileSync(join(this.root, path), "utf8");
    const program = parse(path, text);
    const file = { path, text, program, imports: importsOf(program) };
    this.files.set(path, file);
    return file;
  }

  resolve(from: string, specifier: string): Target {
    if (isBuiltin(specifier)) return { packageName: "node:" };
    if (specifier.startsWith(".")) return this.existing(join(dirname(from), specifier));
    const packageName = /^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier;
    const home = this.packages.get(packageName);
    if (!home) return { packageName };
    const source = home.sources.get(`.${specifier.slice(packageName.length)}`);
    if (!source) return { problem: `which ${home.dir}/package.json does not export from source` };
    return this.existing(join(home.dir, source));
  }

  private existing(file: string): Target {
    return existsSync(join(this.root, file)) ? { file } : { problem: "which does not exist" };
  }
}
