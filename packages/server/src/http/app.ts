import { Hono } from "hono";
import { type ApiOptions, api } from "./api.ts";
import { keepConnection } from "./connections.ts";
import { readCookie } from "./cookies.ts";
import { credentialOf, type Env } from "./env.ts";
import { checkOrigin } from "./forgery.ts";
import type { Credential } from "./handler.ts";
import { secured } from "./headers.ts";
import type { Hosts } from "./hosts.ts";
import { notFound, problemOf, problemResponse } from "./problem.ts";
import { RateLimit } from "./rate-limit.ts";

/** Lets others decide who comes, such as a company's own sign-in. Asked first; undefined leaves it to sessions and tokens. */
export type Authenticate = (request: Request) => Promise<Credential | undefined>;

export interface AppOptions extends ApiOptions {
  readonly hosts: Hosts;
  readonly authenticate: Authenticate | undefined;
  /** Whether what stands in front says whom a request is from. */
  readonly trustProxy: boolean;
  /** Aborted when the server closes. */
  readonly closing: AbortSignal;
  /** Apps for standard clients, for known callers only. */
  readonly protocols: readonly { readonly paths: readonly string[]; readonly app: Hono<Env> }[];
  /** The control room's files. */
  readonly files: (request: Request) => Promise<Response>;
}

type Bindings = Env["Bindings"];

const API = /^\/(?:api|v1|mcp)(?:\/|$)/;
const NOBODY = { credential: undefined, byCookie: false };

/** Everything between a request and its answer. */
export function makeApp(options: AppOptions): (request: Request, env?: Bindings) => Promise<Response> {
  const { services, limits, hosts, reporting, closing, authenticate } = options;
  const { trackside, cookie } = services;
  const byAddress = new RateLimit(limits.address);
  const byCredential = new RateLimit(limits.credential);
  const byNobody = new RateLimit(limits.nobody);

  const open = new Set<AbortController>();
  closing.addEventListener("abort", () => {
    for (const one of open) one.abort();
  });

  const app = new Hono<Env>();
  app.use(async (c, next) => {
    const request = c.req.raw;
    const host = hostOf(request, c.env);
    hosts.check(host);
    const address = addressOf(request, c.env, options.trustProxy);
    byAddress.take(address);
    const isFile = !API.test(c.req.path); // the control room's own, which anybody may have
    const { credential, byCookie } = isFile ? NOBODY : await whoAsks(request);
    if (credential !== undefined)
      byCredential.take(`${credential.tenant}\0${credential.user.id}\0${credential.via}`);
    else if (!isFile) byNobody.take(address);
    checkOrigin(request, host, hosts, byCookie);
    c.set("credential", credential);
    c.set("trackside", trackside);
    c.set("publicUrl", services.publicUrl());
    c.set("address", address);
    c.set("signal", connected(request, c.env));
    return next();
  });
  app.route("/api/v1", api(options));
  for (const path of new Set(options.protocols.flatMap(({ paths }) => paths)))
    app.use(path, async (c, next) => {
      credentialOf(c);
      return next();
    });
  for (const { app: protocol } of options.protocols) app.route("/", protocol);
  for (const path of ["/api/*", "/v1/*", "/mcp/*"])
    app.all(path, (c) => {
      throw notFound(
        `There is nothing at ${c.req.method} ${c.req.path.slice(0, 200)}. See /api/v1/openapi.json.`,
      );
    });
  app.all("*", (c) => options.files(c.req.raw));
  app.onError((error, c) => problemResponse(error, reporting, c.req.path.startsWith("/v1/")));

  return async (request, env = {}) => {
    const response = await app.fetch(request, env);
    return secured(response, services.publicUrl().startsWith("https:"));
  };

  async function whoAsks(
    request: Request,
  ): Promise<{ readonly credential: Credential | undefined; readonly byCookie: boolean }> {
    const given = await authenticate?.(request);
    // Whatever that went by may be a cookie: it is treated like one.
    if (given !== undefined) return { credential: given, byCookie: !request.headers.has("authorization") };
    const [, token] = /^Bearer +([\w.~+/-]+=*)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (token !== undefined) return { credential: await trackside.access.token(token), byCookie: false };
    const secret = readCookie(cookie(), request.headers.get("cookie"));
    if (secret === undefined) return { credential: undefined, byCookie: false };
    const credential = await trackside.access.session(secret);
    return { credential, byCookie: credential !== undefined };
  }

  function connected(request: Request, { outgoing }: Bindings = {}): AbortSignal {
    const problem = (error: unknown) => problemOf(error, reporting).problem;
    keepConnection(request, { drop: () => outgoing?.destroy(), problem });
    if (outgoing === undefined) return AbortSignal.any([request.signal, closing]);
    const gone = new AbortController();
    open.add(gone);
    outgoing.once("close", () => {
      open.delete(gone);
      // Whoever was answered has not gone away.
      if (!outgoing.writableFinished) gone.abort();
    });
    return gone.signal;
  }
}

/** Null where it is said twice: whoever stands in front may have gone by the other one. */
function hostOf(request: Request, { incoming }: Bindings = {}): string | null {
  if (incoming === undefined) return new URL(request.url).host;
  const said = incoming.headersDistinct["host"];
  return said?.length === 1 ? (said[0] ?? null) : null;
}

/** Whom limits are for. A whole /64 is one caller: that is what a single customer is given. */
function addressOf(request: Request, { incoming }: Bindings = {}, trustProxy: boolean): string {
  const forwarded = trustProxy
    ? request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim()
    : undefined;
  const address = (forwarded || incoming?.socket.remoteAddress) ?? "local";
  if (!address.includes(":") || address.startsWith("::ffff:")) return address.slice(0, 64);
  return address.split(":").slice(0, 4).join(":");
}
