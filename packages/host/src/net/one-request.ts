import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { type CheckedUrl, portOf } from "./check-url.ts";
import type { Deadlines } from "./deadlines.ts";
import { type Address, bare } from "./url-policy.ts";

/** What is sent, with a body that can be sent again after a redirect. */
export interface Outgoing {
  readonly method: string;
  readonly headers: Headers;
  readonly body: Uint8Array | undefined;
}

/** For tests, which have no internet: where an address is really reached. */
export type Reach = (to: Address, port: number) => { readonly to: Address; readonly port: number };

/** A connection each, so that none is open to what another check has found; and no proxy of the environment, which would resolve names itself. */
const AGENTS = { http: new HttpAgent({ keepAlive: false }), https: new HttpsAgent({ keepAlive: false }) };

/** Sends a request to the very addresses that were checked: the resolver is not asked again. Answers once the headers are there. */
export function oneRequest(
  { url, addresses }: CheckedUrl,
  { method, headers, body }: Outgoing,
  deadlines: Deadlines,
  reach: Reach = (to, port) => ({ to, port }),
): Promise<IncomingMessage> {
  const reached = addresses.map((address) => reach(address, portOf(url)));
  const [first] = reached;
  const to = reached.map((one) => one.to);
  const host = bare(url.hostname);
  const lookup: LookupFunction = (_name, options, done) => {
    const [one] = to;
    if (options.all) done(null, [...to]);
    else done(null, one?.address ?? "", one?.family);
  };
  const secure = url.protocol === "https:";
  const send = secure ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = send({
      host: isIP(host) === 0 ? host : first?.to.address,
      port: first?.port,
      lookup,
      ...(secure && isIP(host) === 0 ? { servername: host } : {}),
      agent: secure ? AGENTS.https : AGENTS.http,
      method,
      path: `${url.pathname}${url.search}`,
      headers: { ...Object.fromEntries(headers), host: url.host, ...lengthOf(method, body) },
      signal: deadlines.signal,
    });
    sent.on("socket", (socket) => socket.once(secure ? "secureConnect" : "connect", () => deadlines.touch()));
    sent.on("error", reject);
    sent.on("response", resolve);
    sent.on("upgrade", (_response, socket) => socket.destroy(new Error("another protocol was answered")));
    sent.end(body);
  });
}

function lengthOf(method: string, body: Uint8Array | undefined): Record<string, string> {
  if (body !== undefined) return { "content-length": String(body.byteLength) };
  return method === "GET" || method === "HEAD" ? {} : { "content-length": "0" };
}
