import type { Trackside } from "@trackside/host";
import type { Answer, EndpointName, Read, Role } from "../contract/index.ts";
import type { Services } from "./services.ts";

/** Who asks. Made from a session or a token, never from what the request says of itself (H1). */
export interface Credential {
  readonly tenant: string;
  readonly user: { readonly id: string; readonly name: string };
  readonly role: Role;
  readonly via: "session" | "token";
}

/** What every handler is given beside its input. */
export interface Context {
  readonly trackside: Trackside;
  /** What is the server's own, such as its cookie. */
  readonly services: Services;
  readonly credential: Credential;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** The `Idempotency-Key` of this caller: the same one again is the same request (X10). */
  readonly requestId: string | undefined;
  readonly request: Request;
  /** Its body as it came: what a signature is about. */
  readonly bytes: Uint8Array;
  /** Where it came from. */
  readonly address: string;
  /** Where people find the control room: `http://127.0.0.1:4711`. */
  readonly publicUrl: string;
}

export interface Input<N extends EndpointName> {
  readonly params: Read<N, "params">;
  readonly query: Read<N, "query">;
  readonly body: Read<N, "body">;
}

/** Answers an endpoint: with what the contract says, or with a response of its own where that is no JSON. */
export type Handler<N extends EndpointName> = (
  input: Input<N>,
  context: Context,
) => Promise<(Answer<N> extends undefined ? undefined : Answer<N>) | Response>;

export type Handlers<N extends EndpointName = EndpointName> = { readonly [Name in N]: Handler<Name> };
