import type { TracksideOptions } from "@trackside/host";
import type { ServerOptions } from "@trackside/server";

/** What a control room under test is made of: agents in code, and the toolkit for those that are made in the editor. */
export interface Parts extends Omit<TracksideOptions, "store"> {
  readonly server?: Omit<ServerOptions, "trackside" | "host" | "port" | "web">;
}

/** The name of the first admin of every control room that is set up for a test. */
export const ADMIN = "ada";
