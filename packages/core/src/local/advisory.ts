import { advisoryOf, usedIn } from "../context/budget.ts";
import type { ModelFacts } from "../context/model-table.ts";
import type { AssistantMessage, ToolMessage } from "../schema/message.ts";
import type { Usage } from "../schema/usage.ts";
import { counterOf, factsOf } from "./request-size.ts";
import type { RunContext } from "./run-context.ts";

/** What is known of the request that a message answers. */
interface Answered {
  readonly isPlanning: boolean;
  /** What the provider reported; some report nothing. */
  readonly usage: Usage | undefined;
  /** The request's size, by estimate. */
  readonly estimate: number;
}

/** With `per-message`, what the model said carries how full its window is (B2). Stamped once: its bytes never change. */
export function withAdvisory(
  run: RunContext,
  message: AssistantMessage,
  answered: Answered,
): AssistantMessage {
  const facts = advised(run, answered.isPlanning);
  if (facts === undefined) return message;
  const { usage, estimate, isPlanning } = answered;
  const isReported = usage !== undefined && usage.input_tokens > 0;
  const used = isReported
    ? usage.input_tokens + usage.output_tokens
    : Math.ceil(estimate) + counterOf(run, isPlanning).size(message);
  return { ...message, advisory: advisoryOf(used, facts) };
}

/** The same for the result of a call: what was used when it was asked for, and the result itself. */
export function withResultAdvisory(
  run: RunContext,
  message: ToolMessage,
  { messageId, isPlanning }: { messageId: string; isPlanning: boolean },
): ToolMessage {
  const facts = advised(run, isPlanning);
  if (facts === undefined) return message;
  const said = run.message(messageId);
  const used = said?.role === "assistant" ? usedIn(said.advisory) : undefined;
  if (used === undefined) return message;
  return { ...message, advisory: advisoryOf(used + counterOf(run, isPlanning).size(message), facts) };
}

function advised(run: RunContext, isPlanning: boolean): ModelFacts | undefined {
  return run.agent.definition.budget_awareness === "per-message" ? factsOf(run, isPlanning) : undefined;
}
