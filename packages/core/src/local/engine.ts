import { REDUCERS, type Reducer } from "../context/compaction/reducers.ts";
import type { ModelTable } from "../context/model-table.ts";
import { TracksideError } from "../errors.ts";
import type { Task } from "../hooks/pipeline-hooks.ts";
import type { Approval } from "../schema/approval.ts";
import type { UserMessage } from "../schema/message.ts";
import type { TurnStart, TurnState } from "../schema/turn-state.ts";
import type { ToolServers } from "../tools/tool-servers.ts";
import { runTurn } from "../turn/run-turn.ts";
import { start } from "../turn/state.ts";
import type { DecisionInput } from "./approvals.ts";
import { refuseUnknown } from "./attachments.ts";
import { type AgentBinding, bindAgent, type LanguageModel } from "./bound-agent.ts";
import { type Children, LocalChildren } from "./children.ts";
import { withClientTools } from "./client-tools.ts";
import { type Clock, systemClock } from "./clock.ts";
import { Conversation, logOf } from "./conversation.ts";
import { Facts } from "./facts.ts";
import { newId } from "./ids.ts";
import { LateMessages } from "./late-messages.ts";
import { LocalWorld } from "./local-world.ts";
import { Models } from "./models.ts";
import type { ProviderSettings } from "./providers/registry.ts";
import { Resources } from "./resources.ts";
import { type EngineParts, type RetryPolicy, RunContext, type RunEvent } from "./run-context.ts";
import { type RunOptions, type RunRequest, readRequest, type UserInput } from "./run-request.ts";
import { failureFrom, type RunResult, resultOf } from "./run-result.ts";
import { Started } from "./started.ts";
import { TokenCounters } from "./token-counters.ts";
import { Watchdog } from "./watchdog.ts";

/** Executes runs. Every engine runs the same loop over the same handlers. */
export interface Engine {
  /** Somebody can always be asked to decide: it has an inbox of its own (L6). */
  readonly hosted?: boolean;
  /** Starts a run. Never throws: a run that is refused settles its result with the reason. */
  start(
    agent: AgentBinding,
    input: UserInput,
    options: RunOptions,
    sink?: (event: RunEvent) => void,
  ): StartedRun;
}

export interface StartedRun {
  readonly runId: string;
  readonly turnRef: string;
  readonly result: Promise<RunResult<unknown>>;
  cancel(reason: string): void;
  /** What waits for a decision now. */
  readonly pending: readonly Approval[];
  /** Decides an approval of this run. */
  decide(id: string, decision: DecisionInput): Promise<Approval>;
  /** Sends a message to the run. It joins at the next step, or opens the next turn if the run ends first (X6). */
  steer(input: UserInput): Promise<Receipt>;
  /** Adds a note to the next model call, and to no other. It is dropped if the run makes none. */
  inject(input: UserInput): Promise<Receipt>;
}

/** What became of a message that was sent to a run under way. */
export interface Receipt {
  readonly id: string;
  /** It joined the run, a rail did not let it in, or it opened a turn of its own; `queued` for who did not wait for that. */
  readonly state: "admitted" | "dropped" | "next_turn" | "queued";
  /** The run it joined or opened, or waits for. */
  readonly runId: string;
  /** When that was, in Unix ms. */
  readonly at: number;
}

/** The run that deferred a task. */
export interface DeferringRun {
  readonly runId: string;
  readonly tenant: string;
}

