import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "./testing/temporary-folder.ts";

/** A new temporary folder with these files. */
export function fixture(files: Record<string, string>): string {
  const root = temporaryFolder("fixture");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}
