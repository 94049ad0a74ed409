import type { Trackside } from "@trackside/host";
import type { SessionCookie } from "./cookies.ts";

/** What handlers share beside the host. */
export interface Services {
  readonly trackside: Trackside;
  /** Where people find the control room; known once the server listens. */
  readonly publicUrl: () => string;
  readonly cookie: () => SessionCookie;
  /** Refuses whoever tries to sign in too often. */
  readonly admitSignIn: (address: string) => void;
  /** Refuses whoever sends webhooks too often. */
  readonly admitTrigger: (sender: string) => void;
}
