import type { Role } from "./roles.ts";

/** Who asks, as far as what they showed tells. Tenant and user of everything they do come from here (H1). */
export interface Credential {
  readonly tenant: string;
  readonly user: { readonly id: string; readonly name: string };
  readonly role: Role;
  readonly via: "session" | "token";
  /** The id of the session or token. */
  readonly id: string;
}
