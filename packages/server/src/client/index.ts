import { endpoints } from "../contract/endpoints.ts";
import type { Answer, EndpointName, Problem, Request } from "../contract/index.ts";
import { ApiProblem } from "./problem.ts";

export type { Answer, EndpointName, Problem, Request, Role } from "../contract/index.ts";
export { ApiProblem } from "./problem.ts";

export interface ClientOptions {
  /** Where the server is: `http://127.0.0.1:4711`. In a browser on the server's own pages nothing is needed. */
  readonly baseUrl?: string;
  /** An API token; in a browser the session's cookie stands in. */
  readonly token?: string;
  readonly fetch?: typeof fetch;
}

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The same key again answers what the first call answered (X10). */
  readonly idempotencyKey?: string;
}

/** Endpoints whose answers are no JSON come as they are. */
type Answered<N extends EndpointName> = (typeof endpoints)[N] extends { readonly answers: string }
  ? Response
  : Answer<N>;
type Arguments<N extends EndpointName> = keyof Request<N> extends never
  ? [request?: Record<never, never>, options?: CallOptions]
  : [request: Optional<Request<N>>, options?: CallOptions];
/** A query whose every key may be left out may itself be. */
type Optional<R> = { readonly [K in keyof R as Record<never, never> extends R[K] ? never : K]: R[K] } & {
  readonly [K in keyof R as Record<never, never> extends R[K] ? K : never]?: R[K];
};

/** One method for each endpoint of the API. */
export type Client = {
  readonly [N in EndpointName]: (...given: Arguments<N>) => Promise<Answered<N>>;
} & {
  /** The address of an endpoint, to link to or to open as a stream of events. */
  readonly url: <N extends EndpointName>(name: N, request: { params?: unknown; query?: unknown }) => string;
};

/**
 * A typed client of the HTTP API.
 *
 * @example
 * const client = createClient({ baseUrl: "http://127.0.0.1:4711", token });
 * const { run_id } = await client.startRun({ body: { agent: "clerk", input: "Refund order 17" } });
 */
export function createClient(options: ClientOptions = {}): Client {
  const url = (name: EndpointName, request: Parts) => `${options.baseUrl ?? ""}${addressOf(name, request)}`;
  const methods = Object.keys(endpoints).map((name) => [
    name,
    (request: Parts = {}, call: CallOptions = {}) => ask(name as EndpointName, url, request, call, options),
  ]);
  // One method for each name, as the type says; what each takes and gives is the contract's.
  return { ...Object.fromEntries(methods), url } as Client;
}

interface Parts {
  readonly params?: unknown;
  readonly query?: unknown;
  readonly body?: unknown;
}

function addressOf(name: EndpointName, { params = {}, query = {} }: Parts): string {
  const given = params as Readonly<Record<string, string | number>>;
  const path = endpoints[name].path.replaceAll(/\{(\w+)\}/g, (_, key: string) =>
    encodeURIComponent(String(given[key])),
  );
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query as Record<string, unknown>))
    for (const one of [value].flat()) if (one !== undefined && one !== null) search.append(key, String(one));
  return `/api/v1${path}${search.size > 0 ? `?${search}` : ""}`;
}

async function ask(
  name: EndpointName,
  url: (name: EndpointName, request: Parts) => string,
  request: Parts,
  { signal, idempotencyKey }: CallOptions,
  { token, fetch: send = fetch }: ClientOptions,
): Promise<unknown> {
  const endpoint: { method: string; answers?: string } = endpoints[name];
  const { method, answers } = endpoint;
  const headers: Record<string, string> = {
    accept: answers === "events" ? "text/event-stream" : "application/json",
  };
  if (token !== undefined) headers["authorization"] = `Bearer ${token}`;
  if (idempotencyKey !== undefined) headers["idempotency-key"] = idempotencyKey;
  const body = request.body ?? (method === "GET" || method === "DELETE" ? undefined : {});
  if (body !== undefined) headers["content-type"] = "application/json";
  const init: RequestInit = { method, headers, credentials: "same-origin" };
  if (body !== undefined) init.body = JSON.stringify(body);
  if (signal !== undefined) init.signal = signal;
  const response = await send(url(name, request), init).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw unreachable(error);
  });
  if (!response.ok) throw new ApiProblem(await problemOf(response));
  if (answers !== undefined) return response;
  return response.status === 204 ? undefined : response.json();
}

function unreachable(cause: unknown): ApiProblem {
  const detail = "The server could not be reached. Check that it runs, then try again.";
  return new ApiProblem({ status: 0, code: "unreachable", title: "Not reached", detail }, { cause });
}

async function problemOf(response: Response): Promise<Problem> {
  const found = (await response.json().catch(() => undefined)) as Problem | undefined; // whatever stands between us may answer in HTML
  if (typeof found?.detail === "string" && typeof found.code === "string") return found;
  const { status, statusText } = response;
  const detail = `The server answered ${status}${statusText ? ` ${statusText}` : ""} and did not say why.`;
  return { type: "about:blank", title: statusText || "Failed", status, code: "http", detail };
}
