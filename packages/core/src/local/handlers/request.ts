import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { type Rendered, renderInto, renderMessage } from "../../context/render.ts";
import { deepFreeze } from "../../schema/json.ts";
import type { Message } from "../../schema/message.ts";
import type { ModelInput } from "../../turn/world.ts";
import type { BoundAgent } from "../bound-agent.ts";
import type { RunContext } from "../run-context.ts";

/** What a request is made of, by reference. */
export type Requested = Pick<
  ModelInput,
  "step" | "up_to" | "tail" | "tail_at" | "plan" | "notes" | "redo"
> & {
  readonly planner?: readonly string[];
};

/**
 * A request in its pieces, in the order they are sent: the log up to `at`, `inserted`, the rest of the log, `added`, `aside`.
 * The log's list only grows, and is the same one until the next compaction.
 */
export interface Pieces {
  readonly system: Extract<Rendered, { role: "system" }> | null;
  readonly log: readonly Rendered[];
  readonly length: number;
  readonly at: number;
  /** Behind the user's message: this turn's transient parts and the plan, as messages and as they are sent. */
  readonly tail: readonly Message[];
  readonly inserted: readonly Rendered[];
  readonly plan: string | null;
  /** Behind the log, for this call only: a rejected draft with the feedback on it, then so many notes. */
  readonly added: readonly Rendered[];
  readonly notes: number;
  /** The planner's own. */
  readonly aside: readonly Rendered[];
}

const NONE: readonly never[] = Object.freeze([]);

/**
 * The request: system prompt, the log with this turn's transient parts and plan after the user's message, after a rejected
 * answer the draft with what was wrong about it, and notes for this call. The planner goes on from there.
 */
export function piecesOf(run: RunContext, input: Requested): Pieces {
  const log = run.log.render(input.up_to);
  const { length } = log;
  const hasTail = input.tail.length > 0 || input.plan !== null;
  const isLonger = input.redo !== null || input.notes.length > 0;
  const tail = hasTail ? tailOf(run, input) : NONE;
  return {
    system: input.planner ? run.agent.plannerSystem : run.agent.system,
    log,
    length,
    at: hasTail ? run.log.renderedLength(input.tail_at, input.up_to) : length,
    tail,
    inserted: hasTail ? tail.flatMap(rendered) : NONE,
    plan: input.plan,
    added: isLonger ? afterLog(run, input).flatMap(rendered) : NONE,
    notes: input.notes.length,
    aside: input.planner ? renderedAside(run, input) : NONE,
  };
}

/**
 * The pieces as one list, for this request alone: its messages are shared with others. Those at PRE_LLM_CALL may have left
 * other messages to send; the system prompt stays.
 */
export function promptOf(
  { system, log, at, inserted, added, aside }: Pieces,
  changed?: { readonly messages: readonly Rendered[] },
): Rendered[] {
  if (changed) return system === null ? [...changed.messages] : [system, ...changed.messages];
  const prompt: Rendered[] = system === null ? log.slice() : [system, ...log];
  if (inserted.length > 0) prompt.splice(at + (system === null ? 0 : 1), 0, ...inserted);
  if (added.length > 0) prompt.push(...added);
  if (aside.length > 0) prompt.push(...aside);
  return prompt;
}

/** What goes to a provider beside the prompt. */
export interface CallSettings
  extends Pick<LanguageModelV4CallOptions, "maxOutputTokens" | "temperature" | "responseFormat"> {
  tools?: LanguageModelV4FunctionTool[];
}

/** Fills in what an agent's requests to a provider have beside the prompt; a plan has no shape to have (P4). */
export function settle<T extends CallSettings>(
  options: T,
  agent: BoundAgent,
  provider: string,
  isPlanning: boolean,
): T {
  const { definition, output } = agent;
  const tools = agent.wireTools(provider, isPlanning);
  if (tools !== undefined) options.tools = tools;
  if (definition.max_tokens !== null) options.maxOutputTokens = definition.max_tokens;
  if (definition.temperature !== null) options.temperature = definition.temperature;
  if (output !== null && !isPlanning)
    options.responseFormat = { type: "json", schema: output.jsonSchema as object, name: "output" };
  return options;
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

function renderedAside(run: RunContext, input: Requested): Rendered[] {
  const aside = asideOf(run, input);
  const all: Rendered[] = [];
  renderInto(all, aside, 0, aside.length);
  return all;
}

function rendered(message: Message | undefined): Rendered[] {
  if (message === undefined || message.role === "tool") return [];
  if (message.role === "user" && message.parts.length === 0) return []; // its content is forgotten (H4)
  const one = renderMessage(message);
  return one === null ? [] : [one];
}
