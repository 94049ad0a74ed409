import { isJsonObject, type Json, type JsonObject } from "../../schema/json.ts";
import {
  MOST_EDGES,
  MOST_NODES,
  type WorkflowDefinition,
  type WorkflowEdge,
  type WorkflowNode,
  workflowSchemas,
} from "../../schema/workflow.ts";
import { isRecord } from "./is-record.ts";

/** What of a workflow can be read, whether or not all of it is sound: so that every problem is found at once. */
export interface Draft {
  readonly name: string | undefined;
  /** Undefined where what is written there is none; null where nothing is. */
  readonly input: JsonObject | null | undefined;
  /** A node that is not sound is undefined: it is there, and nobody knows what it comes to. */
  readonly nodes: ReadonlyMap<string, WorkflowNode | undefined>;
  readonly edges: readonly (WorkflowEdge | undefined)[];
  readonly output: Json | undefined;
  readonly output_schema: JsonObject | null | undefined;
  readonly rails: readonly string[];
  readonly hitl_tools: readonly string[];
  /** When all of it is sound. */
  readonly whole?: WorkflowDefinition;
}

export function draftOf(definition: WorkflowDefinition): Draft {
  return {
    ...definition,
    whole: definition,
    nodes: new Map(Object.entries(definition.nodes)),
    rails: definition.rails.map(({ use }) => use),
  };
}

/** Nothing of what is far too large. */
export function readDraft(raw: JsonObject | Partial<Record<string, unknown>>): Draft | undefined {
  const { workflowDefinition, node, edge } = workflowSchemas();
  const { shape } = workflowDefinition;
  const nodes = isRecord(raw["nodes"]) ? Object.entries(raw["nodes"]) : [];
  const edges: readonly unknown[] = Array.isArray(raw["edges"]) ? raw["edges"] : [];
  if (nodes.length > MOST_NODES || edges.length > MOST_EDGES) return undefined;
  return {
    name: shape.name.safeParse(raw["name"]).data,
    input: raw["input"] == null ? null : objectOrNothing(raw["input"]),
    nodes: new Map(nodes.map(([id, one]) => [id, node.safeParse(one).data])),
    edges: edges.map((one) => edge.safeParse(one).data),
    output: shape.output.safeParse(raw["output"]).data,
    output_schema: raw["output_schema"] == null ? null : objectOrNothing(raw["output_schema"]),
    rails: listed(raw["rails"]).flatMap((rail) => (isRecord(rail) ? [textOrNothing(rail["use"])] : [""])),
    hitl_tools: listed(raw["hitl_tools"]).map(textOrNothing),
  };
}

function objectOrNothing(value: unknown): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** An empty one keeps its place in a list, and is the schema's affair. */
function textOrNothing(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, MOST_NODES) : [];
}
