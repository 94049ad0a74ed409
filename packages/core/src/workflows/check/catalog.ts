import type { JsonObject } from "../../schema/json.ts";
import type { WorkflowDefinition } from "../../schema/workflow.ts";

/** What the names in a workflow are looked up in. A member that is null is not at hand (a file, a form): not checked. */
export interface Catalog {
  readonly agents: ReadonlyMap<string, KnownAgent> | null;
  readonly tools: ReadonlyMap<string, KnownTool> | null;
  readonly workflows: ReadonlyMap<string, WorkflowDefinition> | null;
  readonly rails: ReadonlySet<string> | null;
}

interface KnownAgent {
  /** JSON Schema of what it answers; null for text. */
  readonly output: JsonObject | null;
  /** The tools it has, those of its servers left out; undefined where nobody knows. */
  readonly tools?: readonly string[] | undefined;
}

interface KnownTool {
  readonly input: JsonObject;
  /** Null when nobody knows. */
  readonly output: JsonObject | null;
}
