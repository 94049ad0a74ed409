import type { Json } from "trackside";
import type { Context } from "./handler.ts";

/** The tenant of the credential: the isolation key of every query (H1). */
export function tenantOf({ credential }: Context): { readonly tenant: string } {
  return { tenant: credential.tenant };
}

/** The scope of a run that this caller starts. What a request adds stands below what the credential says. */
export function scopeOf({ credential }: Context, added: Readonly<Record<string, Json>> = {}) {
  const { tenant, user } = credential;
  return { ...added, tenant, user: user.name };
}
