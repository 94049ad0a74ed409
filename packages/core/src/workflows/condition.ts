import type { Json, JsonObject } from "../schema/json.ts";
import type { Comparison, Condition } from "../schema/workflow.ts";
import { kindOf } from "./kinds.ts";
import { type Filled, fill, fillLeniently, type Values } from "./template.ts";

export type Decided =
  | { readonly ok: true; readonly value: boolean }
  | { readonly ok: false; readonly problem: string };

/** Decides a condition. `all` and `any` look no further than they have to. */
export function decide(condition: Condition, values: Values): Decided {
  if ("all" in condition) return first(condition.all, false, values);
  if ("any" in condition) return first(condition.any, true, values);
  if ("not" in condition) {
    const inner = decide(condition.not, values);
    return inner.ok ? yes(!inner.value) : inner;
  }
  const { op } = condition;
  // Whether something is there is just what these two ask.
  const looksForIt = op === "exists" || op === "empty";
  const left = looksForIt ? fillLeniently(condition.left, values) : fill(condition.left, values);
  if (!left.ok) return left;
  if (looksForIt) return yes(op === "exists" ? left.value !== null : isEmpty(left.value));
  if (condition.right === undefined)
    return { ok: false, problem: `a right side expected, to compare with by ${op}` };
  const right: Filled = fill(condition.right, values);
  return right.ok ? compare(op, left.value, right.value) : right;
}

/** The first of them that comes to this decides. */
function first(conditions: readonly Condition[], deciding: boolean, values: Values): Decided {
  for (const condition of conditions) {
    const inner = decide(condition, values);
    if (!inner.ok || inner.value === deciding) return inner;
  }
  return yes(!deciding);
}

function compare(op: Exclude<Comparison, "exists" | "empty">, left: Json, right: Json): Decided {
  switch (op) {
    case "==":
      return yes(isEqual(left, right));
    case "!=":
      return yes(!isEqual(left, right));
    case "contains":
      return contains(left, right, { whole: "left", part: "right" });
    case "in":
      return contains(right, left, { whole: "right", part: "left" });
    default:
      return inOrder(op, left, right);
  }
}

function inOrder(op: ">" | ">=" | "<" | "<=", left: Json, right: Json): Decided {
  const comparable =
    (typeof left === "number" && typeof right === "number") ||
    (typeof left === "string" && typeof right === "string");
  if (!comparable) {
    const given = `${kindOf(left)} on the left and ${kindOf(right)} on the right given`;
    return { ok: false, problem: `${op}: two numbers or two texts expected, ${given}` };
  }
  switch (op) {
    case ">":
      return yes(left > right);
    case ">=":
      return yes(left >= right);
    case "<":
      return yes(left < right);
    case "<=":
      return yes(left <= right);
  }
}

/** Nothing is in null, so that what is only sometimes there can be looked into. */
function contains(whole: Json, part: Json, sides: { whole: string; part: string }): Decided {
  if (whole === null) return yes(false);
  if (isList(whole)) return yes(whole.some((entry) => isEqual(entry, part)));
  const given = `${kindOf(whole)} on the ${sides.whole} and ${kindOf(part)} on the ${sides.part} given`;
  if (typeof whole !== "string" && typeof whole !== "object")
    return { ok: false, problem: `a list, a text or an object to look into expected, ${given}` };
  if (typeof part !== "string")
    return {
      ok: false,
      problem: `a text to look for in ${typeof whole === "string" ? "a text" : "an object's keys"} expected, ${given}`,
    };
  return yes(typeof whole === "string" ? whole.includes(part) : Object.hasOwn(whole, part));
}

function isEmpty(value: Json): boolean {
  if (value === null || value === "") return true;
  if (typeof value !== "object") return false;
  for (const key in value) if (Object.hasOwn(value, key)) return false;
  return true;
}

/** Whether two JSON values are the same, whatever the order of their keys. Does not recurse: values may be deep. */
export function isEqual(left: Json, right: Json): boolean {
  const pairs: [Json, Json][] = [[left, right]];
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [a, b] = pair;
    if (a === b) continue;
    if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
    if (isList(a) || isList(b)) {
      if (!isList(a) || !isList(b) || a.length !== b.length) return false;
      for (const [i, entry] of a.entries()) pairs.push([entry, b[i] ?? null]);
    } else {
      const keys = Object.keys(a);
      if (keys.length !== Object.keys(b).length) return false;
      for (const key of keys) {
        if (!Object.hasOwn(b, key)) return false;
        pairs.push([a[key] ?? null, b[key] ?? null]);
      }
    }
  }
  return true;
}

function isList(value: readonly Json[] | JsonObject | Json): value is readonly Json[] {
  return Array.isArray(value);
}

function yes(value: boolean): Decided {
  return { ok: true, value };
}
