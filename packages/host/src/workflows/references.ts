import { MOST_NODES } from "trackside/schema";

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

/** An object's fields as they are; none of what is no object, or does not let itself be read. */
function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  try {
    return { ...value };
  } catch {
    return {};
  }
}
