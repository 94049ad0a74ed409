import type { Json, JsonObject } from "trackside";

export interface JsonLimits {
  readonly depth: number;
  readonly nodes: number;
  readonly chars: number;
}

/** What is wrong with a value that a stranger sent, or nothing if it is plain JSON within the limits. */
export function problemOfJson(value: unknown, limits: JsonLimits): string | null {
  let nodes = 0;
  let chars = 0;
  const look = (one: unknown, depth: number): string | null => {
    if (++nodes > limits.nodes) return `has more than ${limits.nodes} parts`;
    if (depth > limits.depth) return `is nested deeper than ${limits.depth}`;
    if (typeof one === "string") chars += one.length;
    if (chars > limits.chars) return `is larger than ${limits.chars} characters`;
    if (typeof one === "number" && !Number.isFinite(one)) return "has a number that is not finite";
    if (typeof one !== "object" || one === null) return null;
    if (Array.isArray(one)) return firstProblem(one, (inner) => look(inner, depth + 1));
    return firstProblem(Object.entries(one), ([key, inner]) => {
      if (key === "__proto__") return "has a key `__proto__`";
      chars += key.length;
      return look(inner, depth + 1);
    });
  };
  return look(value, 0);
}

function firstProblem<T>(items: readonly T[], look: (item: T) => string | null): string | null {
  for (const item of items) {
    const problem = look(item);
    if (problem !== null) return problem;
  }
  return null;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A value that `problemOfJson` found to be fine. */
export function asJson(value: unknown): Json {
  return value as Json; // parsed from JSON and looked at all through
}

export function asJsonObject(value: Record<string, unknown>): JsonObject {
  return value as JsonObject; // likewise
}

/** At most so many characters, never half a character. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max - 1).toWellFormed()}…`;
}
