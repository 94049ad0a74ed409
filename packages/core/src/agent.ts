import { type AgentConfig, isRecord } from "./agent-config.ts";
import { type Bound, bindConfig, bindJson, definitionJson, type Registry } from "./bind-definition.ts";
import { TracksideError } from "./errors.ts";
import type { AgentEvent } from "./events.ts";
import { HookManager } from "./hooks/hook-manager.ts";
import type { DecisionInput } from "./local/approvals.ts";
import type { AgentBinding, LanguageModel } from "./local/bound-agent.ts";
import { type Engine, localEngine, type Receipt } from "./local/engine.ts";
import type { RunOptions, UserInput } from "./local/run-request.ts";
import type { RunResult } from "./local/run-result.ts";
import { streamed } from "./local/streamed.ts";
import type { AnyHook } from "./rails/dispatch.ts";
import type { Rail } from "./rails/rail.ts";
import { RailManager } from "./rails/rail-manager.ts";
import type { AgentDefinition } from "./schema/agent.ts";
import type { Approval } from "./schema/approval.ts";
import { deepFreeze, type JsonObject } from "./schema/json.ts";
import { HOOK_POINTS, type HookPoint } from "./schema/points.ts";
import type { CompiledSchema, InferOutput, SchemaLike } from "./tools/compile-schema.ts";
import type { Tool } from "./tools/define-tool.ts";

/** A run under way: its events in order, its result, and the way to stop it. */
export interface RunStream<Output, Tools extends readonly (Tool | string)[]>
  extends AsyncIterable<AgentEvent<Tools>> {
  readonly runId: string;
  readonly turnRef: string;
  /** Settles as `run()` would. Reading it is optional. */
  readonly result: Promise<RunResult<Output>>;
  cancel(reason?: string): void;
  /** What waits for a decision now, with its whole arguments. */
  readonly pending: readonly Approval[];
  /** Decides an approval: the id is on its `approval` event. Rejects when it is closed already, or the edit does not fit. */
  decide(approvalId: string, decision: DecisionInput): Promise<Approval>;
  /** Sends a message to the run. It joins at the next step, or opens the next turn if the run ends first. */
  steer(message: UserInput): Promise<Receipt>;
  /** Adds a note to the next model call, and to no other: not to the log, not to later turns. */
  inject(note: UserInput): Promise<Receipt>;
}

type OutputOf<S> = [S] extends [never] ? string : S extends SchemaLike ? InferOutput<S> : string;
type Options = RunOptions & { readonly engine?: Engine };

let sharedEngine: Engine | undefined;

/**
 * An agent: validated, immutable data. All state of a run lives in the run, so one agent can run any number of times at
 * once.
 *
 * @example
 * const agent = new Agent({ name: "helper", model: "openai:gpt-4o", instructions: "Be brief.", tools: [add] });
 * const { output } = await agent.run("What is 2 + 3?");
 */
export class Agent<
  const Tools extends readonly (Tool | string)[] = readonly Tool[],
  const Output extends SchemaLike = never,
