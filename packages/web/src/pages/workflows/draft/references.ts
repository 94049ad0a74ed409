import type { Json } from "trackside/schema";

/** Braces after a backslash are mere text. */
const TEMPLATE = /(?<!\\)\{\{[^{}]*\}\}/g;
/** `nodes.<id>` and `nodes["<id>"]` at the beginning of a template. */
const REFERENCE = /^(\{\{\s*nodes(?:\.|\["))([A-Za-z][\w-]*)/;

/**
 * The same value with other ids wherever a template refers to nodes. Texts outside of templates are only text. All ids at
 * once: one may get a name that another had.
 */
export function renamedIn<T extends Json | undefined>(value: T, ids: Readonly<Record<string, string>>): T {
  const renamed = (template: string) =>
    template.replace(REFERENCE, (whole, before: string, id: string) =>
      Object.hasOwn(ids, id) ? `${before}${ids[id]}` : whole,
    );
  return walk(value, (text) => (text.includes("{{") ? text.replaceAll(TEMPLATE, renamed) : text)) as T; // texts stay texts, and everything else keeps its shape
}

function walk(value: Json | undefined, change: (text: string) => string): Json | undefined {
  if (typeof value === "string") return change(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const list: readonly Json[] = value;
    const next = list.map((one) => walk(one, change) ?? null);
    return next.every((one, at) => one === list[at]) ? value : next;
  }
  let isChanged = false;
  const entries = Object.entries(value).map(([key, one]) => {
    const next = walk(one, change);
    if (next !== one) isChanged = true;
    return [key, next] as const;
  });
  return isChanged ? Object.fromEntries(entries.map(([key, one]) => [key, one ?? null])) : value;
}
