import type { Json, JsonObject } from "trackside";
import { formatPath } from "trackside/engine";

/** One place in which two definitions differ. What was not there is undefined. */
export interface AgentChange {
  readonly path: string;
  readonly kind: "added" | "removed" | "changed";
  readonly before?: Json;
  readonly after?: Json;
}

type Path = readonly PropertyKey[];

/** How a definition became another one. Items of lists are told apart by their names, not by where they stand. */
export function diffDefinitions(before: JsonObject, after: JsonObject): readonly AgentChange[] {
  return [...differences([], before, after)];
}

/** Lists are paired at a cost of their lengths' product: longer ones are told as one change. */
const MOST_PAIRS = 1_000_000;

function* differences(path: Path, before: Json, after: Json): Generator<AgentChange> {
  if (isPairable(before) && isPairable(after) && before.length * after.length <= MOST_PAIRS)
    yield* ofLists(path, before, after);
  else if (isObject(before) && isObject(after)) yield* ofObjects(path, before, after);
  else if (JSON.stringify(before) !== JSON.stringify(after))
    yield { path: formatPath(path), kind: "changed", before, after };
}

function isPairable(value: Json): value is Json[] {
  return Array.isArray(value);
}

function* ofObjects(path: Path, before: JsonObject, after: JsonObject): Generator<AgentChange> {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [own(before, key), own(after, key)];
    const at = formatPath([...path, key]);
    if (was === undefined && is !== undefined) yield { path: at, kind: "added", after: is };
    else if (is === undefined && was !== undefined) yield { path: at, kind: "removed", before: was };
    else if (was !== undefined && is !== undefined) yield* differences([...path, key], was, is);
  }
}

/** Pairs what both lists have, in order; the rest was removed or added, at its place in the list that has it. */
function* ofLists(path: Path, before: readonly Json[], after: readonly Json[]): Generator<AgentChange> {
  const [were, are] = [before.map(nameOf), after.map(nameOf)];
  const length = commonLengths(were, are);
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [was, is] = [before[i], after[j]];
    const isPair = was !== undefined && is !== undefined && were[i] === are[j];
    if (isPair) {
      yield* differences([...path, j], was, is);
      i += 1;
      j += 1;
    } else if (was !== undefined && (is === undefined || length(i + 1, j) >= length(i, j + 1))) {
      yield { path: formatPath([...path, i]), kind: "removed", before: was };
      i += 1;
    } else if (is !== undefined) {
      yield { path: formatPath([...path, j]), kind: "added", after: is };
      j += 1;
    }
  }
}

/** How much the rests of two lists have in common, for every pair of rests. */
function commonLengths(a: readonly string[], b: readonly string[]): (i: number, j: number) => number {
  const width = b.length + 1;
  const table = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      table[i * width + j] =
        a[i] === b[j]
          ? (table[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(table[(i + 1) * width + j] ?? 0, table[i * width + j + 1] ?? 0);
  return (i, j) => table[i * width + j] ?? 0;
}

/** What an item of a list is called: rails, hooks and servers are the same ones though their options changed. */
function nameOf(item: Json): string {
  if (!isObject(item)) return JSON.stringify(item);
  const name = own(item, "name") ?? own(item, "use");
  return name === undefined ? JSON.stringify(item) : `name ${JSON.stringify(name)}`;
}

function own(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
