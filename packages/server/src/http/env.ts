import type { IncomingMessage, ServerResponse } from "node:http";
import type { Trackside } from "@trackside/host";
import type { Context as HonoContext } from "hono";
import type { Credential } from "./handler.ts";
import { HttpProblem } from "./problem.ts";

/** What the parts of the app know of a request beside the request itself. */
export interface Env {
  /** Of Node's server; nothing when the app is called directly. */
  Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
  Variables: {
    /** Who asks; undefined when nobody showed anything. */
    credential: Credential | undefined;
    trackside: Trackside;
    publicUrl: string;
    /** Aborted when the client goes away or the server closes. */
    signal: AbortSignal;
    /** Where the request came from, for limits. */
    address: string;
  };
}

/** Who asks, for what nobody may ask unknown. */
export function credentialOf(c: HonoContext<Env>): Credential {
  const credential = c.get("credential");
  if (credential === undefined) throw signInFirst();
  return credential;
}

export function signInFirst(): HttpProblem {
  return new HttpProblem(
    401,
    "not_signed_in",
    "Nobody is signed in. Sign in, or send an API token as `Authorization: Bearer tsk_…`.",
    { headers: { "www-authenticate": 'Bearer realm="trackside"' } },
  );
}