export interface EngineOptions {
  /** Base URLs and keys by provider; the environment is asked for the rest. */
  readonly providers?: Readonly<Record<string, ProviderSettings>>;
  /** Models to use for `provider:model` strings instead of what a provider package would make. */
  readonly models?: Readonly<Record<string, LanguageModel>>;
  /** Retries of provider errors, for each model. */
  readonly retry?: Partial<RetryPolicy>;
  /** How long a model may stay silent. */
  readonly modelIdleMs?: number;
  readonly clock?: Clock;
  /** Windows and prices by `provider:model`, before the built-in table. */
  readonly modelTable?: ModelTable;
  /** Where the tools of `mcp_servers` come from: a `McpHub` of @trackside/host/mcp. */
  readonly toolServers?: ToolServers;
  /** How a log is made smaller when there is too little room: `REDUCERS`, unless given (B4). */
  readonly reducers?: readonly Reducer[];
  /**
   * Tasks that hooks may defer to after a run (H7). A durable engine finds them by name after a restart, so there every
   * task has to be listed; the local engine lets any task be deferred when this is absent.
   */
  readonly tasks?: readonly Task[];
  /** Called when work deferred to after a run fails. */
  readonly onDeferredError?: (error: unknown, task: string, run: DeferringRun) => void;
}

/** Drives one turn to its end. */
export interface Drive {
  readonly ended: Promise<TurnState>;
  cancel(reason: string): void;
}

const RETRY: RetryPolicy = { retries: 3, baseMs: 500, maxMs: 8_000 };
const MODEL_IDLE_MS = 120_000;

/** The engine of this process: no services, nothing written down. */
export function localEngine(options: EngineOptions = {}): Engine {
  return engineOf(options, (run, turn) => {
    const world = new LocalWorld(run);
    return { ended: runTurn(run.agent.pinned, turn, world), cancel: (reason) => world.cancelRun(reason) };
  });
}

/** Makes an engine from a way to drive a turn. */
export function engineOf(
  options: EngineOptions,
  drive: (run: RunContext, turn: TurnStart) => Drive,
  keep?: EngineParts["keep"],
): Engine {
  const parts = engineParts(options, new LocalChildren(drive), keep);
  const onDeferredError = options.onDeferredError ?? (() => {});
  const start: Engine["start"] = (agent, input, runOptions, sink) => {
    const runId = newId("run");
    const turnRef = newId("turn");
    try {
      const request = readRequest(agent, input, runOptions, sink !== undefined, {
        stores: false,
        facts: parts.facts,
      });
      const next = (message: UserInput, conversation: Conversation) =>
        start(agent, message, { ...runOptions, conversation }, sink);
      return begin(agent, request, { runId, turnRef, parts, sink, drive, onDeferredError, next });
    } catch (error) {
      return refused(error, runId, turnRef, parts.clock, sink);
    }
  };
  return { start };
}

/** What an engine brings to every run, made from its options. */
export function engineParts(
  options: EngineOptions,
  children: Children,
  keep: EngineParts["keep"] = (message) => message,
): EngineParts {
  const clock = options.clock ?? systemClock;
  return {
    clock,
    watchdog: new Watchdog(clock),
    models: new Models(options.providers ?? {}, options.models ?? {}),
    retry: { ...RETRY, ...options.retry },
    modelIdleMs: options.modelIdleMs ?? MODEL_IDLE_MS,
    keep,
    facts: new Facts(options.modelTable ?? {}),
    children,
    counters: new TokenCounters(),
    resources: new Resources(),
    reducers: options.reducers ?? REDUCERS,
    toolServers: options.toolServers,
    ...(options.tasks === undefined ? {} : { taskProblem: taskProblem(options.tasks) }),
  };
}

/** Why a hook cannot defer a task: a name has to stand for one function, in this process and after a restart. */
function taskProblem(tasks: readonly Task[]): (task: Task) => string | undefined {
  const registered = new Map(tasks.map((task) => [task.name, task]));
  return ({ name, run }) => {
    const known = registered.get(name);
    if (known === undefined)
      return `the task "${name}" is not registered. Pass it in \`tasks\` of the engine or host, so that it can run after a restart.`;
    if (known.run === run) return undefined;
    return `another task is registered as "${name}". Defer that one and pass what it needs as its input: a closure would be gone after a restart.`;
  };
}

interface Beginning {
  readonly runId: string;
  readonly turnRef: string;
  readonly parts: EngineParts;
  readonly sink: ((event: RunEvent) => void) | undefined;
  readonly drive: (run: RunContext, turn: TurnStart) => Drive;
  readonly onDeferredError: NonNullable<EngineOptions["onDeferredError"]>;
  /** Starts the next turn, with a message that came too late for this one. */
  readonly next: (message: UserInput, conversation: Conversation) => StartedRun;
}

