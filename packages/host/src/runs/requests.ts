import { type AgentBinding, type AgentDefinition, HookManager, type JsonObject, type Usage } from "trackside";
import {
  type BoundAgent,
  bindAgent,
  type Children,
  engineParts,
  isSentOnly,
  Log,
  type RebuiltRequest,
  RunContext,
  rebuildRequest,
  rebuildSummary,
} from "trackside/engine";
import type {
  Asked,
  ChildInput,
  CompactInput,
  CompactOut,
  ModelInput,
  ModelOut,
  PinnedAgent,
} from "trackside/loop";
import { branchMessages } from "../conversations/branch-log.ts";
import type { DurableEngine } from "../journal/durable-engine.ts";
import { type LoadedRun, loadRun, messagesOf } from "../journal/run-records.ts";
import type { RunsTable } from "../store/tables.ts";
import { type ReplayInit, replayRun } from "./replayed-run.ts";

/** A request to a model as it was really sent (R4), rebuilt from the run's record. */
export interface SentRequest {
  /** The same for every look at it: `3/model/1`, `plan/1/model/1`, `room/1/summary/1`. */
  readonly key: string;
  readonly kind: "step" | "planner" | "summary";
  readonly step: number;
  readonly attempt: number;
  /** Where it is in the lineage, as events say it. */
  readonly path: readonly string[];
  /** Who had the turn. */
  readonly agent: string;
  readonly model: string;
  readonly system: string | null;
  readonly tools: readonly SentTool[];
  readonly messages: readonly SentMessage[];
  readonly max_output_tokens?: number;
  readonly temperature?: number;
  /** The shape that the answer has to have. */
  readonly output_schema?: JsonObject;
  /** Its size by our own count, where somebody wanted to know. */
  readonly estimate?: number;
  /** Null while there is no answer, and where the provider reported nothing. */
  readonly usage: Usage | null;
  /** What it had in common with the request before it. */
  readonly cache_prefix?: NonNullable<ModelOut["prefix"]>;
  /** Whether everything that was sent is here. */
  readonly complete: boolean;
  /** What is not, in sentences. */
  readonly missing?: readonly string[];
}

export interface SentTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonObject;
}

/**
 * A message as the provider was given it, in the AI SDK's words. Attachments are addresses (`artifact:<id>`), cache marks
 * are left out, and of reasoning that a provider signed it says so and no more (H8).
 */
export interface SentMessage {
  readonly role: "user" | "assistant" | "tool";
  readonly content: readonly JsonObject[];
}

/**
 * The requests of a run, in the order they were made. The loop goes once more over what the record says came of each
 * effect, and for every model call the request is made by the function that made it then.
 *
 * @param step Only those of this step; with 0 those before the first, the planner's among them.
 */
export async function sentRequests(
  engine: DurableEngine,
  row: Pick<RunsTable, "id">,
  step?: number,
): Promise<readonly SentRequest[]> {
  const recorded = await readRecord(engine, row.id);
  if (recorded === undefined) return [];
  const { bound, problem } = await boundFor(engine, recorded);
  const first = await rebuild(recorded, bound, bound.pinned, problem, { step, fromStep: step });
  if (!first.isCut) return first.requests;
  // The code has other rails or hooks now: the loop as the record shows it does what it did then.
  const pinned = asRecorded(bound.pinned, recorded.loaded);
  const again = await rebuild(recorded, bound, pinned, problem, { step });
  return again.isCut && again.requests.length <= first.requests.length ? first.requests : again.requests;
}

interface Recorded {
  readonly loaded: LoadedRun;
  readonly messages: ReplayInit["messages"];
  /** The log the run began with. */
  readonly log: ConstructorParameters<typeof Log>[0];
}

/** In one look: the run may be under way. */
function readRecord({ store, codec }: DurableEngine, id: string): Promise<Recorded | undefined> {
  return store.read(function* (db) {
    const loaded = yield* loadRun(db, id, codec);
    if (loaded === undefined) return undefined;
    const { row, body } = loaded;
    const messages = yield* messagesOf(db, loaded.commits, codec);
    const log = yield* branchMessages(db, row.branch_id, codec, id);
    return { loaded, messages, log: log.slice(0, body.from) };
  });
}

interface Found {
  readonly bound: BoundAgent;
  /** Why it is not all that the run had. */
  readonly problem?: string;
}

