import { createServer as createNodeServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Trackside } from "@trackside/host";
import { TracksideError } from "trackside";
import { type Authenticate, makeApp } from "./http/app.ts";
import { sessionCookie } from "./http/cookies.ts";
import { Hosts, isLoopback } from "./http/hosts.ts";
import { DEFAULT_LIMITS, type Limits } from "./http/limits.ts";
import type { Reporting } from "./http/problem.ts";
import { RateLimit } from "./http/rate-limit.ts";
import type { Services } from "./http/services.ts";
import { protocols } from "./protocols.ts";
import { handlers } from "./routes/index.ts";
import { findWeb, WebFiles } from "./static.ts";

export interface ServerOptions {
  readonly trackside: Trackside;
  /** The address to listen on. Default: this machine only. */
  readonly host?: string;
  /** 0 takes a free one. */
  readonly port?: number;
  /** Where people reach it, when that is not where it listens: `https://agents.example.org`. */
  readonly publicUrl?: string;
  /** Further names that requests may have it by. */
  readonly hosts?: readonly string[];
  /** The folder of the built control room; `false` for none. Found by itself unless given. */
  readonly web?: string | false;
  readonly limits?: Partial<Limits>;
  /** Lets your own sign-in decide who comes. Sessions and tokens work beside it. */
  readonly auth?: Authenticate;
  /** Whether what stands in front sets `X-Forwarded-For`. */
  readonly trustProxy?: boolean;
  /** Told what an operator should know, a line or more at a time. Default: standard error. */
  readonly log?: (line: string) => void;
  /** Holds answers against the contract, too: for tests. */
  readonly checkAnswers?: boolean;
}

export interface TracksideServer {
  /** Where people reach it. */
  readonly url: string;
  /** `port` is the one it listens on, which may be another than that of `url`. */
  listen(): Promise<{ readonly url: string; readonly port: number }>;
  /** Ends streams, lets requests under way finish for `graceMs`, then cuts them off. The host stays open. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
  /** Answers a request without a socket. */
  fetch(request: Request): Promise<Response>;
  /** The address that makes the first admin; undefined once there is one. */
  setupLink(): Promise<string | undefined>;
  /** An address that signs a user in once, by id or name. */
  signInLink(user: string, options?: { readonly tenant?: string }): Promise<string>;
}

const IDLE_EVERY_MS = 20;

/**
 * Trackside over HTTP: the API, live events, standard protocols and the control room.
 *
 * @example
 * const server = createServer({ trackside });
 * const { url } = await server.listen();
 * console.log((await server.setupLink()) ?? url);
 */
