import type { WorkflowDefinition } from "trackside/schema";

/** A workflow in code, as far as it is listed here: `defineWorkflow` makes them. */
export interface WorkflowInCode {
  readonly definition: WorkflowDefinition;
}