/** The agent that the run had: with the functions there are here, if they are. */
async function boundFor(engine: DurableEngine, { loaded }: Recorded): Promise<Found> {
  const { row, definition, team } = loaded;
  if (row.parent_run_id !== null) return childFor(engine, loaded, row.parent_run_id);
  const isStored = row.agent_id !== null;
  const found = engine.registry.bind(row.agent, loaded, row.definition_digest, { isStored });
  if ("binding" in found) {
    const { binding } = found;
    return { bound: bindAgent(binding, { team: engine.registry.teamOf(binding) }) };
  }
  const [why] = found.problem.split(". "); // then follows what to do about a run that is to go on
  return { bound: bare(definition, team), problem: `${why}.` };
}

/** A sub-agent is made by its parent, for a job: whoever goes through the parent's loop comes by it. */
async function childFor(
  engine: DurableEngine,
  { row, definition }: LoadedRun,
  parentId: string,
): Promise<Found> {
  const parent = await readRecord(engine, parentId);
  const of = parent && (await boundFor(engine, parent));
  let made: BoundAgent | undefined;
  if (parent !== undefined && of !== undefined && of.problem === undefined) {
    const context = contextOf(parent, of.bound);
    const asked = ({ kind, input }: Asked) => {
      const child = input as ChildInput; // of this kind of effect
      if (kind !== "child" || child.run_id !== row.id) return undefined;
      context.enter(child.agent);
      made = context.agent.childFor(child);
      return "enough";
    };
    await replayRun(of.bound.pinned, { ...parent, context, asked });
  }
  if (made !== undefined) return { bound: made };
  const problem = of?.problem ?? "the run that started it does not lead to it any more.";
  return { bound: bare(definition, {}), problem };
}

/** An agent whose functions are not here: what it is told is in its definition. */
function bare(definition: AgentDefinition, team: LoadedRun["team"]): BoundAgent {
  const members = Object.entries(team).map(([name, its]) => [name, bindingOf(its)] as const);
  return bindAgent(bindingOf(definition), { team: new Map(members) });
}

function bindingOf(definition: AgentDefinition): AgentBinding {
  const { model, fallback_models, planning_model } = definition;
  return {
    definition,
    tools: [],
    models: [model, ...fallback_models],
    planningModel: planning_model,
    team: [],
    output: null,
    hookManager: new HookManager(),
    pipeline: { pre: [], post: [], stream: [] },
    missing: [],
  };
}

