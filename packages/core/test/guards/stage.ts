import {
  type Agent,
  type DurableEvent,
  type DurableEventOf,
  defineTool,
  type Engine,
  type EngineOptions,
  type LiveEvent,
  localEngine,
  type RunOptions,
  type RunResult,
  type Tool,
  type ToolEffect,
  type ToolMessage,
  TracksideError,
} from "trackside";
import { hostileEngine } from "trackside/testing";
import { expect } from "vitest";
import * as z from "zod";
import { collect } from "../support/collect.ts";

export type Event = DurableEvent | LiveEvent;

/** Engines that every guard has to hold on. */
export const ENGINES: readonly (readonly [string, (options?: EngineOptions) => Engine])[] = [
  ["local", (options) => localEngine(options)],
  ["hostile", (options) => hostileEngine({ ...options, seed: 11 })],
];

/** Any agent, whatever its tools and its output. */
// biome-ignore lint/suspicious/noExplicitAny: the one type that every agent is assignable to
export type AnyAgent = Agent<any, any>;

/** One run, read to its end: its events, and its result or its error. */
export async function play(agent: AnyAgent, options: RunOptions & { engine?: Engine } = {}, input = "Go") {
  const stream = agent.stream(input, options);
  const events = (await collect(stream)) as Event[]; // narrower by the agent's own tools, which are not known here
  const ended = await stream.result.then(
    (result) => ({ result: result as RunResult<unknown>, error: undefined }),
    (error: unknown) => {
      if (!(error instanceof TracksideError)) throw error;
      return { result: resultIn(error), error };
    },
  );
  return { events, stream, ...ended };
}

function resultIn(error: TracksideError): RunResult<unknown> {
  const { result } = error as { result?: RunResult<unknown> }; // the errors of runs carry it
  if (result === undefined) throw error;
  return result;
}

/** The error a run ends with; fails if it does not. */
export async function failure(run: Promise<unknown>): Promise<TracksideError> {
  const error = await run.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(TracksideError);
  return error as TracksideError; // checked above
}

export function eventsOf<T extends DurableEvent["type"]>(
  events: readonly Event[],
  type: T,
): DurableEventOf<T>[] {
  return events.filter((event) => event.type === type) as DurableEventOf<T>[]; // of that very type
}

/** Everything a reader was shown or told, as one text. */
export function seen(events: readonly Event[]): string {
  return JSON.stringify(events);
}

/** The text that live deltas add up to. */
export function shown(events: readonly Event[]): string {
  return events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
}

/** `rail:action@POINT` for everything rails said, in order. */
export function verdicts(events: readonly Event[]): string[] {
  return eventsOf(events, "rail").flatMap(({ records }) =>
    records.map(
      ({ rail, action, point, shadow }) => `${rail}:${action}@${point}${shadow ? " (shadow)" : ""}`,
    ),
  );
}

/** The results in the log, in call order. */
export function results(result: Pick<RunResult<unknown>, "messages">): ToolMessage[] {
  return result.messages.filter((message) => message.role === "tool");
}

/** The results in short: their text or value, or the code of the failure. */
export function outputs(result: Pick<RunResult<unknown>, "messages">): unknown[] {
  return results(result).map(({ output }) => (output.type === "error" ? output.failure.code : output.value));
}

/** Every call the model made has exactly one result, after it, in the log; and one event. */
export function expectPaired(result: Pick<RunResult<unknown>, "messages">, events: readonly Event[]): void {
  const calls = result.messages.flatMap((message) =>
    message.role === "assistant"
      ? message.parts.flatMap((p) => (p.type === "tool_call" ? [p.call_id] : []))
      : [],
  );
  expect(results(result).map(({ call_id }) => call_id)).toEqual(calls);
  const told = eventsOf(events, "tool_result").map(({ call_id }) => call_id);
  expect(told.toSorted()).toEqual(calls.toSorted());
}

/** A tool that notes each time it runs, and with what. */
export function tracked(
  name: string,
  options: { effect?: ToolEffect; fails?: number | true; ms?: number } = {},
) {
  const ran: unknown[] = [];
  const tool: Tool = defineTool({
    name,
    input: z.object({ n: z.number().default(0) }),
    ...(options.effect ? { effect: options.effect } : {}),
    execute: async ({ n }) => {
      ran.push(n);
      if (options.ms !== undefined) await pause(options.ms);
      if (options.fails === true || ran.length <= (options.fails ?? 0)) throw new Error(`${name} broke`);
      return `${name} ran`;
    },
  });
  return { tool, ran };
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
