import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { type Rendered, renderInto } from "../../context/render.ts";
import type { ModelResponse } from "../../hooks/context.ts";
import { Lazy } from "../../hooks/inputs.ts";
import { applyOperations } from "../../rails/rail-state.ts";
import type { Failure } from "../../schema/failure.ts";
import { deepFreeze, type Json } from "../../schema/json.ts";
import type { Message } from "../../schema/message.ts";
import type { Usage } from "../../schema/usage.ts";
import { addUsage } from "../../turn/state.ts";
import type { LanguageModel } from "../bound-agent.ts";
import type { Effect } from "../effect.ts";
import { dispatchPoint, type Place } from "../point.ts";
import type { RunContext } from "../run-context.ts";
import { Assembly, SILENT, usageOf } from "./assembly.ts";
import { changedMessages } from "./changed.ts";
import { afterFailure, endFailure, failureOf } from "./model-failure.ts";
import { readStream } from "./read-stream.ts";
import { sleep } from "./sleep.ts";
import type { Spoken } from "./spoken.ts";

export interface QuietRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly maxTokens: number;
}

export interface QuietAnswer {
  /** Null when there is none: the model failed, or a rail withheld it. */
  readonly text: string | null;
  readonly model: string;
  readonly usage?: Usage;
  /** A rail wants more than that: the loop decides. */
  readonly isStopped?: true;
  /** A plain hook failed, and the run with it (R10). */
  readonly fatal?: Failure;
  /** Rail state, as they left it. */
  readonly rails: Place["rails"];
  /** What was sent; undefined when nothing was. */
  readonly sent?: readonly Message[];
}

/** A model call of our own, a summary: it passes the LLM rails like any other (R14), and nothing of it is shown. */
export async function quietCall(
  run: RunContext,
  request: QuietRequest,
  place: Place,
  spoken: Spoken,
): Promise<QuietAnswer> {
  let { messages } = request;
  let { rails } = place;

  if (run.listens("PRE_LLM_CALL")) {
    const values = { messages: new Lazy(() => deepFreeze([...messages])), tools: [] };
    const found = await dispatchPoint(run, "PRE_LLM_CALL", values, place, changedMessages);
    spoken.add(found.verdict, found.outcome.passed);
    rails = applyOperations(rails, found.outcome.operations); // POST rails read what PRE rails wrote
    const { action, replacement } = found.outcome;
    const nothing = { text: null, model: "", rails };
    if (action === "skip") return { ...nothing, text: textOf(replacement) };
    if (found.failure) return { ...nothing, fatal: found.failure };
    if (action !== "continue") return { ...nothing, isStopped: true };
    if (found.inputs.everChanged) messages = found.inputs.read("messages") as readonly Message[]; // checked above
  }

  const { failure, ...answer } = await ask(run, { ...request, messages }, place.effect);
  const said = { ...answer, sent: messages };
  if (failure?.code === "hook_failed") return { ...said, rails, fatal: failure }; // a transformer threw (H8)
  if (failure && place.effect.cancelled === undefined && run.listens("MODEL_ERROR")) {
    const values = {
      messages: new Lazy(() => deepFreeze([...messages])),
      tools: [],
      error: deepFreeze(failure),
    };
    const found = await dispatchPoint(run, "MODEL_ERROR", values, { ...place, rails });
    spoken.add(found.verdict, found.outcome.passed);
    rails = applyOperations(rails, found.outcome.operations);
    const { action, replacement } = found.outcome;
    if (found.failure) return { ...said, rails, fatal: found.failure };
    if (action === "skip") return { ...said, rails, text: textOf(replacement) };
    return action === "continue" ? { ...said, rails } : { ...said, rails, isStopped: true };
  }
  if (said.text === null || !run.listens("POST_LLM_CALL")) return { ...said, rails };
  const values = {
    messages: new Lazy(() => deepFreeze([...messages])),
    tools: [],
    response: deepFreeze({ text: said.text, toolCalls: [] }),
    usage: Object.freeze(said.usage),
  };
  const found = await dispatchPoint(run, "POST_LLM_CALL", values, { ...place, rails }, textOnly);
  spoken.add(found.verdict, found.outcome.passed);
  rails = applyOperations(rails, found.outcome.operations);
  const { action, replacement } = found.outcome;
  if (action === "skip") return { ...said, rails, text: textOf(replacement) };
  if (found.failure) return { ...said, rails, text: null, fatal: found.failure };
  if (action !== "continue") return { ...said, rails, text: null, isStopped: true };
  const { text } = found.inputs.read("response") as ModelResponse; // checked by `textOnly`
  return { ...said, rails, text };
}

/** What was left out for want of a summary is gone from every later request, so providers get their retries (X8). */
async function ask(
  run: RunContext,
  { system, messages, maxTokens }: QuietRequest,
  effect: Effect,
): Promise<Omit<QuietAnswer, "rails"> & { readonly failure?: Failure }> {
  const { models } = run.agent;
  const prompt: Rendered[] = [{ role: "system", content: system }];
  renderInto(prompt, messages, 0, messages.length);
  const options = { prompt, maxOutputTokens: maxTokens, abortSignal: effect.signal };
  let spent: Usage | undefined;
  for (let next = { choice: 0, tries: 0 }; ; ) {
    const choice = models[next.choice];
    if (choice === undefined) throw new Error("there is no model to ask");
    const model = typeof choice === "string" ? choice : `${choice.provider}:${choice.modelId}`;
    const { text, usage, failure } = await askOnce(run, choice, model, options, effect);
    if (usage !== undefined) spent = spent === undefined ? usage : addUsage(spent, usage);
    const answer = { text, model, ...(spent === undefined ? {} : { usage: spent }) };
    const again = failure && afterFailure(failure, next, models.length, run.parts);
    if (again === undefined) return failure === undefined ? answer : { ...answer, failure };
    const { cancelled } = await sleep(run, again.in_ms, effect);
    if (cancelled !== undefined) return answer;
    next = again;
  }
}

async function askOnce(
  run: RunContext,
  choice: string | LanguageModel,
  name: string,
  options: LanguageModelV4CallOptions,
  effect: Effect,
): Promise<{ text: string | null; usage?: Usage; failure?: Failure }> {
  const loaded = run.parts.models.get(choice);
  const ready = "then" in loaded ? await loaded : { model: loaded };
  if ("failure" in ready) return { text: null, failure: ready.failure };
  const assembly = new Assembly(SILENT, run.agent.transformers); // a summary is stored and sent, as an answer is (H8)
  const ended = await readStream(ready.model, options, assembly, run.parts, effect);
  if (ended.kind === "cancelled") return { text: null };
  const usage = usageOf(assembly.usage, run.parts.facts.of(name));
  const failure =
    ended.kind === "failed" ? failureOf(ended.error, name, assembly, true) : endFailure(assembly, name, true);
  if (failure === undefined) return { text: assembly.text, usage };
  return { text: null, failure, ...(assembly.usage === undefined ? {} : { usage }) };
}

function textOnly(_field: string, value: unknown): string | undefined {
  const isText =
    typeof value === "object" && value !== null && "text" in value && typeof value.text === "string";
  return isText ? undefined : "{ text, toolCalls: [] } is expected";
}

function textOf(replacement: Json | undefined): string | null {
  if (replacement === undefined || replacement === null) return null;
  return typeof replacement === "string" ? replacement : JSON.stringify(replacement);
}
