import type { Json, JsonObject } from "../schema/json.ts";
import { short } from "../schema/preview.ts";
import { kindOf } from "./kinds.ts";
import { type ParsedReference, parseTemplate, type Root } from "./parse-template.ts";

/** What the references of a template are read from. */
export interface Values {
  readonly input: Json;
  /** What a node came to; undefined when it was skipped or is not there. */
  node(id: string): Json | undefined;
  /** Within a map only. */
  readonly item?: Json;
  readonly index?: number;
}

export type Filled =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problem: string };
export type FilledText =
  | { readonly ok: true; readonly value: string }
  | { readonly ok: false; readonly problem: string };

/** One `{{ path }}`, and where it is. */
export interface Reference {
  /** Where in the template its text is. */
  readonly at: readonly (string | number)[];
  readonly root: Root;
  /** With the root `nodes`: which one. */
  readonly node?: string;
  /** The way from there on. */
  readonly path: readonly (string | number)[];
  readonly optional: boolean;
  /** The text is nothing else, so it becomes the value itself. */
  readonly alone: boolean;
}

export interface TemplateProblem {
  readonly at: readonly (string | number)[];
  readonly problem: string;
}

/** What is checked is never deeper. */
const MOST_LEVELS = 200;
/** A few references can stand for far more text than anybody has memory for. */
const MOST_TEXT = 10_000_000;
const MOST_PROBLEMS = 100;
const SHOWN_KEYS = 10;

/** Puts in what the references of a template stand for, at every level of it. Keys are no templates. */
export function fill(template: Json, values: Values): Filled {
  return filled(template, { values, lenient: false }, 0);
}

/** The same, and what is not there is null, with or without a `?`. */
export function fillLeniently(template: Json, values: Values): Filled {
  return filled(template, { values, lenient: true }, 0);
}

/** For what is always a text: what a reference stands for is put in as text, null as nothing, other values as JSON. */
export function fillText(template: string, values: Values): FilledText {
  return filledText(template, { values, lenient: false });
}

/** Every reference of a template, and every text of it that cannot be read. */
export function referencesIn(template: Json): {
  readonly references: readonly Reference[];
  readonly problems: readonly TemplateProblem[];
} {
  const references: Reference[] = [];
  const problems: TemplateProblem[] = [];
  const visit = (value: Json, at: readonly (string | number)[]): void => {
    if (problems.length >= MOST_PROBLEMS) return;
    if (typeof value === "string") {
      if (!value.includes("{{")) return;
      const parsed = parseTemplate(value);
      for (const problem of parsed.problems)
        if (problems.length < MOST_PROBLEMS) problems.push({ at, problem });
      for (const part of parsed.parts) if (typeof part !== "string") references.push({ at, ...part });
    } else if (typeof value === "object" && value !== null) {
      if (at.length >= MOST_LEVELS) problems.push({ at: at.slice(0, 5), problem: TOO_DEEP });
      else if (isList(value)) value.forEach((inner, i) => void visit(inner, [...at, i]));
      else for (const [key, inner] of Object.entries(value)) visit(inner, [...at, key]);
    }
  };
  visit(template, []);
  return { references, problems };
}

/** A reference as it is written, without braces and `?`. */
export function referenceText({ root, node, path }: Pick<Reference, "root" | "node" | "path">): string {
  return root + (node === undefined ? "" : written(node)) + path.map(written).join("");
}

