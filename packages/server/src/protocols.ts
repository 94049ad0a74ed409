import type { Hono } from "hono";
import type { Env } from "./http/env.ts";

/** What standard clients speak, and where. */
export function protocols(): readonly { readonly paths: readonly string[]; readonly app: Hono<Env> }[] {
  return [];
}
