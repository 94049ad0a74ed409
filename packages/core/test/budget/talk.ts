import * as fc from "fast-check";
import {
  Agent,
  type Conversation,
  cont,
  defineRail,
  defineTool,
  type Engine,
  estimateText,
  type Message,
  preHook,
  type RunResult,
} from "trackside";
import { type ScriptedRequest, scriptedModel } from "trackside/testing";
import * as z from "zod";
import { type Event, play } from "../guards/stage.ts";

/** One turn: how long the question is, what its steps fetch, and how long the answer is. In tokens, more or less. */
export interface TurnScript {
  readonly question: number;
  readonly steps: readonly (readonly number[])[];
  readonly answer: number;
}

export interface TalkScript {
  readonly turns: readonly TurnScript[];
  readonly window: number;
  readonly percent: number;
  readonly instructions: number;
  /** What a pre-hook adds to each turn. */
  readonly tail: number;
  /** How the summariser does. */
  readonly summary: "short" | "long" | "empty" | "fails";
  /** What the provider counts for a token of ours; null when it does not say. */
  readonly factor: number | null;
}

const sizes = fc.oneof({ arbitrary: fc.nat(120), weight: 4 }, { arbitrary: fc.nat(900), weight: 1 });

export const talks = (factor: fc.Arbitrary<number | null>): fc.Arbitrary<TalkScript> =>
  fc.record({
    turns: fc.array(
      fc.record({
        question: sizes,
        steps: fc.array(fc.array(sizes, { minLength: 1, maxLength: 3 }), { maxLength: 4 }),
        answer: sizes,
      }),
      { minLength: 1, maxLength: 5 },
    ),
    window: fc.integer({ min: 600, max: 6_000 }),
    percent: fc.integer({ min: 20, max: 100 }),
    instructions: fc.nat(60),
    tail: fc.nat(30),
    summary: fc.constantFrom("short", "long", "empty", "fails"),
    factor,
  });

/** So many tokens, more or less. */
export function words(tokens: number, of = "word"): string {
  return `${of} `.repeat(Math.max(1, Math.round(tokens / estimateText(`${of} `)))).trimEnd();
}

export const TAIL = "~tail~";
const SUMMARISER = "You summarise a conversation";

export function isSummary({ prompt: [first] }: ScriptedRequest): boolean {
  return first?.role === "system" && first.content.startsWith(SUMMARISER);
}

/** What a request comes to, counted from what was sent: every text in it, and its tools. */
export function countOf({ prompt, tools }: ScriptedRequest): number {
  let tokens = 0;
  const gather = (value: unknown, key = ""): void => {
    if (typeof value === "string") tokens += key === "type" ? 0 : estimateText(value);
    else if (typeof value === "object" && value !== null)
      for (const [name, one] of Object.entries(value)) gather(one, name);
  };
  for (const { content } of prompt) gather(content);
  for (const tool of tools) tokens += estimateText(JSON.stringify(tool));
  return tokens;
}

/** One thing after the other: what was about to be sent, and where room was made. */
export type Moment =
  | { readonly kind: "request"; readonly messages: readonly Message[]; readonly turn: number }
  | { readonly kind: "room" };

export interface Talk {
  readonly moments: readonly Moment[];
  /** What the model was sent as an agent, and as a summariser. */
  readonly requests: readonly ScriptedRequest[];
  readonly summaries: readonly ScriptedRequest[];
  readonly results: readonly RunResult<unknown>[];
  readonly events: readonly Event[];
  readonly limit: number;
}

/** Plays a whole conversation under `limit:n`. */
export async function talk(script: TalkScript, engine: Engine, more: object = {}): Promise<Talk> {
  const moments: Moment[] = [];
  let turn = 0;
  let step = 0;
  let summaries = 0;
  const fetchPage = defineTool({
    name: "fetch",
    description: "Gets a page.",
    input: z.object({ tokens: z.number() }),
    effect: "none",
    execute: ({ tokens }) => words(tokens, "page"),
  });
  const model = scriptedModel(
    [
      (request) => {
        const input = script.factor === null ? 0 : Math.max(1, Math.round(countOf(request) * script.factor));
        const usage = { input, output: script.factor === null ? 0 : 20 };
        if (isSummary(request)) {
          summaries += 1;
          if (script.summary === "fails") return { error: new Error("no summary today") };
          const text = { short: `summary ${summaries}`, long: words(5_000, "gist"), empty: "" }[
            script.summary
          ];
          return { text, usage };
        }
        const calls = script.turns[turn]?.steps[step++];
        if (calls !== undefined)
          return {
            text: "Let me see.",
            calls: calls.map((tokens) => ({ tool: "fetch", args: { tokens } })),
            usage,
          };
        return { text: words(script.turns[turn]?.answer ?? 1, "answer"), usage };
      },
    ],
    { loop: true, chunk: "whole" },
  );
  const watch = defineRail({ name: "watch", on: ["PRE_LLM_CALL", "CONTEXT_WINDOW"] }, (ctx) => {
    if (ctx.event === "CONTEXT_WINDOW") moments.push({ kind: "room" });
    else if (!JSON.stringify(ctx.inputs.messages).includes("<conversation>"))
      moments.push({ kind: "request", messages: ctx.inputs.messages, turn });
  });
  const agent = new Agent({
    name: "a",
    model,
    instructions: words(script.instructions, "rule"),
    tools: [fetchPage],
    rails: [watch],
    hooks: { pre: [preHook({ name: "tail" }, (one) => cont(one.append(words(script.tail, TAIL))))] },
    contextWindowTokens: script.window,
    injectionReserveTokens: 100,
    budgetAwareness: `limit:${script.percent}`,
    ...more,
  });

  const results: RunResult<unknown>[] = [];
  const events: Event[] = [];
  let conversation: Conversation | undefined;
  for (const { question } of script.turns) {
    step = 0;
    const options = { engine, ...(conversation === undefined ? {} : { conversation }) };
    const played = await play(agent, options, words(question, `q${turn}`));
    results.push(played.result);
    events.push(...played.events);
    conversation = played.result.conversation;
    turn += 1;
  }
  return {
    moments,
    requests: model.requests.filter((request) => !isSummary(request)),
    summaries: model.requests.filter(isSummary),
    results,
    events,
    limit: Math.floor((script.window * script.percent) / 100),
  };
}
