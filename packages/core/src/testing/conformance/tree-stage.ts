import assert from "node:assert/strict";
import * as z from "zod";
import { Agent } from "../../agent.ts";
import type { RailAbortError } from "../../errors.ts";
import type { RunResult } from "../../local/run-result.ts";
import type { Approval } from "../../schema/approval.ts";
import type { DurableEvent } from "../../schema/durable-events.ts";
import type { Json } from "../../schema/json.ts";
import type { ToolMessage } from "../../schema/message.ts";
import { defineTool } from "../../tools/define-tool.ts";
import type { ScriptedStep } from "../scripted-model.ts";
import { collect, type MakeEngine } from "./behaviour.ts";
import { byRun, type Cast, cast, outcomes } from "./cast.ts";

export interface Entry {
  readonly index: number;
  readonly status: "success" | "error";
  readonly output?: string;
  readonly structured?: Json;
  readonly error?: { readonly code: string; readonly message: string };
  readonly usage: { readonly model_calls: number; readonly input_tokens: number };
}

export const spawn = (...jobs: readonly (string | object)[]) => ({
  tool: "spawn_parallel",
  args: { jobs: jobs.map((job) => (typeof job === "string" ? { task: job } : job)) },
});
export const self = (task: string, more: object = {}) => ({ tool: "spawn_self", args: { task, ...more } });

/** Notes with what it runs, and for whom. */
export function noting(name: string, more: object = {}) {
  const ran: { n: number; scope: unknown; runId: string; turnRef: string }[] = [];
  const tool = defineTool({
    name,
    input: z.object({ n: z.number().default(0) }),
    execute: ({ n }, { scope, runId, turnRef }) => {
      ran.push({ n, scope, runId, turnRef });
      return `${name} ${n}`;
    },
    ...more,
  });
  return { tool, ran };
}

/** A tree of agents at work: the root is told "Go". */
export async function play(
  make: MakeEngine,
  parts: Cast,
  config: object = {},
  options: { scope?: Record<string, Json>; approve?: (approval: Approval) => { choice: string } } = {},
) {
  const model = cast(parts);
  const agent = new Agent({
    name: "root",
    model,
    allowParallelSubagents: true,
    allowSelfSpawn: true,
    ...config,
  });
  const stream = agent.stream("Go", { engine: await make(), ...options });
  const events = (await collect(stream)) as DurableEvent[]; // with live ones, which are told apart by their type
  const ended = await stream.result.then(
    (result) => ({ result, error: undefined }),
    (error: RailAbortError<RunResult<string>>) => ({ result: error.result, error }),
  );
  return { model, agent, events, ...ended };
}

export function resultsOf({ messages }: Pick<RunResult<unknown>, "messages">): ToolMessage[] {
  return messages.filter((message) => message.role === "tool");
}

/** The entries of the first spawn call. */
export function entriesOf({ messages }: Pick<RunResult<unknown>, "messages">): readonly Entry[] {
  const [value] = outcomes(messages) as [{ results: readonly Entry[] }];
  return value.results;
}

/** Each run's events count from 1 without a gap, and end with its one terminal status; each call has its one result. */
export function assertSound(events: readonly DurableEvent[]): void {
  for (const [run, own] of byRun(events)) {
    assert.deepEqual(
      own.map(({ seq }) => seq),
      own.map((_, i) => i + 1),
      `the events of ${run} are counted without a gap`,
    );
    const ends = own.filter((event) => event.type === "status" && event.status !== "starting");
    assert.deepEqual(ends, own.slice(-1), `${run} ends once`);
    const called = own.flatMap((event) => (event.type === "tool_call" ? [event.call_id] : []));
    const answered = own.flatMap((event) => (event.type === "tool_result" ? [event.call_id] : []));
    assert.deepEqual(answered.toSorted(), called.toSorted(), `every call of ${run} is paired`);
  }
}

export function statuses(events: readonly DurableEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "status" && event.status !== "starting" ? [event.status] : [],
  );
}

/**
 * A tool that holds its calls until the test opens the gate, and counts the calls it holds. A call that is cancelled is no
 * longer counted and never returns, so that no call wins a race against its cancel. An engine that lost touch with a
 * worker may try a call again (X3): the second attempt is the same call, counted once and let go with the first.
 */
export function gate() {
  const inside = new Map<string, Set<() => void>>();
  const letGo = new Set<string>();
  const state = { live: 0, peak: 0 };
  const tool = defineTool({
    name: "hold",
    effect: "idempotent",
    execute: async (_args, { signal, idempotencyKey }) => {
      if (letGo.has(idempotencyKey)) return "held";
      const attempts = inside.get(idempotencyKey) ?? new Set();
      inside.set(idempotencyKey, attempts);
      state.live = inside.size;
      state.peak = Math.max(state.peak, state.live);
      await new Promise<void>((resolve) => {
        attempts.add(resolve);
        signal.addEventListener("abort", () => {
          attempts.delete(resolve);
          if (attempts.size === 0) inside.delete(idempotencyKey);
          state.live = inside.size;
        });
      });
      return "held";
    },
  });
  const open = () => {
    for (const [key, attempts] of inside) {
      letGo.add(key);
      for (const go of attempts) go();
    }
    inside.clear();
    state.live = 0;
  };
  return { tool, state, open };
}

export const HOLD: ScriptedStep = { calls: [{ tool: "hold" }] };
