import { Refusal } from "./refusal.ts";

/** Files come inside messages, and some clients send their whole history each time. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;
/** Far deeper than any message of these protocols: what walks a body must not run out of stack. */
const MAX_DEPTH = 64;

/** The body of a request as a JSON object: bounded in bytes and depth before anything looks at it. */
export async function readJsonObject(request: Request): Promise<Record<string, unknown>> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/([\w.+-]+\+)?json\s*(;|$)/i.test(type))
    throw new Refusal(415, "media_type", `Content-Type: application/json expected, "${type}" given.`);
  const value = parse(await readText(request));
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Refusal(400, "body_invalid", "The body has to be a JSON object.");
  if (isDeeperThan(value, MAX_DEPTH))
    throw new Refusal(400, "body_invalid", `The body is nested more than ${MAX_DEPTH} levels deep.`);
  return value as Record<string, unknown>; // an object, as was just seen
}

async function readText(request: Request): Promise<string> {
  const tooLarge = () =>
    new Refusal(413, "too_large", `The body is larger than ${MAX_BODY_BYTES} bytes. Send files by address.`);
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of request.body ?? []) {
    bytes += piece.byteLength;
    if (bytes > MAX_BODY_BYTES) throw tooLarge();
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, "body_invalid", "The body is not JSON.");
  }
}

/** Without recursion: the depth is the attacker's choice. */
function isDeeperThan(value: object, most: number): boolean {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > most) return true;
    const below: object[] = [];
    for (const one of level)
      for (const inner of Object.values(one))
        if (typeof inner === "object" && inner !== null) below.push(inner);
    level = below;
  }
  return false;
}
