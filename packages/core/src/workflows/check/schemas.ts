import type { JsonObject } from "../../schema/json.ts";
import { readUntrustedSchema } from "../../subagents/untrusted-schema.ts";
import type { Issues, Path } from "./issues.ts";

/** A JSON Schema that values can be checked with in bounded time; null where none is given. */
export function checkSchema(schema: JsonObject | null | undefined, path: Path, issues: Issues): void {
  if (!schema || issues.isFull) return;
  const read = readUntrustedSchema(schema);
  if (!read.ok) issues.tell(path, "a usable JSON Schema", read.problem);
}
