import type { RunStream } from "./agent.ts";
import { Agent } from "./agent.ts";
import type { Registry } from "./bind-definition.ts";
import { AgentConfigError, TracksideError } from "./errors.ts";
import type { AgentEvent } from "./events.ts";
import type { HookManager } from "./hooks/hook-manager.ts";
import type { AgentBinding } from "./local/bound-agent.ts";
import { systemClock } from "./local/clock.ts";
import { type Engine, localEngine, refused } from "./local/engine.ts";
import { newId } from "./local/ids.ts";
import type { Maybe } from "./local/maybe.ts";
import type { RunOptions } from "./local/run-request.ts";
import type { RunResult } from "./local/run-result.ts";
import { streamed } from "./local/streamed.ts";
import { teamName } from "./local/team.ts";
import { bindWorkflow, namesIn, workflowShell } from "./local/workflow-binding.ts";
import { type ReadInput, readWorkflowInput } from "./local/workflow-input.ts";
import type { AgentDefinition } from "./schema/agent.ts";
import type { Json, JsonObject } from "./schema/json.ts";
import type { ConfigIssue } from "./schema/problems.ts";
import type { WorkflowDefinition } from "./schema/workflow.ts";
import type { CompiledSchema, InferOutput, SchemaLike } from "./tools/compile-schema.ts";
import { isTool, type Tool } from "./tools/define-tool.ts";
import { readConfig, type WorkflowConfig, type WorkflowNodes } from "./workflow-config.ts";
import { type Catalog, checkWorkflow } from "./workflows/check-workflow.ts";

/** Where a workflow's names are looked up. */
export interface WorkflowRegistry extends Registry {
  readonly workflows?: readonly Workflow[];
}

type Options = Omit<RunOptions, "conversation" | "clientTools"> & { readonly engine?: Engine };
type ValueOf<S> = [S] extends [never] ? JsonObject : S extends SchemaLike ? InferOutput<S> : JsonObject;
type ResultOf<S> = [S] extends [never] ? Json : S extends SchemaLike ? InferOutput<S> : Json;

/**
 * A workflow: nodes and what leads from one to the next, as validated, immutable data. It runs on the engines that agents
 * run on, and is guarded, approved, resumed and replayed as they are (W4).
 *
 * @example
 * const deploy = defineWorkflow({
 *   name: "deploy",
 *   input: z.object({ service: z.string() }),
 *   nodes: {
 *     ask: { kind: "approval", message: "Deploy {{ input.service }}?" },
 *     deploy: { kind: "tool", tool: deployService, arguments: { service: "{{ input.service }}" } },
 *   },
 *   edges: [{ from: "ask", to: "deploy" }],
 * });
 * const { output } = await deploy.run({ service: "web" }, { approve: () => ({ choice: "approve" }) });
 */
export class Workflow<Input extends SchemaLike = never, Output extends SchemaLike = never>
  implements AgentBinding
{
  /** What its runs are pinned to: the agent that stands for it, with the graph as `definition.workflow`. */
  readonly definition: AgentDefinition & { readonly workflow: WorkflowDefinition };
  readonly tools: readonly Tool[];
  readonly models: readonly [] = [];
  readonly planningModel = null;
  readonly team: readonly AgentBinding[];
  readonly output: CompiledSchema | null;
  readonly hookManager: HookManager;
  readonly pipeline: AgentBinding["pipeline"];
  readonly missing: readonly string[];
  /**
   * Reads what it is to be started with: whatever its schema makes of it, as text, or what is wrong with it. A property, so
   * that a copy of the binding has it too.
   */
  readonly readInput: (given: unknown) => Maybe<ReadInput>;
  readonly #inline: readonly string[];

  private constructor(bound: Bound) {
    const { binding, workflow, input, inline } = bound;
    this.definition = { ...binding.definition, workflow };
    this.tools = binding.tools;
    this.team = binding.team;
    this.output = binding.output;
    this.hookManager = binding.hookManager;
    this.pipeline = binding.pipeline;
    this.missing = binding.missing;
    this.readInput = (given) => readWorkflowInput(workflow, given, input);
    this.#inline = inline;
    Object.freeze(this);
  }

  /** Makes a workflow in code. `defineWorkflow` is the same, as a function. */
  static define<
    Input extends SchemaLike = never,
    Output extends SchemaLike = never,
    const Nodes extends WorkflowNodes = WorkflowNodes,
  >(config: WorkflowConfig<Input, Output, Nodes>, registry: WorkflowRegistry = {}): Workflow<Input, Output> {
    const { json, tools, agents, workflows, rails, input, inline } = readConfig(config);
    const known: WorkflowRegistry = {
      ...registry,
      tools: [...tools, ...(registry.tools ?? [])],
      agents: [...agents, ...(registry.agents ?? [])],
      workflows: [...workflows, ...(registry.workflows ?? [])],
    };
    const workflow = checked(json, catalogOf(known, registry, { rails: null }));
    const shell = new Agent({ ...shellConfig(workflow), tools: toolsOf(workflow, known), rails }, registry);
    const guarded = { ...workflow, rails: shell.definition.rails };
    return new Workflow(boundAs(shell, guarded, known, { input, inline }));
  }

  /** Makes a workflow from its JSON. */
  static fromJSON(json: unknown, registry: WorkflowRegistry = {}): Workflow {
    const rails = registry.rails === undefined ? null : new Set(Object.keys(registry.rails));
    const workflow = checked(json, catalogOf(registry, registry, { rails }));
    const shell = Agent.fromJSON(workflowShell(workflow), registry);
    return new Workflow(boundAs(shell, workflow, registry, { input: null, inline: [] }));
  }

  get name(): string {
    return this.definition.name;
  }

  /** The workflow as JSON. Refuses when something in it has no registered name. */
  toJSON(): WorkflowDefinition {
    if (this.#inline.length > 0) {
      const message = `The workflow "${this.name}" cannot be written as JSON: it holds ${this.#inline.join(", ")}, which has no registered name.`;
      throw new TracksideError("not_serializable", message);
    }
    return this.definition.workflow;
  }

  /** Runs it to its end. Rejects with the run's error, which carries what there is as `.result`. */
  async run(input: ValueOf<Input>, options: Options = {}): Promise<RunResult<ResultOf<Output>>> {
    const found = await this.readInput(input);
    if (!found.ok) throw this.#refused(input, found.problem);
    const { result } = engineOf(options).start(this, found.text, options);
    return result as Promise<RunResult<ResultOf<Output>>>; // its last node checked it against this very schema
  }

  /** Runs it and yields its events as they happen. Never throws; `.result` settles as `run()` would. */
  stream(input: ValueOf<Input>, options: Options = {}): RunStream<ResultOf<Output>, readonly Tool[]> {
    const found = this.readInput(input);
    const stream = streamed((sink) => {
      if (!(found instanceof Promise) && found.ok)
        return engineOf(options).start(this, found.text, options, sink);
      const problem =
        found instanceof Promise || found.ok
          ? "its schema has to wait for something, and a stream begins at once; use run()"
          : found.problem;
      const error = this.#refused(input, problem);
      return refused(error, newId("run"), newId("turn"), systemClock, sink);
    });
    return stream as RunStream<ResultOf<Output>, readonly Tool[]> &
      AsyncIterable<AgentEvent<readonly Tool[]>>;
  }

  #refused(given: unknown, problem: string): AgentConfigError {
    const issue: ConfigIssue = {
      path: "input",
      given: typeof given,
      allowed: "what the workflow's `input` says",
      message: `input: ${problem}`,
    };
    return new AgentConfigError(`The input of the workflow "${this.name}"`, [issue]);
  }
}

