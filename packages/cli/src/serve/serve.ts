import type { Trackside } from "@trackside/host";
import type { TracksideServer } from "@trackside/server";
import { EXIT } from "../command.ts";
import { Complaint } from "../complaint.ts";
import type { Io } from "../io.ts";
import { Screen } from "../screen/screen.ts";
import { toldToStop, until } from "../told-to-stop.ts";

const GRACE_MS = 5_000;

export interface Serving {
  readonly io: Io;
  readonly trackside: Trackside;
  readonly server: TracksideServer;
  /** What to say once it listens: the address, and what is to be known. */
  readonly introduce: (screen: Screen, url: string) => Promise<void>;
}

/** Serves until it is told to stop. Runs under way are left where they are, for the next process. */
export async function serve({ io, trackside, server, introduce }: Serving): Promise<number> {
  const screen = new Screen(io.stdout, io.env);
  const stopped = toldToStop(io);
  try {
    const { url } = await server.listen().catch((error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "config_invalid")
        throw new Complaint(error.message, { cause: error });
      throw error;
    });
    await introduce(screen, url);
    await until(stopped);
    screen.line();
    screen.line("Stopping. Runs under way go on at the next start.");
  } finally {
    await server.close({ graceMs: 1_000 });
    await trackside.close({ graceMs: GRACE_MS });
  }
  return EXIT.completed;
}

/** The address that opens signed in: as the admin there is, or as the first one. */
export async function openingLink(trackside: Trackside, server: TracksideServer): Promise<string> {
  const users = await trackside.access.users.list();
  const admin = users.find(({ role, disabled_at }) => role === "admin" && disabled_at === null);
  return admin === undefined ? ((await server.setupLink()) ?? server.url) : server.signInLink(admin.id);
}