/** What the loop has to know of an agent, by what it did: it branches on nothing else. */
function asRecorded(pinned: PinnedAgent, { commits }: LoadedRun): PinnedAgent {
  const begun = commits.flatMap(({ body }) => body.begun);
  const did = (what: RegExp) => begun.some((key) => what.test(key));
  const points = [
    ...(did(/^start\/|\/steer\//) ? ["START" as const] : []),
    ...(did(/^close$/) ? ["FINISHED" as const, "ERROR" as const] : []),
    ...(did(/\/hand\//) ? ["HANDOFF" as const] : []),
  ];
  const hooks = { points, pre_hooks: did(/^(pre|refresh)$/), post_hooks: did(/^\d+\/post$/) };
  const team = Object.entries(pinned.team).map(([name, member]) => [name, { ...member, ...hooks }] as const);
  return { ...pinned, ...hooks, servers: did(/^equip$/), team: Object.fromEntries(team) };
}

const NO_CHILDREN: Children = {
  run: () => Promise.reject(new Error("a replay starts nobody")),
  answer: () => Promise.resolve(undefined),
};

/** A context as the run had when it began. What only its requests had is there from the start. */
function contextOf({ loaded, messages, log }: Recorded, bound: BoundAgent): RunContext {
  const { row, body, scope, user } = loaded;
  return new RunContext({
    id: row.id,
    turnRef: row.turn_ref,
    scope,
    agent: bound,
    log: new Log([...log]),
    parts: engineParts({}, NO_CHILDREN),
    userMessage: user,
    sink: undefined,
    approver: undefined,
    ...(body.path === undefined ? {} : { path: body.path }),
    resumed: {
      seq: 0,
      recorded: [...messages.values()].flatMap(({ message }) => (isSentOnly(message) ? [message] : [])),
    },
  });
}

interface Rebuilt {
  readonly requests: readonly SentRequest[];
  /** The loop as it is now does something else than it did: there are calls that could not be rebuilt. */
  readonly isCut: boolean;
}

async function rebuild(
  recorded: Recorded,
  bound: BoundAgent,
  pinned: PinnedAgent,
  problem: string | undefined,
  { step, fromStep }: { readonly step: number | undefined; readonly fromStep?: number | undefined },
): Promise<Rebuilt> {
  const { loaded } = recorded;
  const context = contextOf(recorded, bound);
  const results = resultsOf(loaded);
  const requests: SentRequest[] = [];
  const known = new Set<string>();
  const asked = ({ kind, key, input }: Asked) => {
    known.add(key);
    if (kind !== "model" && kind !== "compact") return undefined;
    const at = stepOf(input as ModelInput | CompactInput); // of these kinds of effects
    if (step !== undefined && at > step) return "enough";
    if (step !== undefined && at < step) return undefined;
    if (kind === "compact")
      requests.push(
        ...summaryRequests(context, key, input as CompactInput, results.get(key) as CompactOut | undefined),
      );
    const out = results.get(key) as ModelOut | undefined;
    if (kind === "model" && wasSent(out))
      requests.push(modelRequest(context, loaded, { key, input: input as ModelInput, out }, problem));
    return undefined;
  };
  const diverged = await replayRun(pinned, { ...recorded, context, fromStep, asked });
  if (diverged === undefined) return { requests, isCut: false };
  const lost = loaded.commits
    .flatMap(({ body }) => body.begun)
    .filter((key) => MODEL.test(key) && !known.has(key) && wasSent(results.get(key) as ModelOut | undefined));
  const stubs = lost.map((key) => stub(context, key, results.get(key) as ModelOut | undefined));
  return {
    requests: [...requests, ...stubs.filter((one) => step === undefined || stepIn(one) === step)],
    isCut: true,
  };
}

/** The executor's step that it is of. Before its first there are the planner's and what is done to make room for it all. */
function stepOf(input: ModelInput | CompactInput): number {
  return "planner" in input ? 0 : input.step;
}

function stepIn({ kind, step }: SentRequest): number {
  return kind === "planner" ? 0 : step;
}

/** What came of each effect: in the loop's rows, or, of one whose result is on its way to the loop, aside (X9). */
function resultsOf({ commits }: LoadedRun): ReadonlyMap<string, unknown> {
  const results = new Map<string, unknown>();
  for (const { body } of commits) results.set(body.answer?.key ?? body.key, body.result);
  return results;
}

/** Whether a request left at all: it may be too large, or a rail may have stood in its way. One without a result is on its way. */
function wasSent(out: ModelOut | undefined): boolean {
  if (out === undefined) return true;
  if (out.over !== undefined || out.stopped === true || out.unsent === true) return false;
  return !out.verdicts?.some(({ point, action }) => point === "PRE_LLM_CALL" && action !== "continue");
}

interface Call {
  readonly key: string;
  readonly input: ModelInput;
  readonly out: ModelOut | undefined;
}

function modelRequest(
  context: RunContext,
  { row }: LoadedRun,
  { key, input, out }: Call,
  problem: string | undefined,
): SentRequest {
  context.enter(input.agent);
  const { agent } = context;
  const isPlanning = input.planner !== undefined;
  const choice = (isPlanning ? agent.planningModels : agent.models)[input.choice] ?? agent.definition.model;
  const provider = typeof choice === "string" ? choice : choice.provider;
  const name = typeof choice === "string" ? choice : `${choice.provider}:${choice.modelId}`;
  const rebuilt = rebuildRequest(context, input, { provider, sent: out?.sent });
  const missing = [
    ...gone(rebuilt, row.ended_at !== null),
    ...unrecorded(context, out),
    ...(problem === undefined ? [] : [`The tools as they were are not known here: ${problem}`]),
    ...serversOf(agent),
  ];
  return {
    key,
    kind: isPlanning ? "planner" : "step",
    step: input.step,
    attempt: input.attempt,
    path: isPlanning ? [...context.path, "planner"] : context.path,
    agent: agent.definition.name,
    model: out?.model || name,
    ...wire(rebuilt),
    ...(out?.estimated === undefined ? {} : { estimate: out.estimated }),
    usage: out?.usage ?? null,
    ...(out?.prefix === undefined ? {} : { cache_prefix: out.prefix }),
    ...completeness(missing),
  };
}

function summaryRequests(
  context: RunContext,
  key: string,
  { agent, step, attempt }: CompactInput,
  out: CompactOut | undefined,
): readonly SentRequest[] {
  context.enter(agent);
  return (out?.summaries ?? []).map((summary, i) => {
    const rebuilt = rebuildSummary(context, summary);
    return {
      key: `${key}/summary/${i + 1}`,
      kind: "summary",
      step,
      attempt,
      path: context.path,
      agent: context.agent.definition.name,
      model: summary.model,
      ...wire(rebuilt),
      usage: summary.usage ?? null,
      ...completeness(gone(rebuilt, true)),
    };
  });
}

/** A model call's key: of a step, or of the planner's. */
const MODEL = /^(plan\/)?(\d+)\/model\/(\d+)$/;

/** A call of which nothing more is known than what came of it. */
function stub(context: RunContext, key: string, out: ModelOut | undefined): SentRequest {
  const [, plan, step = "0", attempt = "0"] = MODEL.exec(key) ?? [];
  return {
    key,
    kind: plan === undefined ? "step" : "planner",
    step: Number(step),
    attempt: Number(attempt),
    path: plan === undefined ? context.path : [...context.path, "planner"],
    agent: context.agent.definition.name,
    model: out?.model ?? "",
    system: null,
    tools: [],
    messages: [],
    usage: out?.usage ?? null,
    ...completeness([
      "The request cannot be rebuilt: the loop of this version goes another way than the run did.",
    ]),
  };
}

function completeness(missing: readonly string[]): Pick<SentRequest, "complete" | "missing"> {
  return missing.length === 0 ? { complete: true } : { complete: false, missing };
}

/** What is not in the record any more. */
function gone({ missing }: RebuiltRequest, isOver: boolean): readonly string[] {
  if (missing.length === 0) return [];
  const what = missing.join(", ");
  return isOver
    ? [`Gone with the end of the run, since the agent does not have audit_transient: ${what}.`]
    : [`Not in the record: ${what}.`];
}

/** What rails and hooks did to a request is known once its result is: not while it is on its way, nor if that died. */
function unrecorded(context: RunContext, out: ModelOut | undefined): readonly string[] {
  if (out?.sent !== undefined) return [];
  const isLost = out?.again !== undefined && out.failure === undefined;
  if ((out === undefined || isLost) && context.listens("PRE_LLM_CALL"))
    return [
      `Whether rails or hooks at PRE_LLM_CALL changed it is ${isLost ? "unknown: the process that called the model died" : "not known yet: there is no answer so far"}.`,
    ];
  const changed = (out?.verdicts ?? []).flatMap(({ point, records }) =>
    point === "PRE_LLM_CALL" ? records.filter(({ shadow, reason }) => !shadow && reason === CHANGED) : [],
  );
  if (changed.length === 0) return [];
  const names = changed.map(({ rail }) => `"${rail}"`).join(", ");
  return [`${names} changed it, and what the change was is not in the record of a run as old as this.`];
}

/** What a rail's record says when it changed a request without a word of its own. */
const CHANGED = "changed messages";

function serversOf({ definition: { mcp_servers } }: BoundAgent): readonly string[] {
  if (mcp_servers.length === 0) return [];
  const names = mcp_servers.map(({ name }) => `"${name}"`).join(", ");
  return [`The tools of ${names} are not in the record: a server declares them when a run begins.`];
}

/** A request in the words of this interface, as JSON. */
function wire({
  prompt,
  tools = [],
  maxOutputTokens,
  temperature,
  responseFormat,
}: RebuiltRequest): Pick<
  SentRequest,
  "system" | "tools" | "messages" | "max_output_tokens" | "temperature" | "output_schema"
> {
  const [first] = prompt;
  const system = first?.role === "system" ? first.content : null;
  const schema = responseFormat?.type === "json" ? responseFormat.schema : undefined;
  return {
    system,
    tools: tools.map(({ name, description = "", inputSchema }) => ({
      name,
      description,
      input_schema: inputSchema as JsonObject, // JSON Schema by its own word
    })),
    messages: (system === null ? prompt : prompt.slice(1)).map(plain),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(schema === undefined ? {} : { output_schema: schema as JsonObject }),
  };
}

function plain(message: RebuiltRequest["prompt"][number]): SentMessage {
  const content: readonly object[] = typeof message.content === "string" ? [] : message.content;
  const shown = content.map((part) =>
    "type" in part && part.type === "reasoning" && "providerOptions" in part
      ? { ...part, providerOptions: undefined, signed: true }
      : part,
  );
  return { role: message.role as SentMessage["role"], content: JSON.parse(JSON.stringify(shown)) };
}
