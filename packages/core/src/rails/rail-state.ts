import type { Json } from "../schema/json.ts";
import type { StateOperation } from "../schema/verdict.ts";

export type StateValues = Readonly<Record<string, Json>>;

/** All of a run's rail state together, as JSON. */
export const MAX_STATE_BYTES = 8192;

/** Applies operations in the order they were delivered. Parallel calls lose nothing: they say what to do, not what comes out. */
export function applyOperations(values: StateValues, operations: readonly StateOperation[]): StateValues {
  if (operations.length === 0) return values;
  const next: Record<string, Json> = { ...values };
  for (const operation of operations) {
    const before = Object.hasOwn(next, operation.key) ? next[operation.key] : undefined;
    next[operation.key] = applied(before, operation);
  }
  return next;
}

function applied(before: Json | undefined, operation: StateOperation): Json {
  switch (operation.op) {
    case "set":
      return operation.value;
    case "add":
      return (typeof before === "number" ? before : 0) + operation.value;
    case "append":
      return Object.freeze([...(Array.isArray(before) ? before : []), operation.value]);
  }
}
