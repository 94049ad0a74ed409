import { join } from "node:path";
import { sqlite, Trackside } from "@trackside/host";
import { createServer, type TracksideServer } from "@trackside/server";
import { ADMIN, type Parts } from "./parts.ts";

export interface ServeOptions {
  /** The folder of the database. Without one it is in memory. */
  readonly dir?: string;
  readonly port: number;
  /** The folder of the built web app. */
  readonly web: string;
  /** Whether the first admin exists. */
  readonly setUp: boolean;
  /** The password of the first admin. None by default, because hashing it takes a quarter of a second. */
  readonly password?: string | undefined;
}

export interface Serving {
  readonly trackside: Trackside;
  readonly server: TracksideServer;
  readonly url: string;
  /** What `npm start` prints: a link that makes the first admin, or signs a user in. */
  link(user?: string): Promise<string>;
  close(): Promise<void>;
}

/** The server and what it serves, in this process. */
export async function serve(
  parts: Parts,
  { dir, port, web, setUp, password }: ServeOptions,
): Promise<Serving> {
  const { server: options, ...rest } = parts;
  const trackside = new Trackside({
    ...rest,
    store: sqlite(dir === undefined ? ":memory:" : join(dir, "trackside.db")),
  });
  const server = createServer({ checkAnswers: true, ...options, trackside, port, web });
  try {
    const { url } = await server.listen();
    if (setUp) await makeAdmin(trackside, password);
    return {
      trackside,
      server,
      url,
      link: async (user = ADMIN) => (await server.setupLink()) ?? server.signInLink(user),
      close: async () => {
        await server.close({ graceMs: 0 });
        await trackside.close();
      },
    };
  } catch (error) {
    await server.close({ graceMs: 0 });
    await trackside.close();
    throw error;
  }
}

async function makeAdmin({ access }: Trackside, password: string | undefined): Promise<void> {
  const link = await access.setupLink();
  if (link === undefined) return; // made before a restart
  const made = await access.finishSetup(link.secret, { name: ADMIN, password });
  if ("failed" in made) throw new Error(`the admin of the test was not made: ${made.failed}`);
}
