import type { JsonObject } from "trackside";
import { isObject } from "./untrusted-json.ts";

const KEY = "x-mcp-header";
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: readonly unknown[] = ["string", "integer", "boolean"];

/**
 * Newer servers on the web may want an argument as a header too (SEP-2243). A tool that asks for it wrongly must not be
 * used; this says what is wrong. Only properties of objects may, each under a name of its own.
 */
export function headerProblem(schema: JsonObject): string | null {
  const taken = new Set<string>();
  const look = (node: unknown, isProperty: boolean, reachable: boolean): string | null => {
    if (Array.isArray(node)) return first(node, (one) => look(one, false, false));
    if (!isObject(node)) return null;
    if (KEY in node) {
      if (!isProperty) return "it wants a header for something that is not a property";
      const problem = problemOf(node, taken);
      if (problem !== null) return problem;
    }
    return first(Object.entries(node), ([key, value]) => {
      if (key !== "properties" || !isObject(value)) return look(value, false, false);
      return first(Object.values(value), (one) => look(one, reachable, reachable));
    });
  };
  return look(schema, false, true);
}

function problemOf(property: Record<string, unknown>, taken: Set<string>): string | null {
  const name = property[KEY];
  if (typeof name !== "string" || !TOKEN.test(name)) return "it wants a header whose name is not one";
  if (!TYPES.includes(property["type"]))
    return `it wants the header ${name} for something that is no text, integer or boolean`;
  if (taken.has(name.toLowerCase())) return `it wants the header ${name} twice`;
  taken.add(name.toLowerCase());
  return null;
}

function first<T>(items: readonly T[], look: (item: T) => string | null): string | null {
  for (const item of items) {
    const problem = look(item);
    if (problem !== null) return problem;
  }
  return null;
}
