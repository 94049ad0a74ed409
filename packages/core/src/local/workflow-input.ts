import { isJsonObject } from "../schema/json.ts";
import type { WorkflowDefinition } from "../schema/workflow.ts";
import { type CompiledSchema, compileSchema } from "../tools/compile-schema.ts";
import { after, type Maybe } from "./maybe.ts";

/** An input as its run is begun with it: JSON that fits the workflow's schema, as text. */
export type ReadInput =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/** Reads what a workflow is to be started with. Nothing is stored of what does not fit. */
export function readWorkflowInput(
  { input }: WorkflowDefinition,
  given: unknown,
  schema: CompiledSchema | null = null,
): Maybe<ReadInput> {
  if (!isJsonObject(given)) return { ok: false, problem: "a JSON object expected" };
  const compiled = schema ?? (input === null ? null : compileSchema(input));
  if (compiled === null) return { ok: true, text: JSON.stringify(given) };
  return after(compiled.check(given), (found): ReadInput => {
    if (!found.ok) return found;
    // What its schema makes of it has to be JSON as well: it is kept with the run.
    return isJsonObject(found.value)
      ? { ok: true, text: JSON.stringify(found.value) }
      : { ok: false, problem: "its schema makes something of it that is no JSON object" };
  });
}
