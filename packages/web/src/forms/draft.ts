import type { Json, JsonObject } from "trackside/schema";
import {
  type Field,
  type GroupField,
  type ListField,
  type MapField,
  type MultiSelectField,
  placed,
} from "./field.ts";
import { type Path, pathText } from "./path.ts";
import type { Problem } from "./problems.ts";
import { isList, isObject, sameJson } from "./subschema.ts";

/**
 * What stands in a field while somebody writes. It holds what is no value yet (half a number, JSON with an open bracket)
 * and everything of the value it came from, so that whoever opens a form and saves it has changed nothing.
 */
export type Draft =
  /** Nothing is said: the default counts, if there is one. */
  | { readonly as: "unsaid" }
  | { readonly as: "null" }
  /** The text of a text or number field, as it was typed. */
  | { readonly as: "text"; readonly text: string }
  /** JSON as it was typed: of a `json` field, or of any other whose value is not what the field can show. */
  | { readonly as: "json"; readonly text: string }
  /** Of a switch or a select; and an empty text that was there before anybody typed. */
  | { readonly as: "value"; readonly value: Json }
  /** Of a multi-select; `alone` is one value that was written without a list around it. */
  | { readonly as: "chosen"; readonly values: readonly Json[]; readonly alone: boolean }
  | { readonly as: "list"; readonly entries: readonly Draft[]; readonly alone: boolean }
  | { readonly as: "map"; readonly entries: readonly MapEntry[] }
  /** `rest` are keys that the form has no field for. */
  | { readonly as: "group"; readonly fields: Readonly<Record<string, Draft>>; readonly rest: JsonObject };

export interface MapEntry {
  readonly name: string;
  readonly draft: Draft;
}

export const UNSAID: Draft = Object.freeze({ as: "unsaid" });

/** The draft of a value; without one, of a field that nobody has touched. */
export function draftOf(field: Field, value?: Json): Draft {
  if (value === undefined) return field.required ? emptyDraft(field) : UNSAID;
  if (value === null && field.nullable) return { as: "null" };
  return shownDraft(field, value) ?? { as: "json", text: JSON.stringify(value, null, 2) };
}

/** What has to be there has its fields open from the start. */
function emptyDraft(field: Field): Draft {
  return field.kind === "group" ? groupDraft(field, {}) : UNSAID;
}

/** Undefined for a value that the field cannot show. */
function shownDraft(field: Field, value: Json): Draft | undefined {
  switch (field.kind) {
    case "text":
    case "multiline":
      if (typeof value !== "string") return undefined;
      return value === "" && !saysEmpty(field) ? { as: "value", value } : { as: "text", text: value };
    case "number":
      return typeof value === "number" ? { as: "text", text: String(value) } : undefined;
    case "switch":
      return typeof value === "boolean" ? { as: "value", value } : undefined;
    case "select":
      return isChoice(field.choices, value) ? { as: "value", value } : undefined;
    case "multi-select": {
      const entries = entriesOf(field, value);
      if (entries?.values.every((one) => isChoice(field.choices, one)) !== true) return undefined;
      return { as: "chosen", ...entries };
    }
    case "list": {
      const entries = entriesOf(field, value);
      if (entries === undefined) return undefined;
      const { values, alone } = entries;
      return { as: "list", entries: values.map((one) => draftOf(field.item, one)), alone };
    }
    case "map":
      if (!isObject(value)) return undefined;
      return {
        as: "map",
        entries: Object.entries(value).map(([name, one]) => ({ name, draft: draftOf(field.entry, one) })),
      };
    case "group":
      return isObject(value) ? groupDraft(field, value) : undefined;
    case "json":
      return undefined;
  }
}

function isChoice(choices: readonly { readonly value: Json }[], value: Json): boolean {
  return choices.some((choice) => sameJson(choice.value, value));
}

function entriesOf({ alone }: { readonly alone: boolean }, value: Json) {
  if (isList(value)) return { values: value, alone: false };
  return alone ? { values: [value], alone: true } : undefined;
}

/** Keys in the order they were written in, so that saving does not shuffle them. */
function groupDraft({ fields }: GroupField, value: JsonObject): Draft {
  const byKey = new Map(fields.map((field) => [String(field.path.at(-1)), field]));
  const written = Object.keys(value).filter((key) => byKey.has(key));
  const keys = new Set([...written, ...byKey.keys()]);
  const drafts = [...keys].flatMap((key) => {
    const field = byKey.get(key);
    return field ? [[key, draftOf(field, Object.hasOwn(value, key) ? value[key] : undefined)] as const] : [];
  });
  const rest = Object.entries(value).filter(([key]) => !byKey.has(key));
  return { as: "group", fields: Object.fromEntries(drafts), rest: Object.fromEntries(rest) };
}

/** What a draft says. `value` is undefined where it says nothing; with problems it is not to be saved. */
export interface Reading {
  readonly value: Json | undefined;
  readonly problems: readonly Problem[];
}

