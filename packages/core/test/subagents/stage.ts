import { Agent, type DurableEvent, type RunResult } from "trackside";
import type { ScriptedCall, ScriptedModel, ScriptedStep } from "trackside/testing";
import { expect } from "vitest";
import { byRun, type Cast, cast } from "../../src/testing/conformance/cast.ts";
import { type Event, results } from "../guards/stage.ts";

/** An entry of a spawn call's result. */
export interface Entry {
  readonly index: number;
  readonly status: "success" | "error";
  readonly output?: string;
  readonly structured?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly usage: RunResult<unknown>["usage"];
}

export const self = (task: string, more: object = {}): ScriptedCall => ({
  tool: "spawn_self",
  args: { task, ...more },
});

export const parallel = (...jobs: readonly (string | object)[]): ScriptedCall => ({
  tool: "spawn_parallel",
  args: { jobs: jobs.map((job) => (typeof job === "string" ? { task: job } : job)) },
});

export const calls = (...list: readonly (string | ScriptedCall)[]): ScriptedStep => ({
  calls: list.map((call) => (typeof call === "string" ? { tool: call } : call)),
});

/** An agent that may have sub-agents, and the one model of its whole tree. */
export function tree(parts: Cast, config: object = {}): { agent: Agent; model: ScriptedModel } {
  const model = cast(parts);
  const agent = new Agent({
    name: "root",
    model,
    allowSelfSpawn: true,
    allowParallelSubagents: true,
    ...config,
  });
  return { agent, model };
}

/** Each run's events count from 1, end once, and give every call its one result. */
export function expectSound(events: readonly Event[]): void {
  for (const [run, own] of byRun(events)) {
    expect(own.map(({ seq }) => seq, run)).toEqual(own.map((_, i) => i + 1));
    const ends = own.filter((event) => event.type === "status" && event.status !== "starting");
    expect(ends, run).toEqual(own.slice(-1));
    const called = own.flatMap((event) => (event.type === "tool_call" ? [event.call_id] : []));
    const answered = own.flatMap((event) => (event.type === "tool_result" ? [event.call_id] : []));
    expect(answered.toSorted(), run).toEqual(called.toSorted());
  }
}

/** The entries of a spawn call, by its place among the results. */
export function entries(result: Pick<RunResult<unknown>, "messages">, at = 0): readonly Entry[] {
  const output = results(result)[at]?.output;
  if (output === undefined || output.type === "error") throw new Error("the call has no entries");
  const value = output.value as { results?: readonly Entry[] } | Entry; // as `aggregate` writes them
  return "results" in value && value.results ? value.results : [value as Entry];
}

/** The events of the children of a run, by their task's place: the last of their path. */
export function endings(events: readonly Event[]): Record<string, string> {
  const ended: Record<string, string> = {};
  for (const event of events as readonly DurableEvent[])
    if (event.type === "status" && event.status !== "starting")
      ended[event.path.join(" ") || "root"] = event.status;
  return ended;
}
