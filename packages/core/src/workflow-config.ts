import { isRecord } from "./agent-config.ts";
import { AgentConfigError } from "./errors.ts";
import type { AgentBinding } from "./local/bound-agent.ts";
import { Rail } from "./rails/rail.ts";
import type { Json, JsonObject } from "./schema/json.ts";
import { issue } from "./schema/problems.ts";
import type { Condition, WorkflowDefinitionInput, WorkflowEdge } from "./schema/workflow.ts";
import { type CompiledSchema, compileSchema, type SchemaLike } from "./tools/compile-schema.ts";
import { isTool, type Tool } from "./tools/define-tool.ts";
import type { Workflow } from "./workflow.ts";

/** What every node may have. */
interface Common {
  /** What people call it. */
  readonly name?: string;
  readonly retry?: { readonly attempts: number; readonly delayMs?: number; readonly backoff?: number };
  readonly timeoutMs?: number;
}

interface AgentWork {
  readonly kind: "agent";
  readonly agent: AgentBinding | string;
  /** A template. */
  readonly prompt: string;
}

interface ToolWork {
  readonly kind: "tool";
  readonly tool: Tool | string;
  /** Templates. */
  readonly arguments?: JsonObject;
}

interface WorkflowWork {
  readonly kind: "workflow";
  readonly workflow: Workflow<never, never> | AgentBinding | string;
  readonly input?: JsonObject;
}

/** A node in code: field for field as in JSON, in camelCase, with the things themselves where JSON has names. */
export type WorkflowNodeConfig = Common &
  (
    | AgentWork
    | ToolWork
    | WorkflowWork
    | { readonly kind: "condition"; readonly if: Condition }
    | {
        readonly kind: "map";
        readonly over: string;
        readonly do: AgentWork | ToolWork | WorkflowWork;
        readonly concurrency?: number;
        readonly onError?: "fail" | "collect";
      }
    | {
        readonly kind: "approval";
        readonly message: string;
        readonly show?: JsonObject;
        readonly response?: SchemaLike;
        readonly deadlineSeconds?: number | null;
        readonly irreversible?: boolean;
      }
    | {
        readonly kind: "wait";
        readonly for:
          | { readonly seconds: number | string }
          | {
              readonly webhook: { readonly response?: SchemaLike; readonly deadlineSeconds?: number | null };
            };
      }
  );

export type WorkflowNodes = Readonly<Record<string, WorkflowNodeConfig>>;

/** A workflow in code. */
export interface WorkflowConfig<
  Input extends SchemaLike,
  Output extends SchemaLike,
  Nodes extends WorkflowNodes,
> {
  readonly name: string;
  readonly description?: string;
  /** What a run is started with: zod, Standard Schema or JSON Schema of an object. */
  readonly input?: Input;
  /** The shape of what it comes to. */
  readonly output?: Output;
  readonly nodes: Nodes;
  readonly edges?: readonly {
    readonly from: keyof Nodes & string;
    readonly to: keyof Nodes & string;
    readonly when?: NonNullable<WorkflowEdge["when"]>;
  }[];
  /** What it comes to, as a template; left out, the outputs of its last nodes by their ids. */
  readonly result?: Json;
  readonly rails?: readonly (Rail | NonNullable<WorkflowDefinitionInput["rails"]>[number])[];
  readonly hitlTools?: readonly string[];
  readonly hitlTimeoutSeconds?: number | null;
}

export interface ReadWorkflow {
  readonly json: JsonObject;
  readonly tools: readonly Tool[];
  readonly agents: readonly AgentBinding[];
  readonly workflows: readonly Workflow[];
  readonly rails: NonNullable<WorkflowConfig<never, never, WorkflowNodes>["rails"]>;
  readonly input: CompiledSchema | null;
  /** What JSON cannot name. */
  readonly inline: readonly string[];
}

const TOP = {
  name: "name",
  description: "description",
  input: "input",
  output: "output_schema",
  nodes: "nodes",
  edges: "edges",
  result: "output",
  rails: "rails",
  hitlTools: "hitl_tools",
  hitlTimeoutSeconds: "hitl_timeout_seconds",
} as const;

const NODE: Readonly<Record<string, string>> = {
  timeoutMs: "timeout_ms",
  onError: "on_error",
  deadlineSeconds: "deadline_seconds",
  delayMs: "delay_ms",
};

/** Reads a workflow in code: as JSON, with the things that it holds beside it. What is wrong with the JSON is told later. */
export function readConfig(config: unknown): ReadWorkflow {
  if (!isRecord(config))
    throw new AgentConfigError("the workflow", [
      issue("(root)", config, "an object with `name` and `nodes`"),
    ]);
  const reader = new Reader();
  const json: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(config)) {
    const to = Object.hasOwn(TOP, key) ? TOP[key as keyof typeof TOP] : key; // one of its own keys
    if (value !== undefined) json[to] = value;
  }
  const input = json["input"] === undefined ? null : compileSchema(json["input"] as SchemaLike);
  if (input !== null) json["input"] = input.jsonSchema;
  if (json["output_schema"] !== undefined)
    json["output_schema"] = compileSchema(json["output_schema"] as SchemaLike).jsonSchema;
  if (isRecord(json["nodes"]))
    json["nodes"] = Object.fromEntries(
      Object.entries(json["nodes"]).map(([id, node]) => [id, reader.node(node)]),
    );
  const rails = Array.isArray(json["rails"]) ? json["rails"] : [];
  const inline = rails.flatMap((rail) => (rail instanceof Rail ? [`the rail "${rail.name}"`] : []));
  delete json["rails"]; // bound by the agent that stands for the workflow
  return { json: json as JsonObject, ...reader.held, rails, input, inline };
}

/** Takes the things out of nodes and leaves their names. */
class Reader {
  readonly held: { tools: Tool[]; agents: AgentBinding[]; workflows: Workflow[] } = {
    tools: [],
    agents: [],
    workflows: [],
  };

  node(given: unknown): unknown {
    if (!isRecord(given)) return given;
    const node = this.#renamed(given);
    if (isRecord(node["retry"])) node["retry"] = this.#renamed(node["retry"]);
    if (isRecord(node["do"])) node["do"] = this.node(node["do"]);
    if (node["response"] !== undefined) node["response"] = schemaOf(node["response"]);
    const waits = node["for"];
    if (isRecord(waits) && isRecord(waits["webhook"])) {
      const webhook = this.#renamed(waits["webhook"]);
      if (webhook["response"] !== undefined) webhook["response"] = schemaOf(webhook["response"]);
      node["for"] = { ...waits, webhook };
    }
    const { tool, agent, workflow } = node;
    if (isTool(tool)) {
      this.held.tools.push(tool);
      node["tool"] = tool.name;
    }
    if (isBinding(agent)) {
      this.held.agents.push(agent);
      node["agent"] = agent.definition.name;
    }
    if (isBinding(workflow)) {
      this.held.workflows.push(workflow as Workflow); // its definition is what is read of it
      node["workflow"] = workflow.definition.name;
    }
    return node;
  }

  #renamed(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const entries = Object.entries(given).filter(([, value]) => value !== undefined);
    return Object.fromEntries(entries.map(([key, value]) => [NODE[key] ?? key, value]));
  }
}

function schemaOf(value: unknown): unknown {
  return value === null ? null : compileSchema(value as SchemaLike).jsonSchema;
}

function isBinding(value: unknown): value is AgentBinding {
  return isRecord(value) && isRecord(value["definition"]) && "hookManager" in value;
}
