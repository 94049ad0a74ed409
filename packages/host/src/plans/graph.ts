import type { PlannedStep, PlanState, StepState } from "./plan.ts";

type Node = Pick<PlannedStep, "id" | "depends_on">;
type StateOf = (id: string) => StepState;

/** Steps that wait for each other, the first of them again at the end; undefined where there are none. */
export function cycleIn(steps: readonly Node[]): readonly string[] | undefined {
  const waits = new Map(steps.map(({ id, depends_on }) => [id, depends_on]));
  const done = new Set<string>();
  for (const { id } of steps) {
    // By hand and not by recursion: 200 steps may wait for each other in one row.
    const path: string[] = [];
    const open: { id: string; next: number }[] = done.has(id) ? [] : [{ id, next: 0 }];
    if (open.length > 0) path.push(id);
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const next = waits.get(top.id)?.[top.next++];
      if (next === undefined) {
        done.add(top.id);
        path.pop();
        open.pop();
      } else if (path.includes(next)) return [...path.slice(path.indexOf(next)), next];
      else if (!done.has(next)) {
        path.push(next);
        open.push({ id: next, next: 0 });
      }
    }
  }
  return undefined;
}

/** Those it waits for that are neither completed nor skipped. */
export function openBefore({ depends_on }: Node, stateOf: StateOf): readonly string[] {
  return depends_on.filter((id) => !isDone(stateOf(id)));
}

/** Steps that could begin now, in their order. */
export function readySteps<T extends Node>(steps: readonly T[], stateOf: StateOf): readonly T[] {
  return steps.filter((step) => stateOf(step.id) === "pending" && openBefore(step, stateOf).length === 0);
}

/** What a plan is by its steps: failed once one of them is and nothing is left to run. */
export function stateBy(steps: readonly Node[], stateOf: StateOf): Exclude<PlanState, "superseded"> {
  const states = steps.map(({ id }) => stateOf(id));
  if (states.length === 0 || states.includes("running")) return "active";
  if (states.every(isDone)) return "completed";
  return states.includes("failed") && readySteps(steps, stateOf).length === 0 ? "failed" : "active";
}

function isDone(state: StepState): boolean {
  return state === "completed" || state === "skipped";
}
