import type { Failure } from "../schema/failure.ts";
import type { TurnStart, TurnState } from "../schema/turn-state.ts";
import type { Usage } from "../schema/usage.ts";

export const NO_USAGE: Usage = Object.freeze({
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  reasoning_tokens: 0,
  model_calls: 0,
  cost: null,
});

export function start(turn: TurnStart): TurnState {
  return {
    v: 1,
    phase: "opening",
    step: 0,
    log: turn.log,
    tail: [],
    tail_at: -1,
    turn_at: turn.log,
    anchor: null,
    usage: NO_USAGE,
    rails: {},
    plan: null,
    notes: [],
    agent: null,
    handoffs: [],
    open: [],
    passed: 0,
    redo: null,
    repairs: 0,
    regenerations: 0,
    outcome: null,
  };
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    cached_input_tokens: a.cached_input_tokens + b.cached_input_tokens,
    cache_write_tokens: a.cache_write_tokens + b.cache_write_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
    model_calls: a.model_calls + b.model_calls,
    // A sum with an unknown price in it is unknown; an empty one is not yet anything.
    cost: a.model_calls === 0 ? b.cost : a.cost === null || b.cost === null ? null : a.cost + b.cost,
  };
}

export function fail(state: TurnState, failure: Failure): void {
  state.outcome = { status: "error", failure };
}

export function cancel(state: TurnState, reason: string): void {
  state.outcome = { status: "cancelled", reason };
}
