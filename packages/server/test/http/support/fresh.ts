import { join } from "node:path";
import { sqlite, Trackside } from "@trackside/host";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { createServer, type TracksideServer } from "../../../src/index.ts";
import { clerk } from "./room.ts";

/** A server nobody has ever signed in to. */
export async function fresh(): Promise<{
  readonly trackside: Trackside;
  readonly server: TracksideServer;
  readonly url: string;
}> {
  const dir = temporaryFolder("http");
  const trackside = new Trackside({
    store: sqlite(join(dir, "trackside.db"), { sync: "normal" }),
    agents: [clerk()],
  });
  const server = createServer({ trackside, port: 0, web: false, checkAnswers: true });
  onTestFinished(async () => {
    await server.close({ graceMs: 0 });
    await trackside.close();
  });
  const { url } = await server.listen();
  return { trackside, server, url };
}
