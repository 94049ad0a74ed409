import type { Json, JsonObject } from "../schema/json.ts";
import type { UserMessage } from "../schema/message.ts";
import type { Outcome } from "../schema/run.ts";
import { sourcesIn } from "../schema/sources.ts";
import type { TurnStart, TurnState } from "../schema/turn-state.ts";
import { childMessage } from "../subagents/child-definition.ts";
import { readUntrustedSchema } from "../subagents/untrusted-schema.ts";
import type { CompiledSchema } from "../tools/compile-schema.ts";
import { messageText } from "../turn/expand.ts";
import { NO_USAGE, start } from "../turn/state.ts";
import type { ChildInput, ChildOut } from "../turn/world.ts";
import { Log } from "./conversation.ts";
import type { Effect } from "./effect.ts";
import type { Drive } from "./engine.ts";
import type { Maybe } from "./maybe.ts";
import { readAnswer } from "./read-answer.ts";
import type { RunContext } from "./run-context.ts";
import { failureFrom } from "./run-result.ts";

/** What a child said in the end. */
export interface ChildAnswer {
  readonly text: string;
  readonly structured?: Json;
  /** The tools whose results it has read. */
  readonly sources: readonly string[];
}

/** How an engine runs sub-agents. */
export interface Children {
  run(parent: RunContext, input: ChildInput, effect: Effect): Promise<ChildOut>;
  /** The answer of a child of this run that ended well. */
  answer(parent: RunContext, runId: string): Maybe<ChildAnswer | undefined>;
}

/** Sub-agents in this process. */
export class LocalChildren implements Children {
  readonly #drive: (run: RunContext, turn: TurnStart) => Drive;

  constructor(drive: (run: RunContext, turn: TurnStart) => Drive) {
    this.#drive = drive;
  }

  async run(parent: RunContext, input: ChildInput, effect: Effect): Promise<ChildOut> {
    const { run_id: id, label } = input;
    if (effect.cancelled !== undefined) return childOut(id, NOT_BEGUN, undefined, effect.cancelled);
    const userMessage = openingOf(parent, input);
    const run = parent.child({
      id,
      label,
      agent: parent.agent.childFor(input),
      userMessage,
      log: new Log([]),
    });
    const turn = { run_id: id, turn_ref: parent.turnRef, log: 0, message_id: userMessage.id };
    const driven = this.#drive(run, turn);
    const listener = { cancelled: (reason: string) => driven.cancel(reason) };
    effect.onCancel(listener);
    const state = await driven.ended.catch((error: unknown) => broken(run, turn, error));
    effect.offCancel(listener);
    const answer = await answerOf(run, state);
    if (answer !== undefined) parent.answers.set(id, answer);
    return childOut(id, state, answer, effect.cancelled);
  }

  answer(parent: RunContext, runId: string): ChildAnswer | undefined {
    return parent.answers.get(runId);
  }
}

/** The message a child begins with: its job, or what its node has worked out for it. */
export function openingOf(parent: RunContext, { run_id, job, node }: ChildInput): UserMessage {
  const id = `${run_id}.user`;
  if (job !== undefined) return { id, role: "user", parts: [{ type: "text", text: childMessage(job) }] };
  const worked = node && parent.message(node.message_id);
  const part = worked?.role === "user" ? worked.parts[node?.part ?? 0] : undefined;
  if (part === undefined) throw new Error(`the child ${run_id} has nothing to begin with`);
  return { id, role: "user", parts: [part] };
}

/** A child that was stopped before it began. */
export const NOT_BEGUN = { outcome: null, usage: NO_USAGE };

/** A bug in a child is a failed child. */
function broken(run: RunContext, turn: TurnStart, error: unknown): TurnState {
  const failure = failureFrom(error);
  run.note({ type: "error", failure });
  run.note({ type: "status", status: "error", failure });
  return { ...start(turn), outcome: { status: "error", failure } };
}

/** What a child said, checked against its schema (S5); undefined when it did not come to an answer. */
export async function answerOf(run: RunContext, { outcome }: TurnState): Promise<ChildAnswer | undefined> {
  if (!hasAnswer(outcome)) return undefined;
  const said = outcome.message_id === null ? undefined : run.message(outcome.message_id);
  const text = said?.role === "assistant" ? messageText(said) : "";
  return readText(text, run.agent.output, sourcesIn(run.log.messages));
}

/** The same of a run that is over, of which there is what was stored. */
export async function storedAnswer(
  outcome: TurnState["outcome"],
  text: string,
  outputSchema: JsonObject | null,
  sources: readonly string[],
): Promise<ChildAnswer | undefined> {
  if (!hasAnswer(outcome)) return undefined;
  const read = outputSchema === null ? null : readUntrustedSchema(outputSchema);
  return read?.ok === false ? undefined : readText(text, read?.schema ?? null, sources);
}

function hasAnswer(outcome: TurnState["outcome"]): outcome is Outcome & { status: "completed" } {
  return outcome?.status === "completed" && outcome.stop_reason !== "budget";
}

async function readText(
  text: string,
  schema: CompiledSchema | null,
  sources: readonly string[],
): Promise<ChildAnswer | undefined> {
  if (schema === null) return { text, sources };
  const read = await readAnswer(text, schema);
  return read.ok ? { text, structured: read.value as Json, sources } : undefined; // parsed from JSON
}

/** What a child's end means to its parent. */
export function childOut(
  run_id: string,
  { outcome, usage }: Pick<TurnState, "outcome" | "usage">,
  answer: ChildAnswer | undefined,
  cancelled: string | undefined,
): ChildOut {
  const ended = { run_id, usage: usage ?? NO_USAGE };
  if (cancelled !== undefined) {
    const failure = { code: "cancelled" as const, message: `Stopped: ${cancelled}` };
    return { ...ended, status: "error", failure, cancelled };
  }
  if (outcome?.status === "error") {
    const { failure } = outcome;
    return {
      ...ended,
      status: "error",
      failure,
      ...(failure.code === "rail_aborted" ? { aborted: true } : {}),
    };
  }
  if (outcome?.status === "cancelled")
    return { ...ended, status: "error", failure: { code: "cancelled", message: outcome.reason } };
  if (answer !== undefined) return { ...ended, status: "success" };
  const stopped = outcome?.status === "completed" ? outcome.stop_reason : null;
  const failure =
    stopped === "budget"
      ? { code: "budget_exceeded" as const, message: "It stopped at its token budget." }
      : {
          code: "output_invalid" as const,
          message: `It stopped (${stopped}) without an answer that fits its schema.`,
        };
  return { ...ended, status: "error", failure };
}
