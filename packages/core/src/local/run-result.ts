import { HookError, RailAbortError, RunCancelledError, RunError, TracksideError } from "../errors.ts";
import { FAILURE_CODES, type Failure } from "../schema/failure.ts";
import { deepFreeze } from "../schema/json.ts";
import type { Message } from "../schema/message.ts";
import type { Plan } from "../schema/plan.ts";
import type { StopReason } from "../schema/run.ts";
import type { TurnState } from "../schema/turn-state.ts";
import type { Usage } from "../schema/usage.ts";
import { messageText } from "../turn/expand.ts";
import type { Conversation } from "./conversation.ts";
import { type PromptCacheReport, promptCacheReport } from "./prompt-cache/report.ts";
import { readAnswer } from "./read-answer.ts";
import type { RunContext } from "./run-context.ts";

/** What a run leaves behind. On an error it is what there was until then, on the error's `result`. */
export interface RunResult<Output = string> {
  /** The answer: text, or the value that fits the agent's output schema. */
  readonly output: Output;
  /** The answer as text. */
  readonly text: string;
  /** Why it stopped; null when it failed or was cancelled. */
  readonly stopReason: StopReason | null;
  /** With `halted` and `skipped`: who stopped it, and why. */
  readonly reason: string | null;
  readonly steps: number;
  readonly usage: Usage;
  /** How much of each request was the same as in the one before, and what broke it where it was not. */
  readonly promptCache: PromptCacheReport;
  /** What the planner came to; null without planning, or when it came to nothing. */
  readonly plan: Plan | null;
  readonly runId: string;
  readonly turnRef: string;
  /** What this turn added to the conversation's log. */
  readonly messages: readonly Message[];
  /** The way on: `run(next, { conversation: result.conversation })`. */
  readonly conversation: Conversation;
}

/** Reads the result of a turn that ended, or throws the run's error with what there is. */
export async function resultOf(
  run: RunContext,
  state: TurnState,
  conversation: Conversation,
  from: number,
  cause?: unknown,
): Promise<RunResult<unknown>> {
  const { outcome } = state;
  const done = outcome?.status === "completed" ? outcome : null;
  const answer = done?.message_id ? run.message(done.message_id) : undefined;
  const text = answer?.role === "assistant" ? messageText(answer) : "";
  const added = { from, to: run.log.messages.length };
  const output = done?.stop_reason === "answered" ? await outputOf(run, text) : text;
  const result = new TurnResult(run, state, conversation, added, output, text);
  if (outcome?.status === "error") throw errorOf(outcome.failure, result, cause);
  if (outcome?.status === "cancelled") throw new RunCancelledError(outcome.reason, result);
  return result;
}

/**
 * What there is of a turn. Its messages and the report are gathered when somebody looks: most callers only want the output.
 * They are fields of the object's own, so that a copy has them too. Their getters are the same for all: one written into
 * each object is kept in its hidden class, and the whole run with it until the next full collection.
 */
class TurnResult implements RunResult<unknown> {
  readonly output: unknown;
  readonly text: string;
  readonly stopReason: StopReason | null;
  readonly reason: string | null;
  readonly steps: number;
  readonly usage: Usage;
  declare readonly promptCache: PromptCacheReport;
  readonly plan: Plan | null;
  readonly runId: string;
  readonly turnRef: string;
  declare readonly messages: readonly Message[];
  readonly conversation: Conversation;
  readonly #run: RunContext;
  readonly #added: { readonly from: number; readonly to: number };
  #messages: readonly Message[] | undefined;

  constructor(
    run: RunContext,
    { outcome, step, usage }: TurnState,
    conversation: Conversation,
    added: { from: number; to: number },
    output: unknown,
    text: string,
  ) {
    const done = outcome?.status === "completed" ? outcome : null;
    this.#run = run;
    this.#added = added;
    this.output = output;
    this.text = text;
    this.stopReason = done?.stop_reason ?? null;
    this.reason = done?.reason ?? null;
    this.steps = step;
    this.usage = usage;
    this.plan = run.plan;
    this.runId = run.id;
    this.turnRef = run.turnRef;
    this.conversation = conversation;
    Object.defineProperties(this, TurnResult.#gathered);
  }

  static readonly #gathered: PropertyDescriptorMap & ThisType<TurnResult> = {
    promptCache: {
      enumerable: true,
      configurable: true,
      get() {
        return promptCacheReport(this.#run.requests);
      },
    },
    messages: {
      enumerable: true,
      configurable: true,
      get() {
        const { from, to } = this.#added;
        this.#messages ??= deepFreeze(this.#run.log.said(from, to));
        return this.#messages;
      },
    },
  };
}

function errorOf(failure: Failure, result: RunResult<unknown>, thrown: unknown): RunError {
  const cause = failure.cause ? new RunError(failure.cause, result) : thrown;
  const options = cause === undefined ? {} : { cause };
  if (failure.code === "rail_aborted") return new RailAbortError(failure, result, options);
  if (failure.code === "hook_failed" && failure.details?.["point"] !== undefined)
    return new HookError(failure, result, options);
  return new RunError(failure, result, options);
}

async function outputOf(run: RunContext, text: string): Promise<unknown> {
  const found = await readAnswer(text, run.agent.output);
  return found.ok ? found.value : text;
}

/** The failure that any error stands for. Ours say what they are; anything else is a bug of ours. */
export function failureFrom(error: unknown): Failure {
  if (error instanceof RunError) return error.failure;
  if (error instanceof TracksideError) return { code: refusalCode(error.code), message: error.message };
  const message = error instanceof Error ? error.message : String(error);
  return { code: "internal", message: `Trackside failed in a way it should not: ${message}` };
}

function refusalCode(code: string): Failure["code"] {
  return FAILURE_CODES.find((known) => known === code) ?? "internal";
}
