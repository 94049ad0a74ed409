import { HttpProblem } from "./problem.ts";

const MAX_DEPTH = 64;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Reads a body and stops at its limit, whatever the headers promised. */
export async function readBytes(request: Request, limit: number): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > limit) throw tooLarge(limit);
  if (declared !== null && /^\d+$/.test(declared) && request.headers.get("transfer-encoding") === null)
    return new Uint8Array(await request.arrayBuffer().catch(cutShort)); // Node's parser reads that many and no more
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of request.body) {
      size += chunk.byteLength;
      if (size > limit) throw tooLarge(limit);
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof HttpProblem) throw error;
    cutShort(error);
  }
  return Buffer.concat(chunks, size);
}

export function requireJson(type: string): void {
  if (/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(type.trim())) return;
  const given = type === "" ? "none" : JSON.stringify(type.slice(0, 80));
  throw new HttpProblem(415, "content_type", `Content-Type: application/json expected, ${given} given.`);
}

export function parseJson(bytes: Uint8Array): unknown {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(bytes));
  } catch (error) {
    const detail = "The body is not JSON in UTF-8. Check it, for instance with `jq`.";
    throw new HttpProblem(400, "json_invalid", detail, { cause: error });
  }
  checkTree(value);
  return value;
}

/** Without recursion: what is nested too deeply would overflow the stack of whoever walks it next. */
function checkTree(root: unknown): void {
  let level: object[] = typeof root === "object" && root !== null ? [root] : [];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH)
      throw new HttpProblem(400, "json_too_deep", `The body is nested deeper than ${MAX_DEPTH} levels.`);
    const next: object[] = [];
    for (const node of level) {
      if (!Array.isArray(node)) checkKeys(node);
      for (const value of Object.values(node))
        if (typeof value === "object" && value !== null) next.push(value);
    }
    level = next;
  }
}

/** `constructor` may be a word like any other; with a `prototype` in it, it is meant for somebody's careless copy. */
function checkKeys(node: object): void {
  const inner: unknown = Object.hasOwn(node, "constructor") ? Reflect.get(node, "constructor") : undefined;
  const reaches = typeof inner === "object" && inner !== null && Object.hasOwn(inner, "prototype");
  const key = Object.hasOwn(node, "__proto__") ? "__proto__" : reaches ? "constructor.prototype" : undefined;
  if (key !== undefined)
    throw new HttpProblem(400, "json_key", `The key \`${key}\` is not allowed in JSON here.`);
}

function tooLarge(limit: number): HttpProblem {
  const detail = `The body is larger than ${limit} bytes, which is the most that is taken here.`;
  // The rest of it is not read, so nothing can follow on this connection.
  return new HttpProblem(413, "too_large", detail, { headers: { connection: "close" } });
}

function cutShort(cause: unknown): never {
  throw new HttpProblem(400, "body_cut", "The body ended before it was whole.", { cause });
}