/** Makes a workflow in code: `nodes` by id, `edges` between them, types from the schemas of `input` and `output`. */
export function defineWorkflow<
  Input extends SchemaLike = never,
  Output extends SchemaLike = never,
  const Nodes extends WorkflowNodes = WorkflowNodes,
>(config: WorkflowConfig<Input, Output, Nodes>, registry: WorkflowRegistry = {}): Workflow<Input, Output> {
  return Workflow.define<Input, Output, Nodes>(config, registry);
}

interface Bound {
  readonly binding: AgentBinding;
  readonly workflow: WorkflowDefinition;
  readonly input: CompiledSchema | null;
  readonly inline: readonly string[];
}

function checked(json: unknown, catalog: Catalog): WorkflowDefinition {
  const found = checkWorkflow(json, catalog);
  if (found.ok) return found.definition;
  const name = typeof json === "object" && json !== null && "name" in json ? String(json.name) : "";
  throw new AgentConfigError(name === "" ? "the workflow" : `the workflow "${name}"`, found.issues);
}

/** What names are checked against. Those of a registry that was not given may be anywhere: the engine knows. */
function catalogOf(
  known: WorkflowRegistry,
  given: WorkflowRegistry,
  { rails }: Pick<Catalog, "rails">,
): Catalog {
  const agents = new Map(
    (known.agents ?? []).map(({ definition, tools: its }) => [
      definition.name,
      { output: definition.output_schema, tools: its.map((tool) => tool.name) },
    ]),
  );
  const tools = new Map(
    (known.tools ?? []).map((tool) => [
      tool.name,
      { input: tool.input.jsonSchema, output: tool.output?.jsonSchema ?? null },
    ]),
  );
  const workflows = new Map(
    (known.workflows ?? []).map(({ definition }) => [definition.name, definition.workflow]),
  );
  return {
    agents: given.agents === undefined && agents.size === 0 ? null : agents,
    tools: given.tools === undefined && tools.size === 0 ? null : tools,
    workflows: given.workflows === undefined && workflows.size === 0 ? null : workflows,
    rails,
  };
}

function shellConfig(workflow: WorkflowDefinition) {
  const { name, hitl_timeout_seconds: hitlTimeoutSeconds, hitl_tools } = workflow;
  const { tools } = namesIn(workflow);
  return {
    name,
    model: "openai:none",
    hitlTools: hitl_tools.filter((tool) => tools.has(tool)),
    hitlTimeoutSeconds,
    offloadAboveBytes: Number.MAX_SAFE_INTEGER,
  };
}

function toolsOf(workflow: WorkflowDefinition, { tools = [] }: WorkflowRegistry): readonly Tool[] {
  const byName = new Map(tools.filter(isTool).map((tool) => [tool.name, tool]));
  return [...namesIn(workflow).tools].flatMap((name) => byName.get(name) ?? []);
}

function boundAs(
  shell: AgentBinding,
  workflow: WorkflowDefinition,
  { agents = [], workflows = [] }: WorkflowRegistry,
  rest: Pick<Bound, "input" | "inline">,
): Bound {
  const { workers } = namesIn(workflow);
  const team = [...agents, ...workflows].filter((one) => workers.has(teamName(one)));
  return { binding: bindWorkflow(shell, workflow, team), workflow, ...rest };
}

let shared: Engine | undefined;

function engineOf({ engine }: Options): Engine {
  if (engine !== undefined) return engine;
  shared ??= localEngine();
  return shared;
}
