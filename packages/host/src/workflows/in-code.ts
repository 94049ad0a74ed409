import type { AgentBinding, readWorkflowInput } from "trackside";
import type { WorkflowDefinition } from "trackside/schema";

type ReadInput = Awaited<ReturnType<typeof readWorkflowInput>>;

/** A workflow as an engine runs it, such as `defineWorkflow` makes: the agent that stands for it, with its graph. */
export interface WorkflowBinding extends AgentBinding {
  readonly definition: AgentBinding["definition"] & { readonly workflow: WorkflowDefinition };
  /** What its own schema makes of an input; one that is JSON has only what it is written in. */
  readInput?(given: unknown): ReadInput | Promise<ReadInput>;
}
