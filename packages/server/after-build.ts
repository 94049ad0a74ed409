import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { builtWeb } from "../../scripts/web-build.ts";

// The published server brings the control room along.
const target = join(import.meta.dirname, "dist/web");
rmSync(target, { recursive: true, force: true });
cpSync(await builtWeb(), target, { recursive: true });