export function createServer(options: ServerOptions): TracksideServer {
  const { trackside, host = "127.0.0.1", port = 4711, publicUrl, trustProxy = false, auth } = options;
  checkPublicUrl(publicUrl);
  const limits: Limits = { ...DEFAULT_LIMITS, ...options.limits };
  const closing = new AbortController();
  let server: Server | undefined;
  const url = () => publicUrl?.replace(/\/+$/, "") ?? addressOf(host, portOf(server) ?? port);

  const log = options.log ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const redact = (text: string) => trackside.secrets.redactor.text(text);
  const reporting: Reporting = { log: (line) => log(redact(line)), redact };
  const signIns = new RateLimit(limits.signIn);
  const triggers = new RateLimit(limits.trigger);
  const services: Services = {
    trackside,
    publicUrl: url,
    cookie: () => sessionCookie(url(), port),
    admitSignIn: (address) => signIns.take(address),
    admitTrigger: (sender) => triggers.take(sender),
  };
  const files = (async () =>
    new WebFiles(options.web === false ? undefined : (options.web ?? (await findWeb()))))();
  const fetch = makeApp({
    handlers,
    limits,
    services,
    reporting,
    checkAnswers: options.checkAnswers ?? false,
    hosts: new Hosts(host, publicUrl, options.hosts ?? []),
    authenticate: auth,
    trustProxy,
    closing: closing.signal,
    protocols: protocols(),
    files: async (request) => (await files).answer(request),
  });

  return {
    get url() {
      return url();
    },

    async listen() {
      if (server !== undefined) throw new TracksideError("config_invalid", "The server listens already.");
      if (!isLoopback(host) && auth === undefined && (await trackside.access.needsSetup()))
        throw notYet(host);
      await trackside.open();
      server = nodeServer(fetch, limits, host);
      await listening(server, host, port);
      return { url: url(), port: portOf(server) ?? port };
    },

    async close({ graceMs = 5000 } = {}) {
      closing.abort();
      if (server === undefined) return;
      const closed = new Promise<void>((resolve) => server?.close(() => resolve()));
      // A connection whose stream has just ended is idle, and would be kept for the next request.
      const idle = setInterval(() => server?.closeIdleConnections(), IDLE_EVERY_MS);
      const cut = setTimeout(() => server?.closeAllConnections(), graceMs);
      await closed;
      clearInterval(idle);
      clearTimeout(cut);
    },

    fetch: (request) => fetch(request),

    async setupLink() {
      const link = await trackside.access.setupLink();
      return link && `${url()}/setup#link=${link.secret}`;
    },

    async signInLink(user, { tenant = "default" } = {}) {
      const found = await trackside.access.users.find(user, { tenant });
      const link = await trackside.access.openLink({ user: found?.id ?? user, tenant, by: "host" });
      return `${url()}/sign-in#link=${link.secret}`;
    },
  };
}

function nodeServer(
  fetch: (request: Request, env: object) => Promise<Response>,
  limits: Limits,
  host: string,
): Server {
  const listener = getRequestListener((request, env) => fetch(request, env), {
    hostname: host,
    // Other code of this process keeps the Request and Response it knows.
    overrideGlobalObjects: false,
  });
  const server = createNodeServer(
    {
      maxHeaderSize: 16 * 1024,
      headersTimeout: limits.headersMs,
      requestTimeout: limits.requestMs,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: 65_000, // longer than what proxies keep, so that they never write to one that just closed
      insecureHTTPParser: false,
    },
    (incoming, outgoing) => void listener(incoming, outgoing),
  );
  server.maxHeadersCount = 100;
  server.maxConnections = limits.connections;
  return server;
}

async function listening(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen(port, host, resolve);
  });
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): Error {
  const where = `${host}:${port}`;
  if (error.code === "EADDRINUSE")
    return new TracksideError(
      "config_invalid",
      `Something listens on ${where} already. Stop it, or choose another port.`,
      { cause: error },
    );
  if (error.code === "EACCES" || error.code === "EADDRNOTAVAIL")
    return new TracksideError("config_invalid", `This process may not listen on ${where}: ${error.message}`, {
      cause: error,
    });
  return error;
}

function portOf(server: Server | undefined): number | undefined {
  const address = server?.address() as AddressInfo | string | null | undefined; // a string for pipes, which we never use
  return typeof address === "object" && address !== null ? address.port : undefined;
}

function addressOf(host: string, port: number): string {
  const name = host === "0.0.0.0" || host === "::" ? "localhost" : host.includes(":") ? `[${host}]` : host;
  return `http://${name}:${port}`;
}

function notYet(host: string): TracksideError {
  return new TracksideError(
    "config_invalid",
    `The server does not listen on ${host} while nobody can sign in: others reach it there. Start it once on ` +
      "127.0.0.1 and make an admin with the link it prints, or give it `auth`.",
  );
}

function checkPublicUrl(publicUrl: string | undefined): void {
  if (publicUrl === undefined) return;
  const parsed = URL.parse(publicUrl);
  const bare = parsed !== null && parsed.pathname === "/" && parsed.search === "" && parsed.hash === "";
  if (bare && /^https?:$/.test(parsed.protocol) && parsed.username === "") return;
  throw new TracksideError(
    "config_invalid",
    `publicUrl: an address without a path expected, such as https://agents.example.org, ${JSON.stringify(publicUrl)} given.`,
  );
}
