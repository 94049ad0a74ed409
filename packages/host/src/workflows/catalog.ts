import type { AgentBinding, Json, JsonObject } from "trackside";
import type { Catalog, WorkflowDefinition } from "trackside/schema";
import { agentBody } from "../agents/agent-rows.ts";
import type { RailDescription, Toolkit, ToolkitDescription } from "../agents/toolkit.ts";
import type { InCode } from "../definitions/in-code.ts";
import { type DefinitionRow, findAllNamed, listDefinitions, namesOf } from "../definitions/rows.ts";
import { MOST_LISTED } from "../definitions/stored-definitions.ts";
import type { Builder, Operation } from "../store/store.ts";
import type { WorkflowBinding } from "./in-code.ts";
import { referencesIn } from "./references.ts";
import { workflowBody } from "./workflow-rows.ts";

/** What the nodes of a tenant's workflows may name, and what fits where. */
export interface WorkflowCatalog {
  readonly agents: readonly CatalogAgent[];
  readonly tools: ToolkitDescription["tools"];
  readonly workflows: readonly CatalogWorkflow[];
  readonly rails: readonly RailDescription[];
}

export interface CatalogAgent {
  readonly name: string;
  readonly source: "stored" | "code";
  /** What its output is; null for a text. */
  readonly output_schema: JsonObject | null;
}

export interface CatalogWorkflow {
  readonly name: string;
  readonly source: "stored" | "code";
  readonly description: string;
  /** What a run is started with; null for any object. */
  readonly input: JsonObject | null;
  readonly output_schema: JsonObject | null;
}

/** Where the names are looked up. Those in code come before stored ones. */
export interface CatalogSources {
  readonly toolkit: Toolkit;
  readonly agents: InCode<AgentBinding>;
  readonly workflows: InCode<WorkflowBinding>;
}

/** All of it, as far as a list goes: for pickers. */
export function* wholeCatalog(db: Builder, from: CatalogSources, tenant: string): Operation<WorkflowCatalog> {
  const page = { after: undefined, isWanted: undefined, most: MOST_LISTED };
  const agents = yield* listDefinitions(db, "agent", tenant, page);
  const workflows = yield* listDefinitions(db, "workflow", tenant, page);
  return catalogOf(from, agents, workflows);
}

/**
 * What one definition is checked against, at one moment: of what it names the schemas, of others only that they are there.
 * To check a save costs no more where there are many of them.
 */
export function* catalogFor(
  db: Builder,
  from: CatalogSources,
  tenant: string,
  raw: unknown,
): Operation<Catalog> {
  const named = referencesIn(raw);
  const agents = new Map<string, KnownAgent>();
  for (const name of yield* namesOf(db, "agent", tenant)) agents.set(name, { output: null });
  for (const { name, body, id } of yield* findAllNamed(db, "agent", tenant, [...named.agents])) {
    const { output_schema, tools, hitl_tools } = agentBody.read(body, id).definition;
    agents.set(name, { output: schemaOr(output_schema), tools: textsIn(tools ?? hitl_tools) });
  }
  for (const { definition, tools } of from.agents.all)
    agents.set(definition.name, { output: definition.output_schema, tools: tools.map(({ name }) => name) });
  const workflows = new Map<string, WorkflowDefinition>();
  for (const row of yield* usedBy(db, from, tenant, named.workflows))
    workflows.set(row.name, definitionIn(row));
  for (const { definition } of from.workflows.all) workflows.set(definition.name, definition.workflow);
  if ([...named.workflows].some((name) => !workflows.has(name)))
    for (const row of yield* listDefinitions(db, "workflow", tenant, SOME)) // to say which there are
      if (!workflows.has(row.name)) workflows.set(row.name, definitionIn(row));
  const { tools, rails } = from.toolkit.describe();
  return {
    agents,
    tools: new Map(
      tools.map(({ name, input_schema: input, output_schema: output }) => [name, { input, output }]),
    ),
    workflows,
    rails: new Set(rails.map(({ name }) => name)),
  };
}

type KnownAgent = NonNullable<Catalog["agents"]> extends ReadonlyMap<string, infer K> ? K : never;

const SOME = { after: undefined, isWanted: undefined, most: 50 };

/** As it was saved, which it was not without a check. */
function definitionIn({ body, id }: DefinitionRow): WorkflowDefinition {
  return workflowBody.read(body, id).definition as unknown as WorkflowDefinition;
}

/** These, those that they run, and so on: whether they come round in a circle is seen only from all of them. */
function* usedBy(
  db: Builder,
  { workflows: code }: CatalogSources,
  tenant: string,
  first: ReadonlySet<string>,
): Operation<readonly DefinitionRow[]> {
  const found: DefinitionRow[] = [];
  const seen = new Set<string>();
  for (let open = [...first]; open.length > 0; ) {
    for (const name of open) seen.add(name);
    const inCode = open.flatMap((name) => code.find(name) ?? []);
    const stored = yield* findAllNamed(
      db,
      "workflow",
      tenant,
      open.filter((name) => !code.has(name)),
    );
    found.push(...stored);
    const used = [
      ...inCode.map(({ definition }) => referencesIn(definition.workflow)),
      ...stored.map(({ body, id }) => referencesIn(workflowBody.read(body, id).definition)),
    ];
    open = [...new Set(used.flatMap(({ workflows }) => [...workflows]))].filter((name) => !seen.has(name));
  }
  return found;
}

function catalogOf(
  from: CatalogSources,
  agents: readonly DefinitionRow[],
  workflows: readonly DefinitionRow[],
): WorkflowCatalog {
  const { tools, rails } = from.toolkit.describe();
  const stored = workflows.filter(({ name }) => !from.workflows.has(name));
  return {
    agents: agentsIn(from, agents),
    tools,
    workflows: [
      ...from.workflows.all.map(({ definition }) => workflowOf(definition.workflow, "code")),
      ...stored.map((row) => workflowOf(definitionIn(row), "stored")),
    ],
    rails,
  };
}

function agentsIn({ agents: code }: CatalogSources, stored: readonly DefinitionRow[]): CatalogAgent[] {
  return [
    ...code.all.map(({ definition: { name, output_schema } }) => {
      return { name, source: "code" as const, output_schema };
    }),
    ...stored
      .filter(({ name }) => !code.has(name))
      .map(({ name, body, id }) => {
        const { output_schema } = agentBody.read(body, id).definition;
        return { name, source: "stored" as const, output_schema: schemaOr(output_schema) };
      }),
  ];
}

function workflowOf(definition: WorkflowDefinition, source: CatalogWorkflow["source"]): CatalogWorkflow {
  const { name, description, input, output_schema } = definition;
  return { name, source, description, input, output_schema };
}

function schemaOr(value: Json | undefined): JsonObject | null {
  return isObject(value) ? value : null;
}

function textsIn(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
