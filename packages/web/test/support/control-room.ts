import { existsSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import type { Trackside } from "@trackside/host";
import { type Client, createClient, type Role } from "@trackside/server/client";
import type { BrowserContext } from "playwright-core";
import { onTestFinished } from "vitest";
import { ServerProcess } from "../../../../scripts/services/server-process.ts";
import { temporaryFolder } from "../../../../scripts/testing/temporary-folder.ts";
import { builtWeb } from "../../../../scripts/web-build.ts";
import { ADMIN, type Parts } from "./parts.ts";
import { serve } from "./serve.ts";

const PROGRAM = join(import.meta.dirname, "program.ts");

/** A real server with the built web app on a port of its own, gone when the test ends. */
export interface ControlRoom {
  readonly url: string;
  /** What `npm start` prints: opens signed in, or makes the first admin. Each call gives another one, good once. */
  signedInUrl(): Promise<string>;
  /** The API as an admin, or as somebody of another role. */
  client(role?: Role): Promise<Client>;
  /** Signs the person of this context in, with a cookie and without a page. */
  signIn(context: BrowserContext, role?: Role): Promise<void>;
  close(): Promise<void>;
}

export interface ControlRoomHere extends ControlRoom {
  readonly trackside: Trackside;
}

export interface ControlRoomProcess extends ControlRoom {
  /** SIGKILL. Resolves when it is gone. */
  kill(): Promise<void>;
  /** Stops it if it runs, and starts it again: same port, same data. */
  restart(): Promise<void>;
}

export interface Options {
  /** False leaves it as it is on the first visit: nobody can sign in yet. */
  readonly setUp?: boolean;
  /** The folder of files to serve, where it is not the web app. */
  readonly web?: string;
}

/** In this process, so that tools and models are what the test made. Closed when the test ends. */
export async function startControlRoom(
  options: Parameters<typeof openControlRoom>[0],
): Promise<ControlRoomHere> {
  const room = await openControlRoom(options);
  onTestFinished(room.close);
  return room;
}

/** The same for several tests: the caller closes it. */
export async function openControlRoom({
  setUp = true,
  password,
  web,
  ...parts
}: Parts & Options & { readonly password?: string }): Promise<ControlRoomHere> {
  const { url, trackside, link, close } = await serve(parts, {
    port: 0,
    web: web ?? (await builtWebOnce()),
    setUp,
    password,
  });
  return { url, trackside, signedInUrl: () => link(), ...known(() => url, link), close };
}

/** As a process, of the parts that a module exports by default: one that can be killed, and started again. */
export async function startControlRoomProcess(
  module: string,
  { setUp = true, web: files }: Options = {},
): Promise<ControlRoomProcess> {
  const dir = temporaryFolder("room");
  const web = files ?? (await builtWebOnce());
  const server = new ServerProcess(
    {
      name: "the control room",
      command: process.execPath,
      args: (port) => [
        "--conditions=@trackside/source",
        "--disable-warning=ExperimentalWarning",
        ...[PROGRAM, module, dir, String(port), web, String(setUp)],
      ],
      user: undefined,
      stopSignal: "SIGTERM",
      endSignal: "SIGKILL",
      isReady: async (_port, pid) => existsSync(join(dir, `ready-${pid}`)),
    },
    dir,
  );
  const url = () => `http://127.0.0.1:${server.port}`;
  onTestFinished(() => server.stop());
  await server.start();
  const link = (user: string) => textAt(join(dir, `links-${server.pid}`), `/${user}`);
  return {
    get url() {
      return url();
    },
    signedInUrl: () => link(ADMIN),
    ...known(url, link),
    kill: () => server.signal("SIGKILL"),
    restart: () => server.restart(),
    close: () => server.stop(),
  };
}

/** Compares the build with its sources once for all test files of this worker. */
let build: Promise<string> | undefined;
function builtWebOnce(): Promise<string> {
  build ??= builtWeb();
  return build;
}

/** Signing in and the API, by links. */
function known(
  url: () => string,
  link: (user: string) => Promise<string>,
): Pick<ControlRoom, "client" | "signIn"> {
  const names = new Map<Role, Promise<string>>([["admin", Promise.resolve(ADMIN)]]);
  const tokens = new Map<Role, Promise<string>>();

  const cookieOf = async (role: Role): Promise<string> => {
    const { hash } = new URL(await link(await nameOf(role)));
    const response = await fetch(`${url()}/api/v1/session`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url() },
      body: JSON.stringify({ link: new URLSearchParams(hash.slice(1)).get("link") }),
    });
    if (!response.ok) throw new Error(`signing in as ${role}: ${response.status} ${await response.text()}`);
    return response.headers.getSetCookie().join("\n");
  };
  const makeToken = async (role: Role): Promise<string> => {
    const [cookie = ""] = (await cookieOf(role)).split(";");
    const asSignedIn: typeof fetch = (input, init) =>
      fetch(input, { ...init, headers: { ...init?.headers, cookie, origin: url() } });
    const client = createClient({ baseUrl: url(), fetch: asSignedIn });
    return (await client.createToken({ body: { name: `test ${role}`, role } })).secret;
  };
  const token = (role: Role): Promise<string> => {
    const made = tokens.get(role) ?? makeToken(role);
    tokens.set(role, made);
    return made;
  };
  const makeUser = async (role: Role) => {
    const admin = createClient({ baseUrl: url(), token: await token("admin") });
    const name = `${role}-of-the-test`;
    await admin.createUser({ body: { name, role } });
    return name;
  };
  const nameOf = (role: Role) => {
    const name = names.get(role) ?? makeUser(role);
    names.set(role, name);
    return name;
  };
  return {
    client: async (role = "admin") => createClient({ baseUrl: url(), token: await token(role) }),
    signIn: async (context, role = "admin") => {
      const [pair = ""] = (await cookieOf(role)).split(";");
      const at = pair.indexOf("=");
      const { hostname } = new URL(url());
      await context.addCookies([
        {
          name: pair.slice(0, at),
          value: pair.slice(at + 1),
          domain: hostname,
          path: "/",
          httpOnly: true,
          sameSite: "Strict",
        },
      ]);
    },
  };
}

/** The response of a server on a Unix socket. */
function textAt(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath, path }, async (answer) => {
      let text = "";
      for await (const piece of answer) text += String(piece);
      if (answer.statusCode === 200) resolve(text);
      else reject(new Error(text));
    });
    asking.once("error", reject);
    asking.end();
  });
}
