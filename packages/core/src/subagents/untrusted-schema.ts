import { isJsonObject } from "../schema/json.ts";
import { type CompiledSchema, compileSchema } from "../tools/compile-schema.ts";

/** Reads a JSON Schema that a model wrote. */
export function readUntrustedSchema(
  value: unknown,
): { ok: true; schema: CompiledSchema } | { ok: false; problem: string } {
  if (!isJsonObject(value)) return { ok: false, problem: "a JSON Schema (an object) expected" };
  return { ok: true, schema: compileSchema(value) };
}
