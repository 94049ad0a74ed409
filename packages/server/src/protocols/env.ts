import type { Trackside } from "@trackside/host";
import type { Context } from "hono";

export type ProtocolRole = "viewer" | "operator" | "approver" | "admin";

/** Who asks: made from a session or a token, never from what the request says of itself (H1). */
export interface ProtocolCredential {
  readonly tenant: string;
  readonly user: { readonly id: string; readonly name: string };
  readonly role: ProtocolRole;
}

/** What protocols need of the server they are mounted on: set for every request before it reaches them. */
export interface ProtocolEnv {
  Bindings: { readonly outgoing?: { readonly destroyed: boolean } };
  Variables: {
    credential: ProtocolCredential;
    trackside: Trackside;
    /** Where people find the control room, for links to approvals; without it they are relative. */
    publicUrl?: string;
    /** Aborted when the client goes away or the server closes. */
    signal?: AbortSignal;
  };
}

export type ProtocolContext = Context<ProtocolEnv>;
