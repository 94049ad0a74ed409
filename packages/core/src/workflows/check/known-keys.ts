import { agentSchemas } from "../../schema/agent.ts";
import { workflowSchemas } from "../../schema/workflow.ts";
import { isRecord } from "./is-record.ts";

type Path = readonly PropertyKey[];

/** The keys an object at this place of a workflow may have. */
export function knownKeysIn(raw: unknown): (path: Path) => readonly string[] {
  const { workflowDefinition, edge, retry, node, work } = workflowSchemas();
  return (path) => {
    const [field, id, part, inner] = path;
    if (field === undefined) return Object.keys(workflowDefinition.shape);
    if (field === "edges") return Object.keys(edge.shape);
    if (field === "rails") return Object.keys(agentSchemas().railReference.shape);
    if (part === undefined) return keysOfKind(node.options, kindAt(raw, [field, id]));
    if (part === "retry") return Object.keys(retry.shape);
    if (part === "position") return ["x", "y"];
    if (part === "do") return keysOfKind(work.options, kindAt(raw, [field, id, part]));
    if (part === "for")
      return inner === undefined ? ["seconds", "webhook"] : ["response", "deadline_seconds"];
    return ["all", "any", "not", "left", "op", "right"];
  };
}

interface Option {
  readonly shape: { readonly kind: { readonly value: string } };
}

function keysOfKind(options: readonly Option[], kind: unknown): readonly string[] {
  return Object.keys(options.find(({ shape }) => shape.kind.value === kind)?.shape ?? {});
}

function kindAt(raw: unknown, path: readonly (PropertyKey | undefined)[]): unknown {
  let at = raw;
  for (const key of [...path, "kind"])
    at = isRecord(at) && Object.hasOwn(at, String(key)) ? at[String(key)] : undefined;
  return at;
}
