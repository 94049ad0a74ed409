/**
 * A control room as a process of its own, so that it can be killed: the module that exports its parts, the folder of its
 * data, its port, the web app, and whether it has an admin. A request to its socket with the name of a user returns a link.
 */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Parts } from "./parts.ts";
import { serve } from "./serve.ts";

const [module = "", dir = "", port = "", web = "", setUp = ""] = process.argv.slice(2);
const { default: parts } = (await import(pathToFileURL(module).href)) as { default: Parts }; // what such modules export
const room = await serve(parts, { dir, port: Number(port), web, setUp: setUp === "true" });

// A link is good once: each is made when it is asked for, beside the server, since no page may ask for one.
const links = createServer(({ url = "" }, response) => {
  room.link(url.slice(1)).then(
    (link) => response.end(link),
    (error: unknown) => response.writeHead(500).end(String(error)),
  );
});
links.listen(join(dir, `links-${process.pid}`), () => writeFileSync(join(dir, `ready-${process.pid}`), ""));

process.once("SIGTERM", () => {
  links.close();
  void room.close().then(() => process.exit());
});