const NOTHING: Reading = { value: undefined, problems: [] };

/** Reads a draft. These problems are of writing (half a number, no JSON); `problemsOf` has those of the value. */
export function readValue(field: Field, draft: Draft): Reading {
  switch (draft.as) {
    case "unsaid":
      return NOTHING;
    case "null":
      return said(null);
    case "text":
      return field.kind === "number" ? readNumber(draft.text, field.path) : readText(field, draft.text);
    case "json":
      return readJson(draft.text, field.path);
    case "value":
      return field.kind === "switch" && field.only !== undefined && field.only !== draft.value
        ? NOTHING
        : said(draft.value);
    case "chosen":
      return field.kind === "multi-select" ? readEntries(field, draft.values, draft.alone) : NOTHING;
    case "list":
      return field.kind === "list" ? readList(field, draft.entries, draft.alone) : NOTHING;
    case "map":
      return field.kind === "map" ? readMap(field, draft.entries) : NOTHING;
    case "group":
      return field.kind === "group" ? readGroup(field, draft.fields, draft.rest) : NOTHING;
  }
}

function said(value: Json): Reading {
  return { value, problems: [] };
}

function wrong(path: Path, message: string): Reading {
  return { value: undefined, problems: [{ path, message }] };
}

/** What stands in the input of a text, number or `json` field. */
export function typedText(draft: Draft): string {
  if (draft.as === "text" || draft.as === "json") return draft.text;
  return draft.as === "value" && typeof draft.value === "string" ? draft.value : "";
}

/** A text that was deleted says nothing, unless it has to say something or takes back a default. */
function saysEmpty({ required, default: value }: Field): boolean {
  return required || (typeof value === "string" && value !== "");
}

function readText(field: Field, text: string): Reading {
  return text === "" && !saysEmpty(field) ? NOTHING : said(text);
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

function readNumber(typed: string, path: Path): Reading {
  const text = typed.trim();
  if (text === "") return NOTHING;
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? said(value) : wrong(path, "has to be a number, such as 12 or 0.5");
}

function readJson(text: string, path: Path): Reading {
  if (text.trim() === "") return NOTHING;
  try {
    return said(JSON.parse(text));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return wrong(path, `is not valid JSON: ${why}`);
  }
}

function readEntries(field: ListField | MultiSelectField, values: readonly Json[], alone: boolean): Reading {
  const [only] = values;
  if (only !== undefined) return said(alone && values.length === 1 ? only : values);
  // An empty list may well mean none at all, which is not the same as nothing said; unless it may not be empty.
  return field.required || field.minItems === 0 ? said([]) : NOTHING;
}

function readList(field: ListField, entries: readonly Draft[], alone: boolean): Reading {
  const read = entries.map((entry, i) => {
    const item = placed(field.item, [...field.path, i]);
    const { value, problems } = readValue(item, entry);
    if (value !== undefined || problems.length > 0) return { value, problems };
    return wrong(item.path, "is empty: write something, or take the entry away");
  });
  const problems = read.flatMap((one) => one.problems);
  if (problems.length > 0) return { value: undefined, problems };
  return readEntries(
    field,
    read.flatMap(({ value }) => (value === undefined ? [] : [value])),
    alone,
  );
}

function readMap(field: MapField, entries: readonly MapEntry[]): Reading {
  const names = entries.map(({ name }) => name);
  const read = entries.map(({ name, draft }, i) => {
    const entry = placed(field.entry, [...field.path, name]);
    if (name === "") return wrong(field.path, `needs a name for entry ${i + 1}`);
    if (names.indexOf(name) < i) return wrong(entry.path, `is there twice: ${pathText([name])}`);
    const { value, problems } = readValue(entry, draft);
    if (value !== undefined || problems.length > 0) return { value, problems };
    return wrong(entry.path, "is empty: write something, or take the entry away");
  });
  const problems = read.flatMap((one) => one.problems);
  if (problems.length > 0) return { value: undefined, problems };
  return said(Object.fromEntries(read.flatMap(({ value }, i) => pair(names[i], value))));
}

function readGroup(field: GroupField, drafts: Readonly<Record<string, Draft>>, rest: JsonObject): Reading {
  const byKey = new Map(field.fields.map((one) => [String(one.path.at(-1)), one]));
  const read = Object.entries(drafts).flatMap(([key, draft]) => {
    const inner = byKey.get(key);
    return inner ? [{ key, ...readValue(inner, draft) }] : [];
  });
  const problems = read.flatMap((one) => one.problems);
  const value = Object.fromEntries([
    ...read.flatMap(({ key, value: found }) => pair(key, found)),
    ...Object.entries(rest),
  ]);
  return { value, problems };
}

function pair(key: string | undefined, value: Json | undefined): [string, Json][] {
  return key === undefined || value === undefined ? [] : [[key, value]];
}