> implements AgentBinding
{
  readonly definition: AgentDefinition;
  readonly tools: readonly Tool[];
  readonly models: readonly (string | LanguageModel)[];
  readonly planningModel: string | LanguageModel | null;
  readonly team: readonly AgentBinding[];
  readonly output: CompiledSchema | null;
  /** Plain hooks on lifecycle points. The one thing that may be added to; a run uses what is there when it starts. */
  readonly hookManager = new HookManager();
  /** The agent's rails, sealed; null without any. */
  readonly railManager: RailManager | null;
  readonly pipeline: AgentBinding["pipeline"];
  readonly missing: readonly string[];
  /** What this agent holds that JSON cannot name. */
  readonly #inline: readonly string[];
  /** The hooks it was made with, by point. */
  readonly #wired: ReadonlyMap<HookPoint, readonly AnyHook[]>;

  constructor(config: AgentConfig<Tools, Output>, registry: Registry = {}) {
    const bound: Bound = FromJson.is(config) ? bindJson(config.json, registry) : bindConfig(config, registry);
    this.definition = bound.definition;
    this.tools = bound.tools;
    this.models = bound.models;
    this.planningModel = bound.planningModel;
    this.team = bound.team;
    this.output = bound.output;
    this.#inline = bound.inline;
    const { rails, on, pre, post, stream, missing } = bound.guards;
    this.pipeline = deepFreeze({ pre: [...pre], post: [...post], stream: [...stream] });
    this.missing = missing;
    this.railManager = rails.length > 0 ? wireRails(this.hookManager, rails) : null;
    for (const { point, hook, timeoutMs } of on)
      this.hookManager.add(point, hook, timeoutMs === undefined ? {} : { timeoutMs });
    this.#wired = new Map(HOOK_POINTS.map((point) => [point, this.hookManager.on(point)]));
    Object.freeze(this);
  }

  /** Makes an agent from its definition. Absent `tools` binds every tool of the registry. */
  static fromJSON(json: unknown, registry: Registry = {}): Agent<readonly Tool[], JsonObject> {
    return new Agent(new FromJson(json) as never, registry); // the one caller that may pass something else
  }

  /** The definition as JSON, snake_case. Refuses when something in it has no registered name. */
  toJSON(): Record<string, unknown> {
    const without = (hooks: readonly AnyHook[], known: readonly AnyHook[], point: HookPoint) =>
      hooks
        .filter((hook) => !known.includes(hook))
        .map((hook) => `hook ${hook.name || "(anonymous)"} on ${point}`);
    const changes = HOOK_POINTS.map((point) => {
      const [wired, now] = [this.#wired.get(point) ?? [], this.hookManager.on(point)];
      return { added: without(now, wired, point), removed: without(wired, now, point) };
    });
    const inline = [...this.#inline, ...changes.flatMap(({ added }) => added)];
    const removed = changes.flatMap((change) => change.removed);
    const why = [
      ...(inline.length > 0 ? [`it holds ${inline.join(", ")}, which has no registered name`] : []),
      ...(removed.length > 0 ? [`it was made with ${removed.join(", ")}, which was removed since`] : []),
    ];
    if (why.length > 0) {
      const message = `The agent "${this.definition.name}" cannot be written as JSON: ${why.join("; ")}.`;
      throw new TracksideError("not_serializable", message);
    }
    return definitionJson(this.definition);
  }

  /** Runs one turn. Rejects with the run's error, which carries what there is as `.result`. */
  async run(input: UserInput, options: Options = {}): Promise<RunResult<OutputOf<Output>>> {
    const { result } = engineOf(options).start(this, input, options);
    return result as Promise<RunResult<OutputOf<Output>>>; // the engine checked the output against this very schema
  }

  /** Runs one turn and yields its events as they happen. Never throws; `.result` settles as `run()` would. */
  stream(input: UserInput, options: Options = {}): RunStream<OutputOf<Output>, Tools> {
    // The events carry the results of this agent's own tools and the output fits its schema, as in `run`, which is all
    // that the narrower type says.
    return streamed((sink) => engineOf(options).start(this, input, options, sink)) as RunStream<
      OutputOf<Output>,
      Tools
    >;
  }
}

/** An agent's rails stand before its other hooks, as one. */
function wireRails(hookManager: HookManager, rails: readonly Rail[]): RailManager {
  const manager = new RailManager();
  for (const rail of rails) manager.add(rail);
  for (const point of HOOK_POINTS)
    if (manager.on(point).length > 0) hookManager.add(point, manager.hookFor(point));
  return manager.seal();
}

/** The engine asked for. What is none of them is left to ours, which refuses the run and says so. */
function engineOf(options: unknown): Engine {
  const given = isRecord(options) ? options["engine"] : undefined;
  if (isEngine(given)) return given;
  sharedEngine ??= localEngine();
  return sharedEngine;
}

function isEngine(value: unknown): value is Engine {
  return isRecord(value) && typeof value["start"] === "function";
}

/** Marks a definition on its way through the constructor. */
class FromJson {
  readonly #marked = true;
  readonly json: unknown;

  constructor(json: unknown) {
    this.json = json;
  }

  /** Asks for the mark, which reads nothing of what may be anything. */
  static is(value: unknown): value is FromJson {
    return typeof value === "object" && value !== null && #marked in value;
  }
}
