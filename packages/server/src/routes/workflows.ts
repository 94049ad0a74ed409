import type { Handlers } from "../http/handler.ts";
import { HttpProblem } from "../http/problem.ts";

async function later(): Promise<never> {
  throw new HttpProblem(503, "busy", "Workflows are on their way.");
}

export const workflowHandlers = {
  listWorkflows: later,
  createWorkflow: later,
  validateWorkflow: later,
  importWorkflow: later,
  listWorkflowTemplates: later,
  workflowCatalog: later,
  getWorkflow: later,
  saveWorkflow: later,
  deleteWorkflow: later,
  cloneWorkflow: later,
  exportWorkflow: later,
  listWorkflowVersions: later,
  getWorkflowVersion: later,
  diffWorkflowVersions: later,
  restoreWorkflowVersion: later,
  startWorkflow: later,
  submitWait: later,
} satisfies Partial<Handlers>;
