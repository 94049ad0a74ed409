import { createContext, useContext, useMemo } from "react";
import type { Json, JsonObject } from "trackside/schema";
import { type Path, pathText } from "../../../forms/path.ts";
import { objectIn } from "../../../forms/subschema.ts";
import type { Issues } from "../../agents/draft/issues.ts";
import { type Completion, completionsOf, type PathRoot } from "../draft/completions.ts";
import { type Definition, titleOf, valueAt } from "../draft/definition.ts";
import type { Draft, Edit } from "../draft/edit.ts";
import type { Graph } from "../draft/graph.ts";
import { inside } from "../draft/words.ts";
import type { Catalog } from "./catalog.ts";
import type { CheckAnswer } from "./check.ts";

/** What the fields of the panel work on. */
export interface WorkflowEditor {
  readonly definition: Definition;
  readonly unread: Draft["unread"];
  readonly catalog: Catalog;
  readonly graph: Graph;
  readonly issues: Issues;
  readonly outputs: CheckAnswer["outputs"];
  readonly readOnly: boolean;
  edit(edit: Edit): void;
}

export const WorkflowEditorContext = createContext<WorkflowEditor | undefined>(undefined);

export function useWorkflowEditor(): WorkflowEditor {
  const editor = useContext(WorkflowEditorContext);
  if (editor === undefined) throw new Error("useWorkflowEditor is for what stands inside a WorkflowEditor");
  return editor;
}

export interface PlacedValue {
  readonly value: Json | undefined;
  /** As problems have it. */
  readonly name: string;
  /** What is wrong at this place and below it. */
  readonly problem: string | undefined;
  readonly readOnly: boolean;
  set(value: Json | undefined): void;
}

/** The value at a place of the definition, and how it is changed. */
export function useAt(path: Path): PlacedValue {
  const { definition, unread, issues, readOnly, edit } = useWorkflowEditor();
  const name = pathText(path);
  return {
    value: valueAt(definition as JsonObject, path), // a definition is JSON
    name,
    problem: unread[name]?.message ?? issues.words(name),
    readOnly,
    set: (value) => edit({ type: "set", path, value }),
  };
}

/** In which node a template stands, and whether within its map. */
export interface TemplateScope {
  /** Undefined for the workflow's own output, which sees every node. */
  readonly node: string | undefined;
  readonly inMap: boolean;
}

export const ScopeContext = createContext<TemplateScope>({ node: undefined, inMap: false });

/** Everything a template may refer to here. */
export function useCompletions(): readonly Completion[] {
  const { definition, outputs, graph } = useWorkflowEditor();
  const { node, inMap } = useContext(ScopeContext);
  return useMemo(
    () => completionsOf(rootsFor(definition, outputs, graph, { node, inMap })),
    [definition, outputs, graph, node, inMap],
  );
}

function rootsFor(
  definition: Definition,
  outputs: CheckAnswer["outputs"],
  graph: Graph,
  { node, inMap }: TemplateScope,
): readonly PathRoot[] {
  const before = node === undefined ? Object.keys(definition.nodes) : graph.upstream(node);
  const own = node === undefined ? undefined : definition.nodes[node];
  return [
    ...(inMap && own?.kind === "map"
      ? [
          { path: "item", about: "the entry it works on", schema: itemSchema(definition, outputs, own.over) },
          { path: "index", about: "which entry it is, from 0", schema: { type: "integer" } },
        ]
      : []),
    {
      path: "input",
      about: "what the run is started with",
      schema: (definition.input ?? undefined) as JsonObject | undefined, // JSON Schema is JSON
    },
    ...before.flatMap((id) => {
      const one = definition.nodes[id];
      return one === undefined ? [] : [{ path: `nodes.${id}`, about: titleOf(id, one), schema: outputs[id] }];
    }),
  ];
}

/** What a map works on: an entry of its list, where the list is one path. */
function itemSchema(
  definition: Definition,
  outputs: CheckAnswer["outputs"],
  over: string,
): JsonObject | undefined {
  const [root, ...path] = inside(over).replace(/\?$/, "").trim().split(".");
  let schema =
    root === "input"
      ? ((definition.input ?? undefined) as JsonObject | undefined) // JSON Schema is JSON
      : root === "nodes"
        ? outputs[path.shift() ?? ""]
        : undefined;
  for (const key of path) {
    const properties: JsonObject | undefined = schema && objectIn(schema, "properties");
    schema = properties && objectIn(properties, key);
  }
  return schema && objectIn(schema, "items");
}
