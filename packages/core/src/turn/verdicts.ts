import { abortFailure } from "../errors.ts";
import { applyOperations, stateProblem } from "../rails/rail-state.ts";
import type { Failure } from "../schema/failure.ts";
import type { TurnState } from "../schema/turn-state.ts";
import type { Verdict } from "../schema/verdict.ts";
import { charge } from "./charge.ts";
import type { World } from "./world.ts";

interface Said {
  readonly verdicts?: readonly Verdict[];
  readonly passed?: number;
}

/**
 * What the rails around an effect leave in the run: an event for each dispatch in which somebody spoke (R12), and their
 * writes to the state, in delivery order (R5). Answers the verdict that decided, if one did.
 */
export function settleVerdicts(
  world: World,
  state: TurnState,
  out: Said,
  callId: string | null,
): Verdict | undefined {
  state.passed += out.passed ?? 0;
  if (out.verdicts === undefined) return undefined;
  let decided: Verdict | undefined;
  for (const verdict of out.verdicts) {
    state.passed += verdict.passed;
    if (verdict.records.length > 0) {
      const { point, records } = verdict;
      world.note({ type: "rail", point, step: state.step, call_id: callId, records: [...records] });
    }
    if (verdict.usage) charge(world, state, "rails", verdict.usage);
    if (verdict.action !== "continue") decided = verdict;
    decided = write(state, verdict) ?? decided;
  }
  return decided;
}

/**
 * Applies what rails wrote to the run's state. Calls beside each other each saw the state without the other's writes, so
 * the limit is checked again here: the rail whose write crosses it aborts the run, and no later rail pays for it (R5).
 */
function write(state: TurnState, verdict: Verdict): Verdict | undefined {
  for (const operation of verdict.state) {
    const next = applyOperations(state.rails, [operation]);
    const problem = operation.by === undefined ? undefined : stateProblem(next);
    if (problem !== undefined && operation.by !== undefined)
      return { ...verdict, action: "abort", rail: operation.by, reason: problem };
    state.rails = next;
  }
  return undefined;
}

/** Counts the retries rails ask for: for each rail and operation exactly as many as it said (R8). */
export class Retries {
  #made: Map<string, number> | undefined;

  /** How long to wait before the next attempt; undefined when this rail's retries are used up. */
  next({ rail, retry }: Verdict): number | undefined {
    const key = rail ?? "";
    const made = this.#made?.get(key) ?? 0;
    if (made >= (retry?.max_retries ?? 0)) return undefined;
    this.#made ??= new Map();
    this.#made.set(key, made + 1);
    return (retry?.delay ?? 0) * 1000;
  }
}

/** A verdict that ends the run: an abort, or a retry that may not be made any more. */
export function abortedBy({ rail, point, reason, action }: Verdict): Failure {
  const why = action === "retry" ? `its retries are used up${reason === "" ? "" : `: ${reason}`}` : reason;
  return abortFailure(rail ?? "", point, why);
}
