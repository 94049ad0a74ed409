import type { ConfigIssue } from "trackside";
import { MOST_EDGES, MOST_NODES } from "trackside/schema";
import { issueAt } from "../agents/issues.ts";

/** The agents and workflows that a definition names. */
export interface References {
  readonly agents: ReadonlySet<string>;
  readonly workflows: ReadonlySet<string>;
}

/** Looks before anything is known to be sound, and trusts nothing: what cannot be read, the definition's check tells of. */
export function referencesIn(raw: unknown): References {
  const agents = new Set<string>();
  const workflows = new Set<string>();
  const note = (work: unknown) => {
    const { agent, workflow } = fieldsOf(work);
    if (typeof agent === "string") agents.add(agent);
    if (typeof workflow === "string") workflows.add(workflow);
  };
  const nodes = fieldsOf(fieldsOf(raw)["nodes"]);
  const ids = Object.keys(nodes);
  for (const id of ids.length > MOST_NODES ? [] : ids) {
    note(nodes[id]);
    note(fieldsOf(nodes[id])["do"]);
  }
  return { agents, workflows };
}

/** What is much too large is not read any further: a check of all of it would keep everybody else waiting. */
export function excessIn(raw: unknown): readonly ConfigIssue[] {
  const { nodes, edges } = fieldsOf(raw);
  const issues: ConfigIssue[] = [];
  const count = Object.keys(fieldsOf(nodes)).length;
  if (count > MOST_NODES)
    issues.push(issueAt("nodes", count, `at most ${MOST_NODES}, the rest in workflows of their own,`));
  if (Array.isArray(edges) && edges.length > MOST_EDGES)
    issues.push(issueAt("edges", edges.length, `at most ${MOST_EDGES}`));
  return issues;
}

/** An object's fields as they are; none of what is no object, or does not let itself be read. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  try {
    return { ...value };
  } catch {
    return {};
  }
}
