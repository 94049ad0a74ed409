import { join } from "node:path";
import { type Role, sqlite, Trackside, type TracksideOptions } from "@trackside/host";
import { Agent, defineTool } from "trackside";
import { scriptedModel } from "trackside/testing";
import * as z from "zod";
import { afterFile } from "../../../../../scripts/testing/after-file.ts";
import { temporaryFolder } from "../../../../../scripts/testing/temporary-folder.ts";
import { type Client, createClient } from "../../../src/client/index.ts";
import { createServer, type ServerOptions, type TracksideServer } from "../../../src/index.ts";

export type Caller = "nobody" | Role | "stranger";
/** In the order people read it; a stranger is an admin of another tenant. */
export const CALLERS: readonly Caller[] = ["nobody", "viewer", "operator", "approver", "admin", "stranger"];

export interface Room {
  readonly trackside: Trackside;
  readonly server: TracksideServer;
  readonly url: string;
  readonly dir: string;
  readonly log: string[];
  /** API tokens of one user for each role. */
  readonly tokens: Readonly<Record<Exclude<Caller, "nobody">, string>>;
  client(caller: Caller): Client;
  /** A request as it is, below `/api/v1` unless the path says otherwise. */
  send(path: string, init?: RequestInit & { readonly as?: Caller }): Promise<Response>;
  close(): Promise<void>;
}

export interface RoomOptions {
  readonly host?: Partial<TracksideOptions>;
  readonly server?: Partial<ServerOptions>;
  /** Another one's, to go on where that left off. */
  readonly dir?: string;
}

const refund = defineTool({
  name: "refund",
  description: "Pays an order back.",
  input: z.object({ order: z.number().int() }),
  irreversible: true,
  execute: ({ order }) => `refunded ${order}`,
});

/** Says one thing, whoever asks. */
export const clerk = () =>
  new Agent({ name: "clerk", model: scriptedModel(["Good day."], { loop: true }), instructions: "Be kind." });

/** Asks before it pays. */
export const cashier = () =>
  new Agent({
    name: "cashier",
    model: scriptedModel(
      [
        ({ prompt }) =>
          prompt.some(({ role }) => role === "tool")
            ? "Done."
            : { calls: [{ tool: "refund", args: { order: 17 } }] },
      ],
      { loop: true },
    ),
    tools: [refund],
    hitlTools: ["refund"],
  });

/** A server on a free port with its store in a folder of its own, and a user for each role. */
export async function openRoom(options: RoomOptions = {}): Promise<Room> {
  const dir = options.dir ?? temporaryFolder("http");
  const log: string[] = [];
  const trackside = new Trackside({
    store: sqlite(join(dir, "trackside.db"), { sync: "normal" }),
    agents: [clerk(), cashier()],
    tools: [refund],
    notice: (message) => void log.push(message),
    ...options.host,
  } as TracksideOptions); // the agents of a test are what the host takes
  const server = createServer({
    port: 0,
    web: false,
    checkAnswers: true,
    log: (line) => void log.push(line),
    ...options.server,
    trackside,
  });
  const { port } = await server.listen();
  const url = `http://127.0.0.1:${port}`;
  const tokens = await makeTokens(trackside);
  const room: Room = {
    trackside,
    server,
    url,
    dir,
    log,
    tokens,
    client: (caller) =>
      createClient({ baseUrl: url, ...(caller === "nobody" ? {} : { token: tokens[caller] }) }),
    send: (path, { as = "nobody", headers, ...init } = {}) => {
      const all = new Headers(headers);
      if (as !== "nobody") all.set("authorization", `Bearer ${tokens[as]}`);
      if (init.body != null && !all.has("content-type")) all.set("content-type", "application/json");
      return fetch(`${url}${path.startsWith("//") ? path.slice(1) : `/api/v1${path}`}`, {
        ...init,
        headers: all,
      });
    },
    close: async () => {
      await server.close({ graceMs: 0 });
      await trackside.close();
    },
  };
  afterFile(() => room.close());
  return room;
}

/** Made anew by every server on a store: of old ones only digests are left. */
async function makeTokens({ access }: Trackside): Promise<Room["tokens"]> {
  const made: Record<string, string> = {};
  for (const caller of CALLERS) {
    if (caller === "nobody") continue;
    const tenant = caller === "stranger" ? "elsewhere" : "default";
    const role = caller === "stranger" ? "admin" : caller;
    const by = { tenant, by: "test" };
    const user =
      (await access.users.find(caller, { tenant })) ??
      (await access.users.create({ name: caller, role }, by));
    const { secret } = await access.tokens.create({ user: user.id, name: "test", role }, by);
    made[caller] = secret;
  }
  return made as Room["tokens"]; // one for each caller that is somebody
}

/** A session as a browser has it. */
export async function signedIn(room: Room, name = "admin"): Promise<string> {
  const link = await room.server.signInLink(name);
  const secret = new URLSearchParams(new URL(link).hash.slice(1)).get("link");
  const answer = await room.send("/session", { method: "POST", body: JSON.stringify({ link: secret }) });
  return (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
}

export async function until<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