function begin(
  agent: AgentBinding,
  request: RunRequest,
  { runId, turnRef, parts, sink, drive, onDeferredError, next }: Beginning,
): StartedRun {
  const { scope, signal } = request;
  const conversation =
    request.conversation instanceof Conversation ? request.conversation : new Conversation();
  const log = logOf(conversation);
  if (log.activeRun !== null) {
    const message = `The conversation ${conversation.id} is busy with run ${log.activeRun}. Wait for it, or cancel it.`;
    throw new TracksideError("conversation_busy", message);
  }
  refuseUnknown(request.parts, (id) => log.artifacts.find(id) !== undefined);
  const bound = bindAgent(withClientTools(agent, request.clientTools));
  const userMessage: UserMessage = { id: `${runId}.user`, role: "user", parts: request.parts };
  const run = new RunContext({
    id: runId,
    turnRef,
    scope,
    agent: bound,
    log,
    parts,
    userMessage,
    sink,
    approver: request.approver,
    toolServers: request.toolServers,
  });
  const from = log.messages.length;
  log.activeRun = runId;
  const turn = { run_id: runId, turn_ref: turnRef, log: from, message_id: userMessage.id };
  const driven = drive(run, turn);
  const cancel = (reason: string) => driven.cancel(reason);
  const unlisten = signal ? listen(signal, cancel) : undefined;

  const late = new LateMessages(parts.clock, (message) => next(message, conversation));
  const settle = () => {
    log.activeRun = null;
    unlisten?.();
    run.supplies?.end();
    late.runEnded(run.takeInbox().map(({ receipt }) => receipt));
  };
  const result = driven.ended.then(
    (state) => {
      settle();
      runDeferred(run, onDeferredError);
      return resultOf(run, state, conversation, from);
    },
    (error: unknown) => {
      settle();
      const failure = failureFrom(error);
      run.note({ type: "error", failure });
      run.note({ type: "status", status: "error", failure });
      const state = { ...start(turn), outcome: { status: "error" as const, failure } };
      return resultOf(run, state, conversation, from, error);
    },
  );
  return new Started(run, result, late, cancel);
}

/** Work for after the run: it never delays the result, and its failures are nobody's but its own (H7). */
function runDeferred(run: RunContext, onError: NonNullable<EngineOptions["onDeferredError"]>): void {
  for (const { task, input } of run.deferred) {
    setImmediate(async () => {
      try {
        await task.run(input);
      } catch (error) {
        try {
          onError(error, task.name, { runId: run.id, tenant: run.scope.tenant });
        } catch {
          // Who is told of failures has failed in turn; there is nobody left to tell.
        }
      }
    });
  }
}

function listen(signal: AbortSignal, cancel: (reason: string) => void): (() => void) | undefined {
  const onAbort = () => cancel(abortReason(signal));
  if (signal.aborted) {
    onAbort();
    return undefined;
  }
  signal.addEventListener("abort", onAbort, { once: true });
  return () => signal.removeEventListener("abort", onAbort);
}

function abortReason(signal: AbortSignal): string {
  const { reason } = signal;
  return reason instanceof Error ? reason.message : String(reason ?? "aborted");
}

/** A run that never began: one event that says why. */
export function refused(
  error: unknown,
  runId: string,
  turnRef: string,
  clock: Clock,
  sink: ((event: RunEvent) => void) | undefined,
): StartedRun {
  const failure = failureFrom(error);
  sink?.({
    type: "status",
    run_id: runId,
    turn_ref: turnRef,
    seq: 1,
    at: clock.now(),
    path: [],
    status: "error",
    failure,
  });
  const decide = () => Promise.reject(error);
  return {
    runId,
    turnRef,
    result: Promise.reject(error),
    cancel: () => {},
    pending: [],
    decide,
    steer: decide,
    inject: decide,
  };
}
