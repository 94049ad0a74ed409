import type { UserMessage } from "../../schema/message.ts";
import type { DispatchInput, DispatchOut } from "../../turn/world.ts";
import type { Effect } from "../effect.ts";
import type { RunContext } from "../run-context.ts";

/** Runs the hooks of a point that belongs to no model or tool call. */
export async function dispatch(run: RunContext, input: DispatchInput, effect: Effect): Promise<DispatchOut> {
  const fatal = await dispatchOn(run, input, effect);
  if (effect.cancelled !== undefined) return { cancelled: effect.cancelled };
  return fatal ? { fatal } : {};
}

function dispatchOn(run: RunContext, { point, outcome }: DispatchInput, effect: Effect) {
  const input = inputText(run.userMessage);
  if (point === "FINISHED" && outcome) {
    return run.dispatch("FINISHED", Object.freeze({ input, result: outcome }), 1, effect);
  }
  if (point === "ERROR" && outcome?.status === "error") {
    return run.dispatch("ERROR", Object.freeze({ input, error: outcome.failure }), 1, effect);
  }
  const messages = Object.freeze(run.log.messages.slice());
  return run.dispatch("START", Object.freeze({ input, messages }), 1, effect);
}

function inputText(message: UserMessage): string {
  return message.parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}
