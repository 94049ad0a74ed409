import type { AgentBinding } from "trackside";
import type { WorkflowDefinition } from "trackside/schema";

/** A workflow as an engine runs it, such as `defineWorkflow` makes: the agent that stands for it, with its graph. */
export interface WorkflowBinding extends AgentBinding {
  readonly definition: AgentBinding["definition"] & { readonly workflow: WorkflowDefinition };
}
