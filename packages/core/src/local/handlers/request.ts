import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { type Rendered, renderInto, renderMessage } from "../../context/render.ts";
import { deepFreeze } from "../../schema/json.ts";
import type { Message } from "../../schema/message.ts";
import type { ModelInput } from "../../turn/world.ts";
import type { RunContext } from "../run-context.ts";

/** What a request is made of, by reference. */
export type Requested = Pick<
  ModelInput,
  "step" | "up_to" | "tail" | "tail_at" | "plan" | "notes" | "redo"
> & {
  readonly planner?: readonly string[];
};

/**
 * The request: system prompt, the log with this turn's transient parts and plan after the user's message, after a rejected
 * answer the draft with what was wrong about it, and notes for this call. The planner goes on from there.
 */
export function promptOf(run: RunContext, input: Requested): LanguageModelV4Prompt {
  const system = input.planner ? run.agent.plannerSystem : run.agent.system;
  const history = run.log.render(input.up_to);
  const prompt: Rendered[] = system === null ? history.slice() : [system, ...history];
  if (input.tail.length > 0 || input.plan !== null) {
    const at = run.log.renderedLength(input.tail_at, input.up_to) + (system === null ? 0 : 1);
    prompt.splice(at, 0, ...tailOf(run, input).flatMap(rendered));
  }
  if (input.redo !== null || input.notes.length > 0)
    for (const message of afterLog(run, input)) prompt.push(...rendered(message));
  if (input.planner) {
    const aside = asideOf(run, input);
    renderInto(prompt, aside, 0, aside.length);
  }
  return prompt;
}

/** The same request as messages, for rails that look at it. */
export function requestMessages(run: RunContext, input: Requested): readonly Message[] {
  const messages = run.log.shown(input.up_to);
  const tail = tailOf(run, input);
  if (tail.length > 0) {
    const before = run.message(run.log.messages[input.tail_at - 1]?.id ?? "");
    const at = messages.findLastIndex((message) => message.id === before?.id) + 1;
    messages.splice(at, 0, ...tail);
  }
  messages.push(...afterLog(run, input), ...asideOf(run, input));
  return deepFreeze(messages);
}

/** Transient parts of the turn, and the plan. */
export function tailOf(run: RunContext, { tail, plan }: Requested): Message[] {
  const ids = plan === null ? tail : [...tail, plan];
  return ids.flatMap((id) => run.message(id) ?? []);
}

/** What stands behind the log: a draft with the feedback on it, and notes. */
export function afterLog(run: RunContext, { redo, notes, step }: Requested): Message[] {
  const noted = notes.flatMap((id) => run.message(id) ?? []);
  if (redo === null) return noted;
  const draft = run.message(redo.message_id);
  const feedback: Message = {
    id: `${run.id}.main.${step}.feedback`,
    role: "user",
    parts: [{ type: "text", text: redo.feedback }],
  };
  return draft === undefined ? [feedback, ...noted] : [draft, feedback, ...noted];
}

/** The planner's own messages so far. */
export function asideOf(run: RunContext, { planner }: Requested): Message[] {
  return planner?.flatMap((id) => run.message(id) ?? []) ?? [];
}

function rendered(message: Message | undefined): Rendered[] {
  if (message === undefined || message.role === "tool") return [];
  if (message.role === "user" && message.parts.length === 0) return []; // its content is forgotten (H4)
  const one = renderMessage(message);
  return one === null ? [] : [one];
}
