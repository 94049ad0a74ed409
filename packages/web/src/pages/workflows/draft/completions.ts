import type { JsonObject } from "trackside/schema";
import { isObject, objectIn, textIn, textsIn } from "../../../forms/subschema.ts";

/** Something a template may refer to. */
export interface Completion {
  /** `nodes.check.summary` */
  readonly path: string;
  /** "text", "list of objects": what stands there, as far as it is known. */
  readonly type: string;
  readonly about: string;
}

/** A root of paths: `input`, `nodes.check`, `item`. */
export interface PathRoot {
  readonly path: string;
  readonly about: string;
  /** Undefined where nobody knows what it is. */
  readonly schema: JsonObject | undefined;
}

const DEEP = 4;
const MOST = 400;

/** Every path below these roots, the shorter ones first within each. */
export function completionsOf(roots: readonly PathRoot[]): readonly Completion[] {
  const found: Completion[] = [];
  for (const { path, about, schema } of roots) collect(path, about, schema ?? {}, DEEP, found);
  return found.slice(0, MOST);
}

function collect(path: string, about: string, schema: JsonObject, depth: number, found: Completion[]): void {
  found.push({ path, type: typeWords(schema), about: textIn(schema, "description") ?? about });
  if (depth === 0) return;
  for (const [key, property] of Object.entries(objectIn(schema, "properties") ?? {}))
    if (isObject(property)) collect(stepped(path, key), "", property, depth - 1, found);
  const items = objectIn(schema, "items");
  if (items && objectIn(items, "properties"))
    collect(`${path}[0]`, "the first of them", items, depth - 1, found);
}

/** Keys that are no names stand in quotes. */
const stepped = (path: string, key: string): string =>
  /^[\p{L}\p{N}_$-]+$/u.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

const WORDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "number",
  integer: "whole number",
  boolean: "yes or no",
  object: "object",
  array: "list",
  null: "nothing",
};

export function typeWords(schema: JsonObject): string {
  const type = schema["type"];
  const types = typeof type === "string" ? [type] : textsIn(schema, "type");
  return types.map((one) => WORDS[one] ?? one).join(" or ");
}

/** Where the caret is inside braces that are still open: what was typed there, and what a choice replaces. */
export interface OpenTemplate {
  readonly typed: string;
  readonly from: number;
  readonly to: number;
}

export function openTemplateAt(text: string, caret: number): OpenTemplate | undefined {
  const from = text.lastIndexOf("{{", caret - 1);
  if (from < 0 || caret < from + 2 || text[from - 1] === "\\") return undefined;
  const typed = text.slice(from + 2, caret);
  if (/[{}\n]/.test(typed)) return undefined;
  // What already stands behind the caret, up to its closing braces, belongs to the same reference.
  const rest = /^[^{}\n]*\}\}/.exec(text.slice(caret))?.[0] ?? "";
  return { typed: typed.trim(), from, to: caret + rest.length };
}

/** The text with the path in place, and where the caret goes. */
export function completed(text: string, open: OpenTemplate, path: string): { text: string; caret: number } {
  const reference = `{{ ${path} }}`;
  return {
    text: text.slice(0, open.from) + reference + text.slice(open.to),
    caret: open.from + reference.length,
  };
}

/** Those that fit what was typed: where the path begins with it first. */
export function matching(all: readonly Completion[], typed: string): readonly Completion[] {
  const wanted = typed.toLowerCase();
  if (wanted === "") return all;
  const begins = all.filter(({ path }) => path.toLowerCase().startsWith(wanted));
  const within = all.filter(
    ({ path }) => !path.toLowerCase().startsWith(wanted) && path.toLowerCase().includes(wanted),
  );
  return [...begins, ...within];
}
