import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Trackside } from "@trackside/host";
import { type Client, createClient, type Role } from "@trackside/server/client";
import type { BrowserContext } from "playwright-core";
import { onTestFinished } from "vitest";
import { ServerProcess } from "../../../../scripts/services/server-process.ts";
import { builtWeb } from "../../../../scripts/web-build.ts";
import { ADMIN, type Parts } from "./parts.ts";
import { type Serving, serve } from "./serve.ts";

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

/** In this process, so that tools and models are what the test made. */
export async function startControlRoom({
  setUp = true,
  web,
  ...parts
}: Parts & Options): Promise<ControlRoomHere> {
  const dir = mkdtempSync(join(tmpdir(), "trackside-room-"));
  let serving: Serving | undefined;
  const close = async () => {
    await serving?.close();
    serving = undefined;
    rmSync(dir, { recursive: true, force: true });
  };
  onTestFinished(close);
  const started = await serve(parts, { dir, port: 0, web: web ?? (await builtWeb()), setUp });
  serving = started;
  const { url, trackside } = started;
  return { url, trackside, signedInUrl: () => started.link(), ...known(() => url), close };
}

/** As a process, of the parts that a module exports by default: one that can be killed, and started again. */
export async function startControlRoomProcess(
  module: string,
  { setUp = true, web: files }: Options = {},
): Promise<ControlRoomProcess> {
  const dir = mkdtempSync(join(tmpdir(), "trackside-room-"));
  const web = files ?? (await builtWeb());
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
  return {
    get url() {
      return url();
    },
    signedInUrl: () => textAt(join(dir, `links-${server.pid}`)),
    ...known(url),
    kill: () => server.signal("SIGKILL"),
    restart: () => server.restart(),
    close: () => server.stop(),
  };
}

/** Signing in and the API, for whoever knows the admin's password. */
function known(url: () => string): Pick<ControlRoom, "client" | "signIn"> {
  const people = new Map<Role, Promise<{ readonly name: string; readonly password: string }>>();
  people.set("admin", Promise.resolve(ADMIN));
  const tokens = new Map<Role, Promise<string>>();

  const cookieOf = async (role: Role): Promise<string> => {
    const response = await fetch(`${url()}/api/v1/session`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: url() },
      body: JSON.stringify(await person(role)),
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
  const makePerson = async (role: Role) => {
    const admin = createClient({ baseUrl: url(), token: await token("admin") });
    const made = { name: `${role}-of-the-test`, password: ADMIN.password };
    await admin.createUser({ body: { ...made, role } });
    return made;
  };
  const person = (role: Role) => {
    const made = people.get(role) ?? makePerson(role);
    people.set(role, made);
    return made;
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

/** What a socket of the machine answers. */
function textAt(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asking = request({ socketPath, path: "/" }, async (answer) => {
      let text = "";
      for await (const piece of answer) text += String(piece);
      if (answer.statusCode === 200) resolve(text);
      else reject(new Error(text));
    });
    asking.once("error", reject);
    asking.end();
  });
}
