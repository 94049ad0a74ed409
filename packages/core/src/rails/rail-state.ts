import type { Json } from "../schema/json.ts";
import type { StateOperation } from "../schema/verdict.ts";

export type StateValues = Readonly<Record<string, Json>>;

/** All of a run's rail state together, as JSON. */
const MAX_STATE_BYTES = 8192;

/** Why a run's rail state is too large, or undefined. */
export function stateProblem(values: StateValues): string | undefined {
  const text = JSON.stringify(values);
  if (text.length * 3 <= MAX_STATE_BYTES) return undefined; // no character takes more than three bytes for each unit
  const bytes = utf8Length(text);
  if (bytes <= MAX_STATE_BYTES) return undefined;
  return `ctx.state would be ${bytes} bytes, at most ${MAX_STATE_BYTES}; keep counts, not content`;
}

/** Counted by hand: the loop runs where there is no TextEncoder. */
function utf8Length(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

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
