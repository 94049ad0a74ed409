import type { AgentBinding, JsonObject } from "trackside";
import { agentBody } from "../agents/agent-rows.ts";
import type { RailDescription, Toolkit, ToolkitDescription } from "../agents/toolkit.ts";
import type { InCode } from "../definitions/in-code.ts";
import { type DefinitionRow, findAllNamed, listDefinitions, namesOf } from "../definitions/rows.ts";
import { MOST_LISTED } from "../definitions/stored-definitions.ts";
import type { Builder, Operation } from "../store/store.ts";
import type { WorkflowInCode } from "./in-code.ts";
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
  /** The workflows that it runs itself. */
  readonly uses: readonly string[];
}

/** Where the names are looked up. Those in code come before stored ones. */
export interface CatalogSources {
  readonly toolkit: Toolkit;
  readonly agents: InCode<AgentBinding>;
  readonly workflows: InCode<WorkflowInCode>;
}

/** All of it, as far as a list goes: for pickers. */
export function* wholeCatalog(db: Builder, from: CatalogSources, tenant: string): Operation<WorkflowCatalog> {
  const page = { after: undefined, isWanted: undefined, most: MOST_LISTED };
  const agents = yield* listDefinitions(db, "agent", tenant, page);
  const workflows = yield* listDefinitions(db, "workflow", tenant, page);
  return catalogOf(from, agents, workflows);
}

/** What one definition may name, at one moment: the schemas of what it does name, and of others that they are there. */
export interface Named {
  readonly catalog: WorkflowCatalog;
  /** Every agent there is, and every workflow. */
  readonly agents: readonly string[];
  readonly workflows: readonly string[];
}

export function* catalogFor(
  db: Builder,
  from: CatalogSources,
  tenant: string,
  raw: unknown,
): Operation<Named> {
  const named = referencesIn(raw);
  const agents = yield* findAllNamed(db, "agent", tenant, [...named.agents]);
  const workflows = yield* usedBy(db, from, tenant, named.workflows);
  return {
    catalog: catalogOf(from, agents, workflows),
    agents: [...from.agents.names, ...(yield* namesOf(db, "agent", tenant))],
    workflows: [...from.workflows.names, ...(yield* namesOf(db, "workflow", tenant))],
  };
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
      ...inCode.map(({ definition }) => referencesIn(definition)),
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
  const isOpen = (code: InCode<{ readonly definition: { readonly name: string } }>) => (row: DefinitionRow) =>
    !code.has(row.name);
  return {
    agents: [
      ...from.agents.all.map(({ definition }) => agentOf(definition.name, "code", definition.output_schema)),
      ...agents.filter(isOpen(from.agents)).map(({ name, body, id }) => {
        const { output_schema } = agentBody.read(body, id).definition;
        return agentOf(name, "stored", output_schema);
      }),
    ],
    tools,
    workflows: [
      ...from.workflows.all.map(({ definition }) => workflowOf(definition.name, "code", definition)),
      ...workflows
        .filter(isOpen(from.workflows))
        .map(({ name, body, id }) => workflowOf(name, "stored", workflowBody.read(body, id).definition)),
    ],
    rails,
  };
}

function agentOf(name: string, source: CatalogAgent["source"], schema: unknown): CatalogAgent {
  return { name, source, output_schema: objectOr(schema) };
}

/** Stored ones were sound when they were saved. */
function workflowOf(
  name: string,
  source: CatalogWorkflow["source"],
  definition: Readonly<{ [K in "description" | "input" | "output_schema"]?: unknown }>,
): CatalogWorkflow {
  const { description, input, output_schema } = definition;
  return {
    name,
    source,
    description: typeof description === "string" ? description : "",
    input: objectOr(input),
    output_schema: objectOr(output_schema),
    uses: [...referencesIn(definition).workflows],
  };
}

function objectOr(value: unknown): JsonObject | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : null; // part of a definition, which is JSON
}
