import { createHmac, timingSafeEqual } from "node:crypto";

const TOLERANCE_SECONDS = 300;
const ENTRY = /^(t|v1)=([0-9a-f]+)$/;

/** `t=<unix seconds>,v1=<hmac>`, with one `v1` for each secret, so that a receiver can change its secret without a gap. */
export function signWebhook(body: string, secrets: readonly string[], unixSeconds: number): string {
  return [
    `t=${unixSeconds}`,
    ...secrets.map((secret) => `v1=${macOf(body, secret, String(unixSeconds))}`),
  ].join(",");
}

/**
 * For receivers: whether a webhook is ours and new. Give it the body as it came, not parsed and written again. Keep the
 * header `trackside-event-id` for a while too: the same event may be sent more than once.
 *
 * @example
 * if (!verifyWebhook(await request.text(), request.headers.get("trackside-signature"), secret)) return new Response(null, { status: 401 });
 */
export function verifyWebhook(
  body: string | Uint8Array,
  header: string | null | undefined,
  secret: string,
  options: { readonly toleranceSeconds?: number; readonly now?: () => number } = {},
): boolean {
  const { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now } = options;
  if (secret === "") return false;
  const entries = (header ?? "").split(",").map((entry) => ENTRY.exec(entry.trim()));
  const times = entries.flatMap((entry) => (entry?.[1] === "t" ? [entry[2] ?? ""] : []));
  const [time = ""] = times;
  if (times.length !== 1 || !/^\d{1,12}$/.test(time)) return false;
  if (Math.abs(now() / 1000 - Number(time)) > toleranceSeconds) return false;
  const expected = Buffer.from(macOf(body, secret, time));
  return entries.some((entry) => entry?.[1] === "v1" && same(Buffer.from(entry[2] ?? ""), expected));
}

function macOf(body: string | Uint8Array, secret: string, time: string): string {
  return createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex");
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
