import { existsSync } from "node:fs";
import { cp, rm } from "node:fs/promises";
import { join } from "node:path";

// The control room goes along, where it is built: whoever installs the package has no workspace to find it in.
const from = join(import.meta.dirname, "../web/dist");
const to = join(import.meta.dirname, "dist/web");
await rm(to, { recursive: true, force: true });
if (existsSync(join(from, "index.html"))) await cp(from, to, { recursive: true });
else console.log("@trackside/server: without the control room; `npm run web` builds it");
