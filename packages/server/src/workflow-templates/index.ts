import deploy from "./deploy-with-approval.json" with { type: "json" };
import research from "./parallel-research.json" with { type: "json" };
import triage from "./triage-and-reply.json" with { type: "json" };

/** A workflow to start from. */
export interface WorkflowTemplate {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly definition: Readonly<Record<string, unknown>>;
}

/** They name the demo's agents and tools, and run there as they are; elsewhere one picks others. */
export const workflowTemplates: readonly WorkflowTemplate[] = [
  templateOf("Triage and reply", triage),
  templateOf("Research with parallel agents", research),
  templateOf("Deploy with approval", deploy),
];

function templateOf(
  title: string,
  definition: { readonly name: string; readonly description: string },
): WorkflowTemplate {
  const { name, description } = definition;
  return { id: name, title, description, definition: { ...definition } };
}
