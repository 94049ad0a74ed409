import { TracksideError } from "trackside";
import type { PlansTable } from "../store/tables.ts";
import { planBody } from "./plan-rows.ts";

/** Somebody else saved the plan meanwhile. */
export class PlanConflictError extends TracksideError {
  override readonly name: string = "PlanConflictError";
  readonly current: { readonly version: number; readonly by: string; readonly at: number };

  constructor(row: PlansTable, given: number) {
    const { by } = planBody.read(row.body, row.id);
    super(
      "version_conflict",
      `The plan ${row.id} is at version ${row.version}, saved by ${by}; ${given} was given. Load it again and repeat your change.`,
    );
    this.current = { version: row.version, by, at: row.updated_at };
  }
}

/** It cannot be done as things are: what is in the way, and what to do. */
export function planBusy(message: string): TracksideError {
  return new TracksideError("plan_busy", message);
}

export function unknownPlan(id: string): TracksideError {
  return new TracksideError("not_found", `There is no plan ${id}.`);
}

export function unknownStep(step: string, ids: readonly string[]): TracksideError {
  const known = ids.slice(0, 20).join(", ") || "none";
  return new TracksideError("not_found", `The plan has no step "${step}". Its steps: ${known}.`);
}
