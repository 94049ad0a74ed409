import { checkReplacement, replace } from "../../context/compaction/check-replacement.ts";
import { type Compacted, compact as makeSmaller } from "../../context/compaction/compact.ts";
import type { SummaryRequest } from "../../context/compaction/summarise.ts";
import type { CompactionInput } from "../../context/compaction/view.ts";
import { Lazy } from "../../hooks/inputs.ts";
import { applyOperations } from "../../rails/rail-state.ts";
import type { Failure } from "../../schema/failure.ts";
import { deepFreeze } from "../../schema/json.ts";
import type { Message } from "../../schema/message.ts";
import type { Usage } from "../../schema/usage.ts";
import { addUsage } from "../../turn/state.ts";
import type { CompactInput, CompactOut, ContextChange, SentSummary } from "../../turn/world.ts";
import type { Effect } from "../effect.ts";
import { dispatchPoint, type Place } from "../point.ts";
import { besideLog, counterOf, factsOf, type Measured, openingMessage, roomOf } from "../request-size.ts";
import type { RunContext } from "../run-context.ts";
import { changedMessages } from "./changed.ts";
import { type QuietAnswer, type QuietRequest, quietCall } from "./quiet-model.ts";
import { keepSent } from "./sent-pieces.ts";
import { Spoken } from "./spoken.ts";

/** Makes room: CONTEXT_WINDOW rails first, then the reducers, whose summaries are model calls under the LLM rails (B4). */
export async function compact(run: RunContext, input: CompactInput, effect: Effect): Promise<CompactOut> {
  run.enter(input.agent);
  await counterOf(run).ready();
  const room = roomOf(run, input);
  if (room === undefined) return {};
  return new MakingRoom(run, input, effect, room).make();
}

/** So that it is not done again at the very next step. */
const AIM = 0.8;
/** A summariser without a known window gets as much as any model takes. */
const ANY_WINDOW = 16_000;

class MakingRoom {
  readonly #run: RunContext;
  readonly #input: CompactInput;
  readonly #effect: Effect;
  readonly #room: Measured;
  readonly #spoken = new Spoken();
  #summaries = 0;
  /** What rails have written so far in this effect. */
  #rails: Place["rails"] | undefined;
  /** A plain hook failed at a summary. */
  #fatal: Failure | undefined;
  #usage: Usage | undefined;
  #model = "";
  readonly #sent: SentSummary[] = [];

  constructor(run: RunContext, input: CompactInput, effect: Effect, room: Measured) {
    this.#run = run;
    this.#input = input;
    this.#effect = effect;
    this.#room = room;
  }

