import type { Json } from "trackside";

/** One place where two values differ. What is absent on one side was added or taken away. */
export interface Change {
  /** `items[2].name`; empty for the whole. */
  readonly path: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** Where two JSON values differ, as deep inside as it goes. */
export function changesBetween(before: Json | undefined, after: Json | undefined, path = ""): Change[] {
  if (isList(before) && isList(after)) {
    const length = Math.max(before.length, after.length);
    return Array.from({ length }, (_, i) => changesBetween(before[i], after[i], `${path}[${i}]`)).flat();
  }
  if (isObject(before) && isObject(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) => changesBetween(own(before, key), own(after, key), joined(path, key)));
  }
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
}

function joined(path: string, key: string): string {
  const name = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key) ? key : JSON.stringify(key);
  return path === "" ? name : `${path}.${name}`;
}

function own(object: { readonly [key: string]: Json }, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
