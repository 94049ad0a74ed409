import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { type Rendered, renderMessage } from "../../context/render.ts";
import type { Failure } from "../../schema/failure.ts";
import type { AssistantMessage, Message } from "../../schema/message.ts";
import { messageText } from "../../turn/expand.ts";
import type { ModelInput, ModelOut } from "../../turn/world.ts";
import type { Effect } from "../effect.ts";
import { readAnswer } from "../read-answer.ts";
import type { RunContext } from "../run-context.ts";
import { Assembly, usageOf } from "./assembly.ts";
import { LiveDeltas } from "./live-deltas.ts";
import { afterFailure, failureOf, stopFailure } from "./model-failure.ts";
import { partialMessage, wholeMessage } from "./model-message.ts";
import { readStream } from "./read-stream.ts";

/** Makes one attempt at a model call: request, PRE_LLM_CALL, stream, POST_LLM_CALL, record. */
export async function callModel(run: RunContext, input: ModelInput, effect: Effect): Promise<ModelOut> {
  const choice = run.agent.models[input.choice];
  if (choice === undefined) throw new Error(`there is no model ${input.choice}`);
  const loaded = run.parts.models.get(choice);
  const ready = "then" in loaded ? await loaded : { model: loaded };
  if ("failure" in ready) return { failure: ready.failure };
  const { model } = ready;
  const name = typeof choice === "string" ? choice : `${model.provider}:${model.modelId}`;

  if (run.listens("PRE_LLM_CALL")) {
    const fatal = await run.dispatch("PRE_LLM_CALL", new Request(run, input), input.attempt, effect);
    if (fatal) return { failure: fatal };
  }
  if (effect.cancelled !== undefined) return { cancelled: effect.cancelled };

  const messageId = `${run.id}.main.${input.step}.m${input.attempt}`;
  const assembly = new Assembly(new LiveDeltas(run, input, messageId));
  const ended = await readStream(model, callOptions(run, input, effect), assembly, run.parts, effect);

  if (ended.kind === "cancelled")
    return { ...kept(run, assembly, messageId), cancelled: ended.reason, model: name };
  const failure =
    ended.kind === "failed" ? failureOf(ended.error, name, assembly) : stopFailure(assembly, name);
  if (failure) return failed(run, input, assembly, messageId, name, failure, effect);

  const { message, calls } = await wholeMessage(run, input, messageId, assembly);
  const usage = usageOf(assembly.usage);
  if (run.listens("POST_LLM_CALL")) {
    const inputs = new Response(run, input, message, usage);
    const fatal = await run.dispatch("POST_LLM_CALL", inputs, input.attempt, effect);
    if (fatal) return { ...kept(run, assembly, messageId), failure: fatal, usage, model: name };
  }
  run.record(message);
  const invalid = calls.length === 0 && run.agent.output ? await answerProblem(run, message) : undefined;
  return {
    message_id: messageId,
    model: name,
    has_text: assembly.textLength > 0,
    has_reasoning: assembly.reasoningLength > 0,
    calls,
    usage,
    ...(invalid === undefined ? {} : { invalid }),
  };
}

async function failed(
  run: RunContext,
  input: ModelInput,
  assembly: Assembly,
  messageId: string,
  name: string,
  failure: Failure,
  effect: Effect,
): Promise<ModelOut> {
  const again = afterFailure(failure, input, run.agent.models.length, run.parts);
  const out = { ...kept(run, assembly, messageId), failure, model: name };
  if (again) return { ...out, again };
  if (run.listens("MODEL_ERROR")) {
    const fatal = await run.dispatch("MODEL_ERROR", new Failed(run, input, failure), input.attempt, effect);
    if (fatal) return { ...out, failure: fatal };
  }
  return out;
}

/** What had been shown stays (X5): recorded as a partial message, without calls. */
function kept(run: RunContext, assembly: Assembly, messageId: string): ModelOut {
  if (assembly.textLength === 0) return {};
  run.record(partialMessage(messageId, assembly));
  return {
    message_id: messageId,
    partial: true,
    has_text: true,
    has_reasoning: assembly.reasoningLength > 0,
  };
}

async function answerProblem(run: RunContext, message: AssistantMessage): Promise<string | undefined> {
  const found = await readAnswer(messageText(message), run.agent.output);
  return found.ok ? undefined : found.problem;
}

function callOptions(run: RunContext, input: ModelInput, effect: Effect): LanguageModelV4CallOptions {
  const { definition, wireTools, output, system } = run.agent;
  const options: LanguageModelV4CallOptions = {
    prompt: promptOf(run, input, system),
    // Made when the provider reads it: a signal costs more than the rest of a step.
    get abortSignal() {
      return effect.signal;
    },
  };
  if (wireTools !== undefined) options.tools = wireTools;
  if (definition.max_tokens !== null) options.maxOutputTokens = definition.max_tokens;
  if (definition.temperature !== null) options.temperature = definition.temperature;
  if (output !== null)
    options.responseFormat = { type: "json", schema: output.jsonSchema as object, name: "output" };
  return options;
}

/** The request: system prompt, the log, and after a rejected answer the draft with what was wrong about it. */
function promptOf(run: RunContext, input: ModelInput, system: Rendered | null): LanguageModelV4Prompt {
  const history = run.log.render(input.up_to);
  const prompt = system === null ? history.slice() : [system, ...history];
  if (input.redo !== null) {
    const draft = run.message(input.redo.message_id);
    const rendered = draft?.role === "assistant" ? renderMessage(draft) : null;
    if (rendered) prompt.push(rendered);
    prompt.push({ role: "user", content: [{ type: "text", text: input.redo.feedback }] });
  }
  return prompt;
}

/** What hooks see of a request. The messages are gathered when first read. */
class Request {
  readonly #run: RunContext;
  readonly #upTo: number;
  #messages: readonly Message[] | undefined;

  constructor(run: RunContext, input: ModelInput) {
    this.#run = run;
    this.#upTo = input.up_to;
  }

  get messages(): readonly Message[] {
    this.#messages ??= Object.freeze(this.#run.log.messages.slice(0, this.#upTo));
    return this.#messages;
  }

  get tools() {
    return this.#run.agent.tools;
  }
}

class Response extends Request {
  readonly response: AssistantMessage;
  readonly usage;

  constructor(
    run: RunContext,
    input: ModelInput,
    response: AssistantMessage,
    usage: ReturnType<typeof usageOf>,
  ) {
    super(run, input);
    this.response = response;
    this.usage = usage;
    Object.freeze(this);
  }
}

class Failed extends Request {
  readonly error: Failure;

  constructor(run: RunContext, input: ModelInput, error: Failure) {
    super(run, input);
    this.error = error;
    Object.freeze(this);
  }
}
