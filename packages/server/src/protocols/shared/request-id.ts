import { createHash } from "node:crypto";
import type { ProtocolCredential } from "../env.ts";
import { Refusal } from "./refusal.ts";

const MAX_KEY = 255;

/** The `Idempotency-Key` of this caller: the same one again is the same request (X10). */
export function requestIdOf(headers: Headers, { user }: ProtocolCredential): string | undefined {
  const key = headers.get("idempotency-key");
  if (key === null) return undefined;
  if (key.length === 0 || key.length > MAX_KEY)
    throw new Refusal(400, "idempotency_key", `Idempotency-Key: 1 to ${MAX_KEY} characters expected.`);
  // Two users may have the same key, and ids of requests are short.
  return `idem_${createHash("sha256")
    .update(JSON.stringify([user.id, key]))
    .digest("hex")}`;
}
