import type { Json, JsonObject } from "../schema/json.ts";
import type { Checked, CompiledSchema } from "../tools/compile-schema.ts";
import { Checking, ROOT, type Schema } from "./untrusted/checking.ts";
import { type Caps, copyJson } from "./untrusted/copy-json.ts";
import { isObject } from "./untrusted/json-kinds.ts";
import { SchemaReader } from "./untrusted/read-schema.ts";

const MAX_BYTES = 16_384;

const SCHEMA_CAPS: Caps = {
  depth: 40,
  nodes: 3000,
  chars: MAX_BYTES,
  forbiddenKeys: ["__proto__", "constructor", "prototype"],
};

const VALUE_CAPS: Caps = { depth: 100, nodes: 100_000, chars: 1_000_000, forbiddenKeys: ["__proto__"] };

/**
 * Reads a JSON Schema that a model wrote. Neither reading it nor checking a value takes more than a bounded number of
 * steps, whatever they are: it has an interpreter of its own, since the one for our users' schemas trusts them. It follows
 * draft 2020-12 and what is left of draft 7; `format` is never checked, and what cannot be bounded is refused.
 */
export function readUntrustedSchema(
  value: unknown,
): { ok: true; schema: CompiledSchema } | { ok: false; problem: string } {
  if (typeof value === "string")
    return {
      ok: false,
      problem: "a JSON Schema as an object expected, a text given; write it as JSON, not in quotes",
    };
  const copied = copyJson(value, SCHEMA_CAPS);
  if (!copied.ok) return { ok: false, problem: `a JSON Schema expected, but ${copied.problem}` };
  const raw = copied.value;
  if (!isObject(raw)) return { ok: false, problem: "a JSON Schema (an object) expected" };
  const bytes = bytesOf(JSON.stringify(raw));
  if (bytes > MAX_BYTES)
    return {
      ok: false,
      problem: `a JSON Schema of at most ${MAX_BYTES} bytes expected, one of ${bytes} given`,
    };

  const reader = new SchemaReader();
  const schema = reader.readWhole(raw);
  if (reader.problems.length > 0) return { ok: false, problem: reader.problems.join("; ") };
  freeze(raw);
  const jsonSchema: JsonObject = raw;
  return { ok: true, schema: Object.freeze({ jsonSchema, check: (given: unknown) => check(schema, given) }) };
}

function check(schema: Schema, given: unknown): Checked {
  const copied = copyJson(given, VALUE_CAPS);
  if (!copied.ok) return { ok: false, problem: `a JSON value expected, but ${copied.problem}` };
  const checking = new Checking();
  const fits = checking.fits(schema, copied.value, ROOT);
  if (checking.meter.spent)
    return { ok: false, problem: "it takes too long to check; give a smaller value, or a simpler schema" };
  return fits ? { ok: true, value: copied.value } : { ok: false, problem: checking.told() };
}

/** Our own copy, so nothing in it is shared or deep. */
function freeze(value: Json): void {
  if (typeof value !== "object" || value === null) return;
  for (const inner of Object.values(value)) freeze(inner);
  Object.freeze(value);
}

/** How long a text is in UTF-8. */
function bytesOf(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    // Each half of a pair is two of the four bytes the pair takes.
    if (code > 0x7f) bytes += code > 0x7ff && !(code >= 0xd800 && code <= 0xdfff) ? 2 : 1;
  }
  return bytes;
}