/** A text as a template that stands for just that text. */
export function literal(text: string): string {
  // Backslashes count only before braces.
  return text.replaceAll(/(?<!\\)(\\*)\{\{/g, "$1$1\\{{");
}

const TOO_DEEP = `a template of at most ${MOST_LEVELS} levels expected`;

interface Filling {
  readonly values: Values;
  readonly lenient: boolean;
}

/** What has no reference in it is taken as it is, and not copied. */
function filled(template: Json, filling: Filling, depth: number): Filled {
  if (typeof template === "string") return filledAlone(template, filling) ?? filledText(template, filling);
  if (typeof template !== "object" || template === null) return { ok: true, value: template };
  if (depth >= MOST_LEVELS) return { ok: false, problem: TOO_DEEP };
  let changed = false;
  const inner: [string, Json][] = [];
  for (const [key, entry] of Object.entries(template)) {
    const found = filled(entry, filling, depth + 1);
    if (!found.ok) return found;
    changed ||= found.value !== entry;
    inner.push([key, found.value]);
  }
  if (!changed) return { ok: true, value: template };
  return { ok: true, value: isList(template) ? inner.map(([, value]) => value) : Object.fromEntries(inner) };
}

function filledAlone(template: string, filling: Filling): Filled | undefined {
  if (!template.startsWith("{{")) return undefined;
  const { parts, problems } = parseTemplate(template);
  const [only] = parts;
  if (problems.length > 0 || only === undefined || typeof only === "string" || !only.alone) return undefined;
  return read(only, filling);
}

function filledText(template: string, filling: Filling): FilledText {
  if (!template.includes("{{")) return { ok: true, value: template };
  const { parts, problems } = parseTemplate(template);
  if (problems[0] !== undefined) return { ok: false, problem: problems[0] };
  let text = "";
  for (const part of parts) {
    if (typeof part === "string") text += part;
    else {
      const found = read(part, filling);
      if (!found.ok) return found;
      const more = textOf(found.value);
      if (more === undefined)
        return { ok: false, problem: `${shown(part)}: a value that can be written as JSON expected` };
      text += more;
    }
    if (text.length > MOST_TEXT)
      return { ok: false, problem: `a text of at most ${MOST_TEXT} characters expected, it comes to more` };
  }
  return { ok: true, value: text };
}

function textOf(value: Json): string | undefined {
  if (typeof value === "string") return value;
  if (value === null) return "";
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // too deep, or too long
  }
}

function read(reference: ParsedReference, { values, lenient }: Filling): Filled {
  const { root, node, path } = reference;
  const missing = (what: string): Filled =>
    reference.optional || lenient
      ? { ok: true, value: null }
      : {
          ok: false,
          problem: `${shown(reference)}: ${what}; with a ? (${hint(reference)}) it would be null`,
        };
  let value = rootValue(reference, values);
  if (value === undefined)
    return missing(
      root === "nodes"
        ? `the node ${JSON.stringify(node)} has come to nothing (it was skipped, or is not there)`
        : `${root} is only there within a map`,
    );
  for (const key of path) {
    const next = entryOf(value, key);
    if (next === undefined) return missing(`there is no ${shownKey(key)}, but ${describe(value)}`);
    value = next;
  }
  return { ok: true, value };
}

function rootValue({ root, node }: ParsedReference, values: Values): Json | undefined {
  switch (root) {
    case "input":
      return values.input;
    case "nodes":
      return values.node(node ?? "");
    case "item":
      return values.item;
    case "index":
      return values.index;
  }
}

/** What is an entry of its own: never something of a prototype, and no letters of texts. */
function entryOf(value: Json, key: string | number): Json | undefined {
  if (isList(value)) return typeof key === "number" ? value[key] : undefined;
  if (typeof value !== "object" || value === null || typeof key === "number") return undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function isList(value: readonly Json[] | JsonObject | Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** What is there instead, briefly, however large it is. */
function describe(value: Json): string {
  if (isList(value)) {
    const count = value.length === 1 ? "1 entry" : `${value.length} entries`;
    return value.length === 0 ? "an empty list" : `a list of ${count} ([0] is the first)`;
  }
  if (typeof value !== "object" || value === null) return value === null ? "null" : kindOf(value);
  const keys: string[] = [];
  let more = 0;
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    if (keys.length < SHOWN_KEYS) keys.push(shownKey(key));
    else more++;
  }
  if (keys.length === 0) return "an object without keys";
  return `an object with ${keys.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function shown(reference: ParsedReference): string {
  return `{{ ${short(referenceText(reference))} }}`;
}

function hint(reference: ParsedReference): string {
  return `{{ ${short(referenceText(reference))}? }}`;
}

function shownKey(key: string | number): string {
  return typeof key === "number" ? `[${key}]` : JSON.stringify(short(key));
}

function written(key: string | number): string {
  if (typeof key === "number") return `[${key}]`;
  return /^[\w$-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}
