import type { IncomingMessage } from "node:http";
import { TracksideError } from "trackside";
import { boundedBody, unpackerOf } from "./bounded-body.ts";
import { type CheckedUrl, urlChecker } from "./check-url.ts";
import { Deadlines } from "./deadlines.ts";
import { type Outgoing, oneRequest, type Reach } from "./one-request.ts";
import type { UrlPolicy } from "./url-policy.ts";

const MAX_REDIRECTS = 3;
const MAX_BYTES = 32 * 1024 * 1024;
const CONNECT_MS = 10_000;
const IDLE_MS = 5 * 60_000;
const TOTAL_MS = 15 * 60_000;

const REDIRECT = new Set([301, 302, 303, 307, 308]);
const BODILESS = new Set([204, 205, 304]);

/** Set by whoever connects, never by whoever asks. */
const OURS =
  /^(host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|accept-encoding|proxy-.*)$/;
/** What another origin may know of a request. Everything else may be a key. */
const HARMLESS = /^(accept|accept-language|content-type|user-agent)$/;

/** For tests. */
export interface FetchSeams {
  readonly reach?: Reach;
}

/**
 * `fetch` for URLs that somebody has entered. It goes to the public internet and to what the policy allows, to the very
 * address that was checked; redirects are followed by hand, at most three, and each is checked like the first; what comes
 * back is bounded in size and time.
 *
 * Rejects with `url_refused` where it may not go, and as `fetch` does (`TypeError: fetch failed`) where it cannot.
 *
 * @example
 * const ask = guardedFetch({ allow: ["127.0.0.1:11434"] });
 * const answer = await ask("https://api.example.com/v1/models");
 */
export function guardedFetch(policy: UrlPolicy = {}, { reach }: FetchSeams = {}): typeof globalThis.fetch {
  const check = urlChecker(policy);
  const { connectMs = CONNECT_MS, idleMs = IDLE_MS, totalMs = TOTAL_MS, maxBytes = MAX_BYTES } = policy;

  return async (input, init) => {
    // Before anything parses it: a parser hides how it was written.
    const given = typeof input === "string" || input instanceof URL ? input : input.url;
    const signal = init?.signal ?? (input instanceof Request ? input.signal : undefined);
    signal?.throwIfAborted();
    const deadlines = new Deadlines({ connectMs, idleMs, totalMs }, signal ?? undefined);
    deadlines.connecting();
    try {
      let checked = await deadlines.during(check(given));
      const request = new Request(input, init);
      let outgoing = await outgoingOf(request);
      for (let redirects = 0; ; redirects += 1) {
        const response = await oneRequest(checked, outgoing, deadlines, reach);
        deadlines.touch();
        const location = REDIRECT.has(response.statusCode ?? 0) ? response.headers.location : undefined;
        if (location === undefined || request.redirect === "manual")
          return answered(response, { checked, redirected: redirects > 0, maxBytes, deadlines, outgoing });
        response.destroy();
        deadlines.connecting();
        if (request.redirect === "error" || redirects >= MAX_REDIRECTS)
          throw refusedRedirect(
            request.redirect === "error" ? "none is followed here" : `more than ${MAX_REDIRECTS} in a row`,
          );
        const next = await deadlines.during(check(absolute(location, checked.url)));
        outgoing = redirected(outgoing, response.statusCode ?? 0, checked.url, next.url);
        checked = next;
      }
    } catch (error) {
      const reason = deadlines.reason(error);
      deadlines.abandon(reason);
      throw reason;
    }
  };
}

async function outgoingOf(request: Request): Promise<Outgoing> {
  const headers = new Headers();
  for (const [name, value] of request.headers) if (!OURS.test(name)) headers.append(name, value);
  headers.set("accept-encoding", "identity");
  if (!headers.has("accept")) headers.set("accept", "*/*");
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer());
  return { method: request.method, headers, body };
}

function absolute(location: string, base: URL): string {
  // As it is written where it is whole, so that a strange spelling is seen.
  if (/^[a-z][a-z0-9+.-]*:/i.test(location)) return location;
  const next = URL.parse(location, base.href);
  if (next === null) throw refusedRedirect("it leads to no valid URL");
  return next.href;
}

/** What is sent after a redirect: as the Fetch standard has it, but a body and keys stay with their origin. */
function redirected(outgoing: Outgoing, status: number, from: URL, to: URL): Outgoing {
  if (from.protocol === "https:" && to.protocol !== "https:")
    throw refusedRedirect("it leads away from https");
  const elsewhere = from.origin !== to.origin;
  const { method } = outgoing;
  const asGet = (status === 303 && method !== "HEAD") || (status <= 302 && method === "POST");
  const body = asGet ? undefined : outgoing.body;
  if (elsewhere && body !== undefined)
    throw refusedRedirect(
      `what was sent would go to another host, ${JSON.stringify(to.host)}; enter that one instead`,
    );
  const headers = new Headers();
  for (const [name, value] of outgoing.headers) {
    if (asGet && name.startsWith("content-")) continue;
    if (elsewhere && !HARMLESS.test(name) && name !== "accept-encoding") continue;
    headers.append(name, value);
  }
  return { method: asGet ? "GET" : method, headers, body };
}

function answered(
  response: IncomingMessage,
  about: {
    readonly checked: CheckedUrl;
    readonly redirected: boolean;
    readonly maxBytes: number;
    readonly deadlines: Deadlines;
    readonly outgoing: Outgoing;
  },
): Response {
  const { checked, redirected, maxBytes, deadlines, outgoing } = about;
  const status = response.statusCode ?? 0;
  const headers = new Headers();
  for (let i = 0; i + 1 < response.rawHeaders.length; i += 2)
    headers.append(response.rawHeaders[i] ?? "", response.rawHeaders[i + 1] ?? "");
  if (unpackerOf(response) !== undefined) {
    // It is unpacked by then.
    headers.delete("content-encoding");
    headers.delete("content-length");
  }
  const empty = BODILESS.has(status) || outgoing.method === "HEAD";
  if (empty) {
    deadlines.over();
    response.destroy();
  }
  const body = empty
    ? null
    : boundedBody(response, maxBytes, {
        touched: () => deadlines.touch(),
        over: () => deadlines.over(),
        failed: (error) => deadlines.reason(error),
      });
  const answer = new Response(body, { status, headers });
  Object.defineProperties(answer, { url: { value: checked.url.href }, redirected: { value: redirected } });
  return answer;
}

function refusedRedirect(why: string): TracksideError {
  return new TracksideError("url_refused", `The answer was a redirect that is not followed: ${why}.`);
}
