import { type AuditEvent, appendAudit } from "../audit/index.ts";
import type { Cipher } from "../secrets/index.ts";
import type { Store, Work } from "../store/index.ts";
import type { PasswordHasher } from "./password-hash.ts";

/** How long things last. */
export interface AccessLimits {
  /** A session that nobody uses for this long is over. Default: 12 hours. */
  readonly idleMs?: number;
  /** A session is over after this long, used or not. Default: 30 days. */
  readonly sessionMs?: number;
  /** How long a setup link works. Default: 1 hour. */
  readonly setupMs?: number;
  /** How long a link that signs somebody in works. Default: 5 minutes. */
  readonly linkMs?: number;
}

/** What the parts of access share. */
export interface AccessParts {
  readonly store: Store;
  readonly cipher: Cipher;
  readonly now: () => number;
  readonly hasher: PasswordHasher;
  readonly limits: Required<AccessLimits>;
}

/** Who is asked about, and who asks. */
export interface Change {
  readonly tenant?: string;
  /** The id of who does it, for the audit: a user's, or `cli`. */
  readonly by: string;
}

/** What is seen or written of something is told at most this often. */
export const SEEN_EVERY_MS = 60_000;

/** Tells the audit, in the same transaction, after everything else. */
export function tell({ cipher }: Pick<AccessParts, "cipher">, event: AuditEvent): Work<void> {
  return appendAudit(cipher, event);
}
