import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { type Rendered, renderInto } from "../../context/render.ts";
import type { ModelResponse } from "../../hooks/context.ts";
import { Lazy } from "../../hooks/inputs.ts";
import type { Failure } from "../../schema/failure.ts";
import { deepFreeze, type Json } from "../../schema/json.ts";
import type { Message } from "../../schema/message.ts";
import type { Usage } from "../../schema/usage.ts";
import { dispatchPoint, type Place } from "../point.ts";
import type { RunContext } from "../run-context.ts";
import { Assembly, SILENT, usageOf } from "./assembly.ts";
import { changedMessages } from "./changed.ts";
import { failureOf, stopFailure } from "./model-failure.ts";
import { readStream } from "./read-stream.ts";
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
}

/** A model call of our own, a summary: it passes the LLM rails like any other (R14), and nothing of it is shown. */
export async function quietCall(
  run: RunContext,
  request: QuietRequest,
  place: Place,
  spoken: Spoken,
): Promise<QuietAnswer> {
  const choice = run.agent.models[0];
  if (choice === undefined) throw new Error("there is no model to ask");
  const name = typeof choice === "string" ? choice : `${choice.provider}:${choice.modelId}`;
  const nothing = { text: null, model: name };
  const { effect } = place;
  let { messages } = request;

  if (run.listens("PRE_LLM_CALL")) {
    const values = { messages: new Lazy(() => deepFreeze([...messages])), tools: [] };
    const found = await dispatchPoint(run, "PRE_LLM_CALL", values, place, changedMessages);
    spoken.add(found.verdict, found.outcome.passed);
    const { action, replacement } = found.outcome;
    if (action === "skip") return { text: textOf(replacement), model: name };
    if (found.failure) return { ...nothing, fatal: found.failure };
    if (action !== "continue") return { ...nothing, isStopped: true };
    if (found.inputs.everChanged) messages = found.inputs.read("messages") as readonly Message[]; // checked above
  }

  const loaded = run.parts.models.get(choice);
  const ready = "then" in loaded ? await loaded : { model: loaded };
  if ("failure" in ready) return nothing;
  const prompt: Rendered[] = [{ role: "system", content: request.system }];
  renderInto(prompt, messages, 0, messages.length);
  const options: LanguageModelV4CallOptions = {
    prompt,
    maxOutputTokens: request.maxTokens,
    abortSignal: effect.signal,
  };
  const assembly = new Assembly(SILENT);
  const ended = await readStream(ready.model, options, assembly, run.parts, effect);
  if (ended.kind === "cancelled") return nothing;
  const usage = usageOf(assembly.usage, run.parts.facts.of(name));
  const failure =
    ended.kind === "failed" ? failureOf(ended.error, name, assembly) : stopFailure(assembly, name);
  if (failure) return { ...nothing, usage };
  if (!run.listens("POST_LLM_CALL")) return { text: assembly.text, model: name, usage };

  const values = {
    messages: new Lazy(() => deepFreeze([...messages])),
    tools: [],
    response: deepFreeze({ text: assembly.text, toolCalls: [] }),
    usage: Object.freeze(usage),
  };
  const found = await dispatchPoint(run, "POST_LLM_CALL", values, place, textOnly);
  spoken.add(found.verdict, found.outcome.passed);
  const { action, replacement } = found.outcome;
  if (action === "skip") return { text: textOf(replacement), model: name, usage };
  if (found.failure) return { ...nothing, usage, fatal: found.failure };
  if (action !== "continue") return { ...nothing, usage, isStopped: true };
  const { text } = found.inputs.read("response") as ModelResponse; // checked by `textOnly`
  return { text, model: name, usage };
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
