import type { Rate } from "./rate-limit.ts";

export interface Limits {
  /** Bytes of a body. */
  readonly body: number;
  /** Bytes where files come along: messages, and conversations that are imported. */
  readonly largeBody: number;
  /** Requests of one user or token. */
  readonly credential: Rate;
  /** Requests from one address, whoever it is. */
  readonly address: Rate;
  /** Requests from one address by nobody who is known. */
  readonly nobody: Rate;
  /** Attempts to sign in from one address. */
  readonly signIn: Rate;
  /** Webhooks for one schedule from one address. */
  readonly trigger: Rate;
  /** How long headers, and whole requests, may take to come in. */
  readonly headersMs: number;
  readonly requestMs: number;
  /** Connections at once. */
  readonly connections: number;
}

export const DEFAULT_LIMITS: Limits = {
  body: 1024 * 1024,
  largeBody: 32 * 1024 * 1024,
  credential: { burst: 4000, perSecond: 1000 },
  address: { burst: 8000, perSecond: 2000 },
  nobody: { burst: 300, perSecond: 50 },
  signIn: { burst: 20, perSecond: 0.5 },
  trigger: { burst: 60, perSecond: 5 },
  headersMs: 10_000,
  requestMs: 60_000,
  connections: 10_000,
};
