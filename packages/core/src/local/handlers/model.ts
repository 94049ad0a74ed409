import type { LanguageModelV4CallOptions, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { budgetMessage } from "../../context/budget.ts";
import type { ModelResponse } from "../../hooks/context.ts";
import { Lazy } from "../../hooks/inputs.ts";
import { parsePlan } from "../../planning/parse-plan.ts";
import { planForExecutor } from "../../planning/prompt.ts";
import { applyOperations } from "../../rails/rail-state.ts";
import type { Failure } from "../../schema/failure.ts";
import { deepFreeze, type Json } from "../../schema/json.ts";
import type { AssistantMessage, Message } from "../../schema/message.ts";
import type { Usage } from "../../schema/usage.ts";
import { messageText } from "../../turn/expand.ts";
import type { ModelInput, ModelOut, Room } from "../../turn/world.ts";
import { withAdvisory } from "../advisory.ts";
import { withAttachments } from "../attachments.ts";
import type { BoundAgent } from "../bound-agent.ts";
import type { Effect } from "../effect.ts";
import { after, type Maybe } from "../maybe.ts";
import { dispatchPoint, type Place, type PointResult } from "../point.ts";
import { breakpointFor, setBreakpoints } from "../prompt-cache/breakpoints.ts";
import { changedRequest } from "../prompt-cache/changed-request.ts";
import { type Following, follow } from "../prompt-cache/follow.ts";
import { type Changed, type Heading, Sent } from "../prompt-cache/sent.ts";
import type { Model } from "../providers/adapt.ts";
import { readAnswer } from "../read-answer.ts";
import { counterOf, estimated, limitOf, requestSize, sizeOfMessages } from "../request-size.ts";
import type { RunContext } from "../run-context.ts";
import { Assembly, SILENT, usageOf } from "./assembly.ts";
import { CallOptions } from "./call-options.ts";
import { changedMessages, changedResponse, responseOf, withResponse } from "./changed.ts";
import { LiveDeltas } from "./live-deltas.ts";
import { afterFailure, endFailure, failureOf } from "./model-failure.ts";
import { callsOf, laneOf, partialMessage, wholeMessage } from "./model-message.ts";
import { readStream } from "./read-stream.ts";
import { type Pieces, piecesOf, promptOf, requestMessages, settle } from "./request.ts";
import { keepChanges } from "./sent-pieces.ts";
import { Spoken } from "./spoken.ts";

/** Makes one attempt at a model call: request, PRE_LLM_CALL, stream, POST_LLM_CALL, record. */
export function callModel(run: RunContext, input: ModelInput, effect: Effect): Promise<ModelOut> {
  run.enter(input.agent);
  return Promise.resolve(new ModelCall(run, input, effect).make());
}

const NO_TOOLS: readonly never[] = Object.freeze([]);

class ModelCall {
  readonly #run: RunContext;
  readonly #input: ModelInput;
  readonly #effect: Effect;
  /** What rails have written so far in this effect. */
  #rails: Place["rails"] | undefined;
  readonly #messageId: string;
  /** Only where somebody reads them. */
  readonly #deltas: LiveDeltas | undefined;
  readonly #assembly: Assembly;
  readonly #spoken = new Spoken();
  #name = "";
  /** How large the request is by our own count; where nobody asks, nobody counts. */
  #estimated: number | undefined;
  /** What was sent, and how it goes on from the request before. */
  #following: Following | undefined;
  /** What was sent in place of what was asked for, if it was changed on its way. */
  #sent: ModelOut["sent"];
  #isSent = false;

  constructor(run: RunContext, input: ModelInput, effect: Effect) {
    this.#run = run;
    this.#input = input;
    this.#effect = effect;
    // The short end first: joined to a run's long id one by one, each piece would be kept with the whole.
    const end = `.${laneOf(input)}.${input.step}.m${input.attempt}`;
    this.#messageId = `${run.id}${end}`;
    this.#deltas = run.observed ? new LiveDeltas(run, input, this.#messageId) : undefined;
    this.#assembly = new Assembly(this.#deltas ?? SILENT, run.agent.transformers);
  }

  make(): Maybe<ModelOut> {
    const choice = this.#models[this.#input.choice];
    if (choice === undefined) throw new Error(`there is no model ${this.#input.choice}`);
    const loaded = this.#run.parts.models.get(choice);
    if (!("then" in loaded)) return this.#begin(loaded, typeof choice === "string" ? choice : undefined);
    return loaded.then((ready) =>
      "failure" in ready ? this.#failed(ready.failure) : this.#begin(ready.model, String(choice)),
    );
  }

  /** The model and its fallbacks; the planner may have one of its own (P3). */
  get #models(): BoundAgent["models"] {
    return this.#input.planner ? this.#run.agent.planningModels : this.#run.agent.models;
  }

  #begin(model: Model, name = `${model.provider}:${model.modelId}`): Maybe<ModelOut> {
    this.#name = name;
    if (this.#run.agent.definition.budget_awareness === null) return this.#guarded(model);
    const ready = counterOf(this.#run, this.#input.planner !== undefined).ready();
    return ready === undefined ? this.#weighed(model) : after(ready, () => this.#weighed(model));
  }

  /** The whole request is estimated before anybody else sees it (B3). */
  #weighed(model: Model): Maybe<ModelOut> {
    const planning = this.#input.planner !== undefined;
    this.#estimated = requestSize(this.#run, this.#input);
    const limit = limitOf(this.#run, planning);
    const estimate = estimated(this.#estimated, this.#input.anchor);
    if (limit === undefined || estimate <= limit) return this.#guarded(model);
    if (this.#effect.cancelled !== undefined) return this.#out({ cancelled: this.#effect.cancelled });
    if (planning) return this.#out({ failure: budgetFailure(estimate, limit) });
    return this.#input.compacted ? this.#stopped(estimate, limit) : this.#out({ over: { estimate, limit } });
  }

  /** There is no more room to be made: the run ends with this in place of an answer. */
  #stopped(estimate: number, limit: number): ModelOut {
    this.#run.record(standIn(this.#messageId, budgetMessage(estimate, limit)));
    return this.#out({ message_id: this.#messageId, has_text: true, stopped: true });
  }

  #guarded(model: Model): Maybe<ModelOut> {
    if (!this.#run.listens("PRE_LLM_CALL")) return this.#call(model, piecesOf(this.#run, this.#input));
    const { tools } = this.#run.agent;
    const values = { messages: this.#messages(), tools };
    const found = dispatchPoint(this.#run, "PRE_LLM_CALL", values, this.#place(), changedMessages);
    return after(found, (before) => this.#before(before, model));
  }

  #call(model: Model, pieces: Pieces, changed?: Changed): Maybe<ModelOut> {
    const prompt = promptOf(pieces, changed);
    if (!changed && !this.#run.log.hasAttachments) return this.#send(model, prompt, pieces, changed);
    return after(withAttachments(this.#run, prompt), (filled) => this.#send(model, filled, pieces, changed));
  }

  #send(
    model: Model,
    prompt: LanguageModelV4Prompt,
    pieces: Pieces,
    changed: Changed | undefined,
  ): Promise<ModelOut> {
    const isPlanning = this.#input.planner !== undefined;
    const { agent } = this.#run;
    const options = settle(new CallOptions(prompt, this.#effect), agent, model.provider, isPlanning);
    this.#follow(model, options, new Sent(this.#heading(model, options.tools), pieces, changed));
    this.#isSent = this.#effect.cancelled === undefined;
    const reading = readStream(model, options, this.#assembly, this.#run.parts, this.#effect);
    return reading.then((ended): Maybe<ModelOut> => {
      if (ended.kind === "cancelled") return this.#out({ ...this.#kept(), cancelled: ended.reason });
      const failure =
        ended.kind === "failed"
          ? this.#failure(ended.error)
          : endFailure(this.#assembly, this.#name, this.#run.agent.held);
      return failure ? this.#failed(failure) : this.#said();
    });
  }

  /** Notes what is sent for the next request to be compared with, and tells the provider what to keep. */
  #follow(model: Model, { prompt }: LanguageModelV4CallOptions, sent: Sent): void {
    const { log } = this.#run;
    this.#following = follow(log, laneOf(this.#input), sent);
    const mark = breakpointFor(model);
    if (mark === undefined) return;
    const { tail_at, up_to } = this.#input;
    const turnAt = sent.changed?.turnAt ?? log.renderedLength(tail_at, up_to);
    setBreakpoints(prompt, mark, this.#following, turnAt);
  }

  #heading(by: Model, tools: Heading["tools"] = NO_TOOLS): Heading {
    const { definition, output } = this.#run.agent;
    const format = this.#input.planner === undefined ? output?.jsonSchema : undefined;
    return { runId: this.#run.id, agent: definition.name, by, model: this.#name, tools, format };
  }

  #failure(error: unknown): Failure {
    return failureOf(error, this.#name, this.#assembly, this.#run.agent.held);
  }

  /** PRE_LLM_CALL: it may end the attempt, or change this request and no other. */
  #before({ outcome, inputs, verdict, failure }: PointResult, model: Model): Maybe<ModelOut> {
    const run = this.#run;
    this.#spoken.add(verdict, outcome.passed);
    this.#rails = applyOperations(this.#input.rails, outcome.operations); // POST rails read what PRE rails wrote
    if (failure) return this.#out({ failure });
    if (outcome.action === "skip") return this.#replaced(outcome.replacement);
    if (outcome.action !== "continue") return this.#out({});
    if (this.#effect.cancelled !== undefined) return this.#out({ cancelled: this.#effect.cancelled });
    const pieces = piecesOf(run, this.#input);
    if (!inputs.everChanged) return this.#call(model, pieces);
    const messages = inputs.read("messages") as readonly Message[]; // checked by `changedMessages`
    const over = this.#overAfter(messages);
    if (over === undefined) {
      if (run.isKept)
        this.#sent = keepChanges(run, this.#messageId, requestMessages(run, this.#input), messages);
      return this.#call(model, pieces, changedRequest(run, this.#input, messages, outcome.records));
    }
    const { estimate, limit } = over;
    if (this.#input.planner) return this.#out({ failure: budgetFailure(estimate, limit) });
    return this.#stopped(estimate, limit);
  }

  /** What rails made of a request is weighed again; above the limit there is no second compaction (B3). */
  #overAfter(messages: readonly Message[]): Room | undefined {
    if (this.#estimated === undefined) return undefined;
    const planning = this.#input.planner !== undefined;
    this.#estimated = sizeOfMessages(this.#run, messages, planning); // what the provider's count is held against
    const limit = limitOf(this.#run, planning);
    const estimate = estimated(this.#estimated, this.#input.anchor);
    return limit !== undefined && estimate > limit ? { estimate, limit } : undefined;
  }

  /** The stream is whole: POST_LLM_CALL decides what stands. */
  #said(): Maybe<ModelOut> {
    const run = this.#run;
    const message = wholeMessage(run, this.#input, this.#messageId, this.#assembly);
    const usage = usageOf(this.#assembly.usage, run.parts.facts.of(this.#name));
    if (!run.listens("POST_LLM_CALL")) return this.#recorded(message, usage, false, undefined);
    const values = {
      messages: this.#messages(),
      tools: run.agent.tools,
      response: new Lazy(() => responseOf(message)),
      usage: new Lazy(() => Object.freeze(usage)),
    };
    const check = (field: string, value: unknown) => changedResponse(field, value, responseOf(message));
    const found = dispatchPoint(run, "POST_LLM_CALL", values, this.#place(), check);
    return after(found, (decided) => this.#after(decided, message, usage));
  }

  #after(
    { outcome, inputs, verdict, failure }: PointResult,
    said: AssistantMessage,
    usage: Usage,
  ): Maybe<ModelOut> {
    const run = this.#run;
    this.#spoken.add(verdict, outcome.passed);
    const shown = !run.agent.held && this.#assembly.emitted;
    const why = outcome.reason || `${outcome.rail ?? "a hook"} at POST_LLM_CALL`;
    if (this.#effect.cancelled !== undefined)
      return this.#out({ ...this.#kept(), usage, cancelled: this.#effect.cancelled });
    if (failure) return this.#out({ usage, failure, ...this.#withdrawn(shown, failure.message) });
    if (outcome.action === "retry" || outcome.action === "abort") {
      return this.#out({ usage, ...this.#withdrawn(shown, why) });
    }
    let message = said;
    const skipped = outcome.action === "skip";
    if (skipped)
      message = standIn(this.#messageId, textOf(outcome.replacement)); // nothing of what was withheld
    else if (inputs.everChanged) message = withResponse(said, inputs.read("response") as ModelResponse); // checked by `changedResponse`
    const changed =
      messageText(message) !== this.#assembly.text || (skipped && this.#assembly.reasoningLength > 0);
    const retract = shown && changed ? why : undefined;
    return this.#recorded(message, usage, skipped, retract);
  }

  #recorded(
    message: AssistantMessage,
    usage: Usage | undefined,
    skipped: boolean,
    retract: string | undefined,
  ): Maybe<ModelOut> {
    const run = this.#run;
    run.record(this.#advised(message, usage));
    const text = messageText(message);
    const reasoning = reasoningOf(message);
    this.#deltas?.release(text, reasoning);
    return after(callsOf(run, message, this.#effect), (calls): Maybe<ModelOut> => {
      const out: ModelOut = this.#out({
        message_id: this.#messageId,
        has_text: text !== "",
        has_reasoning: reasoning !== "",
        calls,
      });
      if (usage !== undefined) this.#count(out, usage);
      if (this.#estimated !== undefined) out.estimated = this.#estimated;
      if (skipped) out.skipped = true;
      if (this.#assembly.droppedReasoning) out.reasoning_dropped = true;
      if (retract !== undefined) out.retract = retract;
      if (this.#input.planner)
        return calls.length > 0 || text === "" ? out : { ...out, plan: this.#plan(text) };
      if (calls.length > 0 || run.agent.output === null || skipped) return out;
      return this.#problem(text).then((invalid) => (invalid === undefined ? out : { ...out, invalid }));
    });
  }

  /** With `per-message`, what goes back to the model says how full its window is (B2); nobody else reads that. */
  #advised(message: AssistantMessage, usage: Usage | undefined): AssistantMessage {
    const isPlanning = this.#input.planner !== undefined;
    const estimate = estimated(this.#estimated ?? 0, this.#input.anchor);
    return withAdvisory(this.#run, message, { isPlanning, usage, estimate });
  }

  /** What the planner said, as the executor gets it. */
  #plan(text: string): NonNullable<ModelOut["plan"]> {
    const plan = parsePlan(text);
    const message_id = `${this.#run.id}.plan`;
    this.#run.record({
      id: message_id,
      role: "user",
      parts: [{ type: "text", text: planForExecutor(plan) }],
      by_hook: "planner",
    });
    return { plan, message_id };
  }

  /** A skip before the call, or after it failed: the replacement stands in for the model, or nothing does. */
  #replaced(replacement: Json | undefined, retract?: string): Maybe<ModelOut> {
    const stand = new Assembly(SILENT, this.#run.agent.transformers);
    try {
      stand.accept({ type: "text-delta", id: "", delta: textOf(replacement) });
      stand.close();
    } catch (error) {
      return this.#out({ failure: failureOf(error, this.#name, stand, true) });
    }
    const message = wholeMessage(this.#run, this.#input, this.#messageId, stand);
    if (!this.#run.agent.held && !this.#assembly.emitted && stand.text !== "")
      this.#deltas?.text(stand.text, 0);
    return this.#recorded(message, undefined, true, retract);
  }

  async #failed(failure: Failure): Promise<ModelOut> {
    const run = this.#run;
    if (this.#isOverflow(failure)) return this.#out({ failure, overflow: true }); // room is made, and it is tried once more
    const again = afterFailure(failure, this.#input, this.#models.length, run.parts);
    if (again) return this.#out({ failure, again });
    if (run.listens("MODEL_ERROR")) {
      const values = {
        messages: this.#messages(),
        tools: run.agent.tools,
        error: deepFreeze(failure),
      };
      const {
        outcome,
        verdict,
        failure: fatal,
      } = await dispatchPoint(run, "MODEL_ERROR", values, this.#place());
      this.#spoken.add(verdict, outcome.passed);
      if (this.#effect.cancelled !== undefined) {
        return this.#out({ ...this.#kept(), cancelled: this.#effect.cancelled });
      }
      const shown = !run.agent.held && this.#assembly.emitted ? outcome.reason || failure.message : undefined;
      if (fatal) return this.#out({ ...this.#kept(), failure: fatal });
      if (outcome.action === "skip") return this.#replaced(outcome.replacement, shown);
      if (outcome.action === "retry" && shown !== undefined)
        return this.#out({ failure, ...this.#withdrawn(true, shown) });
    }
    return this.#out({ ...this.#kept(), failure });
  }

  /** The provider found the request too long before anything of an answer was shown (B5). */
  #isOverflow({ details }: Failure): boolean {
    const { compacted, planner } = this.#input;
    const isTried = compacted === "overflow" || planner !== undefined; // a plan is made in one window
    return details?.["reason"] === "context_overflow" && details["emitted"] !== true && !isTried;
  }

  /** What had been shown stays (X5): recorded as a partial message, without calls. What was held back is dropped. */
  #kept(): ModelOut {
    const { textLength, reasoningLength } = this.#assembly;
    if ((textLength === 0 && reasoningLength === 0) || this.#run.agent.held) return {};
    this.#run.record(this.#advised(partialMessage(this.#messageId, this.#assembly), undefined));
    const shown = { has_text: textLength > 0, has_reasoning: reasoningLength > 0 };
    return { message_id: this.#messageId, partial: true, ...shown };
  }

  /** What had been shown is taken back. */
  #withdrawn(shown: boolean, reason: string): ModelOut {
    return shown ? { message_id: this.#messageId, retract: reason } : {};
  }

  async #problem(text: string): Promise<string | undefined> {
    const found = await readAnswer(text, this.#run.agent.output);
    return found.ok ? undefined : found.problem;
  }

  /** The request as messages, for whoever looks. */
  #messages(): Lazy {
    return new Lazy(() => requestMessages(this.#run, this.#input));
  }

  #count(out: ModelOut, usage: Usage): void {
    out.usage = usage;
    if (this.#following) out.prefix = this.#following.prefix(usage.input_tokens);
  }

  #place(): Place {
    const { attempt, rails } = this.#input;
    return { effect: this.#effect, key: this.#effect.key, attempt, rails: this.#rails ?? rails };
  }

  #out(out: ModelOut): ModelOut {
    out.model = this.#name;
    if (this.#sent !== undefined) out.sent = this.#sent;
    if (!this.#isSent && (out.failure !== undefined || out.cancelled !== undefined)) out.unsent = true;
    if (out.usage !== undefined) this.#count(out, out.usage);
    return this.#spoken.into(out);
  }
}

function budgetFailure(estimate: number, limit: number): Failure {
  return { code: "budget_exceeded", message: budgetMessage(estimate, limit) };
}

function standIn(id: string, text: string): AssistantMessage {
  return { id, role: "assistant", parts: text === "" ? [] : [{ type: "text", text }] };
}

function reasoningOf({ parts }: AssistantMessage): string {
  let text = "";
  for (const part of parts) if (part.type === "reasoning") text += part.text;
  return text;
}

function textOf(replacement: Json | undefined): string {
  if (replacement === undefined || replacement === null) return "";
  return typeof replacement === "string" ? replacement : JSON.stringify(replacement);
}
