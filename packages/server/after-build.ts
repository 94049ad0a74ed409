import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { builtWeb } from "../../scripts/web-build.ts";

// The control room goes along: whoever installs the package has no workspace to build it in.
const to = join(import.meta.dirname, "dist/web");
await rm(to, { recursive: true, force: true });
// Without compressed copies, which would double the package: the server makes them when it starts.
await cp(await builtWeb(), to, { recursive: true, filter: (path) => !/\.(br|gz)$/.test(path) });
