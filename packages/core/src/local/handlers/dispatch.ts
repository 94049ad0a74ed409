import { Lazy } from "../../hooks/inputs.ts";
import { deepFreeze } from "../../schema/json.ts";
import type { AssistantMessage, UserMessage } from "../../schema/message.ts";
import { messageText } from "../../turn/expand.ts";
import type { DispatchInput, DispatchOut } from "../../turn/world.ts";
import type { Effect } from "../effect.ts";
import { dispatchPoint } from "../point.ts";
import type { RunContext } from "../run-context.ts";

/** Runs the hooks and rails of a point that belongs to no model or tool call. */
export async function dispatch(run: RunContext, input: DispatchInput, effect: Effect): Promise<DispatchOut> {
  run.enter(input.agent);
  const place = { effect, key: effect.key, attempt: input.attempt, rails: input.rails };
  const { outcome, inputs, verdict, failure } = await dispatchPoint(
    run,
    input.point,
    valuesOf(run, input),
    place,
    textOnly,
  );
  const said = verdict ? { verdict } : {};
  if (effect.cancelled !== undefined) return { ...said, cancelled: effect.cancelled };
  if (failure) return { ...said, fatal: failure };
  if (input.point === "START" && outcome.action === "continue" && inputs.everChanged) {
    run.record(withText(opening(run, input), String(inputs.read("input"))));
  }
  const standIn =
    outcome.action === "skip" && outcome.replacement !== undefined && input.steered === undefined
      ? standingIn(run, outcome.replacement)
      : undefined;
  return { ...said, ...(standIn ? { message_id: standIn.id } : {}) };
}

function valuesOf(run: RunContext, given: DispatchInput): Record<string, unknown> {
  const { point, outcome, steered, handoff } = given;
  const input = inputText(point === "START" ? opening(run, given) : openedWith(run));
  if (point === "HANDOFF" && handoff !== undefined) {
    const { from, to, input: said } = handoff;
    return { from, to, input: said === "" ? input : said };
  }
  if (point === "FINISHED" && outcome?.status === "completed") {
    const answer = outcome.message_id === null ? undefined : run.message(outcome.message_id);
    const text = answer?.role === "assistant" ? messageText(answer) : "";
    return { input, result: Object.freeze({ text, stopReason: outcome.stop_reason }) };
  }
  if (point === "ERROR" && outcome?.status === "error") return { input, error: deepFreeze(outcome.failure) };
  return {
    input,
    messages: new Lazy(() => deepFreeze(run.log.said())),
    steered: steered !== undefined,
  };
}

/** The message START is about: the one that opens the turn, or one sent while it was under way. */
function opening(run: RunContext, { steered }: DispatchInput): UserMessage {
  const message = steered === undefined ? run.userMessage : run.message(steered);
  if (message?.role !== "user") throw new Error(`the message ${steered} is gone`);
  return message;
}

function textOnly(_field: string, value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? undefined : "a text that is not empty is expected";
}

/** The message that stands in for a turn that was skipped: shown and returned, not logged. */
function standingIn(run: RunContext, replacement: unknown): AssistantMessage {
  const text = typeof replacement === "string" ? replacement : JSON.stringify(replacement);
  const message: AssistantMessage = {
    id: `${run.id}.main.0.m1`,
    role: "assistant",
    parts: [{ type: "text", text }],
  };
  run.record(message);
  return message;
}

function withText(message: UserMessage, text: string): UserMessage {
  return {
    ...message,
    parts: [{ type: "text", text }, ...message.parts.filter((part) => part.type !== "text")],
  };
}

/** The user's message as START rails and pre-hooks left it. */
function openedWith(run: RunContext): UserMessage {
  const message = run.message(run.userMessage.id);
  return message?.role === "user" ? message : run.userMessage;
}

function inputText(message: UserMessage): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
