import type {
  Condition,
  Json,
  JsonObject,
  WorkflowDefinitionInput,
  WorkflowEdge,
  WorkflowNode,
} from "trackside/schema";
import type { Path } from "../../../forms/path.ts";

type Given = WorkflowDefinitionInput["nodes"][string];
export type Kind = WorkflowNode["kind"];
/** The schema does not say what a condition looks like before it is read; it is a condition. */
export type NodeDraft =
  | Exclude<Given, { kind: "condition" }>
  | (Omit<Extract<Given, { kind: "condition" }>, "if"> & { if: Condition });
/** A workflow while somebody works on it: as it was written, without what the schema would fill in. */
export type Definition = Omit<WorkflowDefinitionInput, "nodes"> & { nodes: Record<string, NodeDraft> };
export type NodeDraftOf<K extends Kind> = Extract<NodeDraft, { kind: K }>;
export type Edge = WorkflowEdge;
/** How a node is left: `out` when it completed, the others as an edge's `when` has them. */
export type Port = "out" | NonNullable<Edge["when"]>;
export interface Position {
  readonly x: number;
  readonly y: number;
}

export const edgesOf = (definition: Definition): readonly Edge[] => definition.edges ?? [];

export const portOf = ({ when }: Edge): Port => when ?? "out";

export const edgeId = (edge: Edge): string => `${edge.from}|${portOf(edge)}|${edge.to}`;

export function edgeFrom(from: string, port: Port, to: string): Edge {
  return port === "out" ? { from, to } : { from, to, when: port };
}

/** The ways out of each kind of node, the usual one first. */
export const PORTS: Readonly<Record<Kind, readonly Port[]>> = {
  agent: ["out", "failed"],
  tool: ["out", "failed"],
  workflow: ["out", "failed"],
  map: ["out", "failed"],
  wait: ["out", "failed"],
  condition: ["true", "false", "failed"],
  approval: ["out", "rejected", "failed"],
};

export const PORT_WORDS: Readonly<Record<Port, string>> = {
  out: "then",
  true: "true",
  false: "false",
  rejected: "rejected",
  failed: "failed",
};

/** A node is shown by its name, and by its id where it has none. */
export const titleOf = (id: string, node: NodeDraft | undefined): string => node?.name ?? id;

/** The value with another one at a place; undefined takes it away. Everything beside it stays the same object. */
export function withAt(value: Json | undefined, path: Path, next: Json | undefined): Json | undefined {
  const [key, ...rest] = path;
  if (key === undefined) return next;
  if (typeof key === "number") {
    const list = Array.isArray(value) ? (value as readonly Json[]) : []; // what Array.isArray does not tell of readonly
    const inner = withAt(list[key], rest, next);
    return inner === undefined ? list.toSpliced(key, 1) : list.toSpliced(key, 1, inner);
  }
  const object = typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
  const inner = withAt((object as JsonObject)[key], rest, next); // lists were told apart
  const { [key]: before, ...others } = object as JsonObject;
  if (inner === undefined) return before === undefined ? object : others;
  return { ...object, [key]: inner };
}

export function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let found: Json | undefined = value;
  for (const key of path) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as JsonObject)[key]; // a list has its indexes as keys
  }
  return found;
}