  async make(): Promise<CompactOut> {
    const guarded = await this.#guard();
    if (guarded !== undefined) return guarded;
    const planning = makeSmaller(this.#plan(), this.#run.parts.reducers);
    let step = planning.next();
    while (!step.done) {
      const text = await this.#summary(step.value);
      if (this.#effect.cancelled !== undefined) return this.#out({ cancelled: this.#effect.cancelled });
      if (this.#fatal !== undefined) return this.#out({ fatal: this.#fatal });
      if (text === undefined) return this.#out({}); // a rail has the last word, and the loop reads it
      step = planning.next(text);
    }
    return this.#settle(step.value);
  }

  /** CONTEXT_WINDOW: no compaction at all, or one of their own (R4, R7). */
  async #guard(): Promise<CompactOut | undefined> {
    const run = this.#run;
    if (!run.listens("CONTEXT_WINDOW")) return undefined;
    const { estimate, limit } = this.#room;
    const values = {
      messages: new Lazy(() => deepFreeze(run.log.shown(this.#input.up_to))),
      estimate,
      limit,
    };
    // What they want instead is held to the same rules as what we would do (B4).
    const check = (field: string, value: unknown) =>
      changedMessages(field, value) ?? checkReplacement(value as readonly Message[], this.#plan());
    const place = this.#place(this.#effect.key);
    const { outcome, inputs, verdict, failure } = await dispatchPoint(
      run,
      "CONTEXT_WINDOW",
      values,
      place,
      check,
    );
    this.#spoken.add(verdict, outcome.passed);
    this.#rails = applyOperations(this.#input.rails, outcome.operations);
    if (this.#effect.cancelled !== undefined) return this.#out({ cancelled: this.#effect.cancelled });
    if (failure) return this.#out({ fatal: failure });
    if (outcome.action === "skip") {
      const detail = `${outcome.rail} has nothing be compacted${outcome.reason && `: ${outcome.reason}`}`;
      return this.#out({ done: [{ action: "skipped", ...unchanged(estimate), detail }] });
    }
    if (outcome.action !== "continue") return this.#out({});
    if (!inputs.everChanged) return undefined;
    return this.#replaced(inputs.read("messages") as readonly Message[]); // checked above
  }

  #replaced(messages: readonly Message[]): CompactOut {
    const found = replace(messages, this.#plan());
    if ("problem" in found) throw new Error(`a replacement was let through: ${found.problem}`);
    const { projection, change } = found;
    if (projection === null) return this.#out({});
    this.#run.record(projection);
    return this.#out({ message_id: projection.id, done: [change] });
  }

  #plan(): CompactionInput {
    const { up_to, turn_at, tail_at, why } = this.#input;
    const run = this.#run;
    const counter = counterOf(run);
    // What providers make of our count, for each part of it.
    const ratio = this.#room.estimate / Math.max(1, this.#room.size);
    const { limit: target } = this.#room;
    const opening = why === "opening" ? null : { from: turn_at, to: tail_at };
    const user = why === "opening" ? counter.size(openingMessage(run)) : 0;
    const known = run.log.sizes(counter.size);
    return {
      id: this.#id,
      entries: run.log.messages,
      upTo: up_to,
      projection: run.log.projection(up_to),
      opening,
      count: (message) => (known.get(message) ?? counter.message(message)) * ratio,
      fixed: (besideLog(run, this.#input, counter) + user) * ratio,
      target,
      anyway: why === "overflow", // as it is the provider does not take it
      aim: Math.floor(target * AIM),
      window: factsOf(run)?.window ?? ANY_WINDOW,
    };
  }

  get #id(): string {
    const { step, why, attempt } = this.#input;
    return `${this.#run.id}.projection.${step}.${why}.${attempt}`;
  }

  async #summary({ prompt, messages, maxTokens }: SummaryRequest): Promise<string | null | undefined> {
    this.#summaries += 1; // each is a call of its own to rails that count
    const place = this.#place(`${this.#effect.key}/summary/${this.#summaries}`);
    const request = { system: prompt, messages, maxTokens };
    const answer = await quietCall(this.#run, request, place, this.#spoken);
    if (this.#run.isKept) this.#keep(request, answer);
    const { text, model, usage, isStopped, fatal, rails } = answer;
    this.#model = model;
    this.#fatal = fatal;
    this.#rails = rails;
    if (usage !== undefined) this.#usage = this.#usage === undefined ? usage : addUsage(this.#usage, usage);
    return isStopped ? undefined : text;
  }

  /** What was sent is part of the run's record (R4): as transient as a draft is (H4). */
  #keep({ system, maxTokens }: QuietRequest, { sent, model, usage }: QuietAnswer): void {
    if (sent === undefined) return;
    const prompt: Message = { id: "", role: "user", parts: [{ type: "text", text: system }] };
    const messages = keepSent(this.#run, `${this.#id}.${this.#summaries}`, [prompt, ...sent]);
    this.#sent.push({ model, messages, max_tokens: maxTokens, ...(usage === undefined ? {} : { usage }) });
  }

  #settle({ projection, changes, fits, problem, tokensBefore, tokensAfter }: Compacted): CompactOut {
    const done: ContextChange[] = [...changes];
    if (!fits && problem !== null) {
      const sizes = { tokens_before: tokensBefore, tokens_after: tokensAfter };
      done.push({ action: "skipped", ...sizes, detail: `there is no more room to be made: ${problem}` });
    }
    if (projection === null) return this.#out({ done });
    this.#run.record(projection);
    return this.#out({ message_id: projection.id, done });
  }

  #out(out: CompactOut): CompactOut {
    if (this.#usage !== undefined) {
      out.usage = this.#usage;
      out.model = this.#model;
    }
    if (this.#sent.length > 0) out.summaries = this.#sent;
    return this.#spoken.into(out);
  }

  #place(key: string): Place {
    const { attempt, rails } = this.#input;
    return { effect: this.#effect, key, attempt, rails: this.#rails ?? rails };
  }
}

function unchanged(tokens: number): { tokens_before: number; tokens_after: number } {
  return { tokens_before: tokens, tokens_after: tokens };
}
