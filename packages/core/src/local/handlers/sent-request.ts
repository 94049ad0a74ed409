import type { LanguageModelV4Prompt } from "@ai-sdk/provider";
import { renderInto } from "../../context/render.ts";
import type { Message } from "../../schema/message.ts";
import type { ModelInput, ModelOut, SentSummary } from "../../turn/world.ts";
import { changedRequest } from "../prompt-cache/changed-request.ts";
import type { RunContext } from "../run-context.ts";
import { type CallSettings, piecesOf, promptOf, requestMessages, settle } from "./request.ts";
import { isForgotten, keptAs, readPieces } from "./sent-pieces.ts";

/** A request as a provider was given it, made once more from a run's record (R4). Attachments are in it by reference. */
export interface RebuiltRequest extends CallSettings {
  readonly prompt: LanguageModelV4Prompt;
  /** What it had that is gone, in words. */
  readonly missing: readonly string[];
}

/**
 * Makes a request once more. The run is as it was when the request was made: its log, what was recorded, who had the turn.
 *
 * @param sent What those at PRE_LLM_CALL made of it.
 */
export function rebuildRequest(
  run: RunContext,
  input: ModelInput,
  { provider, sent }: { readonly provider: string; readonly sent: ModelOut["sent"] },
): RebuiltRequest {
  run.enter(input.agent);
  const missing = goneFrom(run, input);
  const pieces = piecesOf(run, input);
  let changed: ReturnType<typeof changedRequest> | undefined;
  if (sent !== undefined) {
    const { messages, gone } = readPieces(run, requestMessages(run, input), sent);
    const left = messages.filter((message) => message.role === "tool" || message.forgotten === undefined);
    changed = changedRequest(run, input, left, []);
    if (gone > 0) missing.push(`${count(gone, "message")} that rails or hooks changed or added`);
  }
  const rebuilt: RebuiltRequest = { prompt: promptOf(pieces, changed), missing };
  return settle(rebuilt, run.agent, provider, input.planner !== undefined);
}

/** The same of a request for a summary. */
export function rebuildSummary(run: RunContext, { messages, max_tokens }: SentSummary): RebuiltRequest {
  const [system, ...rest] = messages.map((name) => keptAs(run, name));
  const there = rest.filter((message) => message !== undefined && !isForgotten(message)) as Message[]; // those that are
  const prompt: LanguageModelV4Prompt = [];
  const text = system?.role === "user" && system.parts[0]?.type === "text" ? system.parts[0].text : undefined;
  if (text !== undefined) prompt.push({ role: "system", content: text });
  const rendered: ReturnType<typeof promptOf> = [];
  renderInto(rendered, there, 0, there.length);
  prompt.push(...rendered);
  const gone = messages.length - there.length - (text === undefined ? 0 : 1);
  const missing =
    gone === 0 ? [] : [`${count(gone, "message")} of what was to be summarised, with the prompt`];
  return { prompt, maxOutputTokens: max_tokens, missing };
}

/** What a request had beside the log and what ended with its run. */
function goneFrom(run: RunContext, { tail, plan, notes, redo, planner = [] }: ModelInput): string[] {
  const gone = (ids: readonly string[]) =>
    ids.filter((id) => {
      const message = run.message(id);
      return message === undefined || (message.role !== "tool" && message.forgotten !== undefined);
    }).length;
  const kinds = [
    [gone(tail), "transient part"],
    [plan === null ? 0 : gone([plan]), "plan"],
    [gone(notes), "note"],
    [redo === null ? 0 : gone([redo.message_id]), "rejected draft"],
    [gone(planner), "message of the planner"],
  ] as const;
  return kinds.flatMap(([n, what]) => (n === 0 ? [] : [count(n, what)]));
}

function count(n: number, what: string): string {
  const [first = "", ...rest] = what.split(" of ");
  return n === 1 ? `1 ${what}` : `${n} ${[`${first}s`, ...rest].join(" of ")}`;
}
