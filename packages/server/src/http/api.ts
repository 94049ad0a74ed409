import { allows } from "@trackside/host";
import { Hono, type Context as HonoContext } from "hono";
import { type Endpoint, type EndpointName, endpoints } from "../contract/index.ts";
import { checkAnswer } from "./check-answer.ts";
import { credentialOf, type Env } from "./env.ts";
import type { Context, Credential, Handlers } from "./handler.ts";
import { idempotencyKey, once, requestIdOf } from "./idempotency.ts";
import { inputReader } from "./input.ts";
import type { Limits } from "./limits.ts";
import { HttpProblem, problemResponse, type Reporting } from "./problem.ts";
import type { Services } from "./services.ts";

export interface ApiOptions {
  readonly handlers: Handlers;
  readonly limits: Limits;
  readonly services: Services;
  readonly reporting: Reporting;
  /** Whether answers are held against the contract, too: for tests. */
  readonly checkAnswers: boolean;
}

/** A handler without its types: what it takes and gives was checked against the contract where it was written. */
type Anything = (input: unknown, context: Context) => Promise<unknown>;

/** The API below `/api/v1`, made from the contract. */
export function api(options: ApiOptions): Hono<Env> {
  const app = new Hono<Env>();
  const methods = new Map<string, string[]>();
  for (const name of Object.keys(endpoints) as EndpointName[]) {
    const { method, path } = endpoints[name];
    const route = path.replaceAll(/\{(\w+)\}/g, ":$1");
    app.on(method, route, answering(name, options));
    methods.set(route, [...(methods.get(route) ?? []), method]);
  }
  for (const [route, allowed] of methods)
    app.all(route, (c) => {
      const allow = allowed.flatMap((method) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ");
      const detail = `${c.req.method} is not possible here; ${allow} is.`;
      throw new HttpProblem(405, "method_not_allowed", detail, { headers: { allow } });
    });
  return app;
}

function answering(name: EndpointName, options: ApiOptions): (c: HonoContext<Env>) => Promise<Response> {
  const { handlers, limits, services, checkAnswers } = options;
  const endpoint: Endpoint = endpoints[name];
  const { needs, method } = endpoint;
  const read = inputReader(name, limits);
  const handler = handlers[name] as Anything;
  const { trackside } = services;

  return async (c) => {
    const credential = needs === "nobody" ? (c.get("credential") ?? NOBODY) : credentialOf(c);
    if (needs !== "nobody" && !allows(credential.role, needs)) throw notAllowed(credential, endpoint);
    const request = c.req.raw;
    const { bytes, ...input } = await read(request, c.req.param());
    const signal = c.get("signal");
    const key = method === "GET" || needs === "nobody" ? undefined : idempotencyKey(request.headers);
    const context: Context = {
      trackside,
      services,
      credential,
      signal,
      requestId: key === undefined ? undefined : requestIdOf(credential, name, c.req.path, key),
      request,
      bytes,
      address: c.get("address"),
      publicUrl: services.publicUrl(),
    };
    const answer = async () => {
      const given = await handler(input, context);
      if (given instanceof Response) return given;
      if (checkAnswers) checkAnswer(name, given);
      if (given === undefined) return new Response(null, { status: 204 });
      return Response.json(given, { status: endpoint.status ?? 200 });
    };
    if (key === undefined) return answer();
    const { answers } = trackside;
    // What is refused is an answer like any other: whoever asks again is told the same.
    return once({ answers, credential, key, request, bytes, signal }, () =>
      answer().catch((error: unknown) => problemResponse(error, options.reporting)),
    );
  };
}

/** Stands for somebody unknown, where that is nobody's business. Its tenant has nothing in it. */
const NOBODY: Credential = { tenant: "", user: { id: "", name: "" }, role: "viewer", via: "session" };

const WHO: Readonly<Record<string, string>> = {
  operate: "operator or admin",
  decide: "approver or admin",
  admin: "admin",
};

function notAllowed({ role }: Credential, { needs, summary }: Endpoint): HttpProblem {
  const detail = `"${summary}" needs the role ${WHO[needs] ?? needs}; yours is ${role}. Ask an admin.`;
  return new HttpProblem(403, "role_not_enough", detail);
}
