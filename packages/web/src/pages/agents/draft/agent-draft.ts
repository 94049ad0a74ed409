import type { HookPoint, Json, JsonObject } from "trackside/schema";
import type { Draft, Problem } from "../../../forms/schema-form.ts";
import { isList, isObject, sameJson } from "../../../forms/subschema.ts";
import { CONTRACT_DEFAULTS, DEFAULTS, type FieldName, OWN_DEFAULTS } from "./defaults.ts";

/** A name and what belongs to it, while somebody writes both: names may be empty or the same for a moment. */
export interface Pair {
  readonly id: string;
  readonly name: string;
  readonly value: string;
}

/** Options as they stand in their form. The value beside them is the last one that could be read. */
interface Written {
  readonly draft: Draft;
  readonly problems: readonly Problem[];
}

export interface RailRow {
  readonly id: string;
  readonly ref: JsonObject;
  readonly written?: Written;
}

export type HookPlace = "pre" | "post" | "stream" | HookPoint;

export interface HookRow extends RailRow {
  readonly place: HookPlace;
  /** Hooks of one group run side by side; null alone. Only before an answer. */
  readonly group: string | null;
}

export interface ServerRow {
  readonly id: string;
  readonly ref: JsonObject;
  readonly rename: readonly Pair[];
}

/**
 * A definition while somebody edits it. It holds what is no definition yet (two arguments of one name, JSON with an open
 * bracket) and everything that no control can show, so that whoever opens an agent and saves it has changed nothing.
 */
export interface AgentDraft {
  /** Fields that are edited as they are; and those whose value the form cannot show, or whose name nobody knows. */
  readonly fields: JsonObject;
  readonly injected: readonly Pair[];
  readonly rails: readonly RailRow[];
  readonly hooks: readonly HookRow[];
  readonly servers: readonly ServerRow[];
  /** As it is typed; empty for none. */
  readonly outputSchema: string;
}

/** Something that cannot be read yet, and where. */
export interface Unread {
  readonly path: string;
  readonly message: string;
}

let lastRow = 0;
export function newRowId(): string {
  lastRow += 1;
  return `row-${lastRow}`;
}

export function draftOfDefinition(definition: JsonObject): AgentDraft {
  const fields: Record<string, Json> = { ...definition };
  const take = <T>(name: FieldName, read: (value: Json) => T | undefined, otherwise: T): T => {
    const value = fields[name];
    const found = value === undefined ? undefined : read(value);
    if (found === undefined) return otherwise;
    delete fields[name];
    return found;
  };
  return {
    injected: take("injected_tool_args", readPairs, []),
    rails: take("rails", (value) => readRefs(value)?.map((ref) => ({ id: newRowId(), ref })), []),
    hooks: take("hooks", readHooks, []),
    servers: take("mcp_servers", readServers, []),
    outputSchema: take("output_schema", readOutputSchema, ""),
    fields,
  };
}

function readPairs(value: Json): Pair[] | undefined {
  if (!isObject(value)) return undefined;
  const pairs = Object.entries(value).map(([name, one]) =>
    typeof one === "string" ? { id: newRowId(), name, value: one } : undefined,
  );
  return allOf(pairs);
}

function readRefs(value: Json | undefined): JsonObject[] | undefined {
  return isList(value) ? allOf(value.map((one) => (isObject(one) ? one : undefined))) : undefined;
}

const PLAIN_PLACES = ["post", "stream"] as const;

function readHooks(value: Json): HookRow[] | undefined {
  if (!isObject(value)) return undefined;
  const { pre = [], post = [], stream = [], on = {}, ...rest } = value;
  if (Object.keys(rest).length > 0 || !isObject(on) || !isList(pre)) return undefined;
  const row = (place: HookPlace, group: string | null, ref: Json): HookRow | undefined =>
    isObject(ref) ? { id: newRowId(), place, group, ref } : undefined;
  const plain = (place: HookPlace, refs: Json) =>
    isList(refs) ? refs.map((ref) => row(place, null, ref)) : [undefined];
  return allOf([
    ...pre.flatMap((one) => {
      if (!isObject(one) || !("parallel" in one)) return [row("pre", null, one)];
      if (!isList(one["parallel"]) || one["parallel"].length === 0 || Object.keys(one).length > 1)
        return [undefined];
      const group = newRowId();
      return one["parallel"].map((ref) => row("pre", group, ref));
    }),
    ...plain("post", post),
    ...plain("stream", stream),
    // Its keys are points; the server says so of those that are not.
    ...Object.entries(on).flatMap(([point, refs]) => plain(point as HookPoint, refs)),
  ]);
}

function readServers(value: Json): ServerRow[] | undefined {
  const refs = readRefs(value);
  const servers = refs?.map((ref) => {
    const { rename = {}, ...rest } = ref;
    const pairs = readPairs(rename);
    return pairs && { id: newRowId(), ref: rest, rename: pairs };
  });
  return servers && allOf(servers);
}

function readOutputSchema(value: Json): string | undefined {
  if (value === null) return "";
  return isObject(value) ? JSON.stringify(value, null, 2) : undefined;
}

function allOf<T>(values: readonly (T | undefined)[]): T[] | undefined {
  const there = values.filter((value) => value !== undefined);
  return there.length === values.length ? there : undefined;
}

/** The definition of a draft as `toJSON` writes it (A1), and what of the draft could not be read. */
export function definitionOf(draft: AgentDraft): {
  readonly definition: JsonObject;
  readonly unread: readonly Unread[];
} {
  const unread: Unread[] = [];
  const written = { ...draft.fields, ...rowsOf(draft, unread) };
  const definition: Record<string, Json> = {};
  for (const name of Object.keys(CONTRACT_DEFAULTS))
    definition[name] = written[name] ?? fallback(name, written);
  for (const [name, usual] of Object.entries<Json>(OWN_DEFAULTS)) {
    const value = written[name];
    if (value !== undefined && !sameJson(value, usual)) definition[name] = value;
  }
  for (const [name, value] of Object.entries(written))
    if (!Object.hasOwn(DEFAULTS, name) && value !== undefined) definition[name] = value;
  return { definition, unread };
}

/** Null is a value of some fields, and of the others a problem that is to be told. */
function fallback(name: string, written: JsonObject): Json {
  if (Object.hasOwn(written, name)) return written[name] ?? null;
  return CONTRACT_DEFAULTS[name as keyof typeof CONTRACT_DEFAULTS]; // the loop goes over its keys
}

/** Without rows a field has what stands in `fields`, if anything does: what the form could not show stays. */
function rowsOf(draft: AgentDraft, unread: Unread[]): Record<string, Json> {
  const { injected, rails, hooks, servers, outputSchema } = draft;
  const found: Record<string, Json> = {};
  if (injected.length > 0) found["injected_tool_args"] = objectOf(injected, "injected_tool_args", unread);
  if (rails.length > 0) {
    found["rails"] = rails.map(({ ref }) => ref);
    for (const [at, row] of rails.entries()) tellOptions(row, `rails[${at}]`, unread);
  }
  if (hooks.length > 0) found["hooks"] = hooksOf(hooks, unread);
  if (servers.length > 0)
    found["mcp_servers"] = servers.map(({ ref, rename }, at) =>
      rename.length === 0 ? ref : { ...ref, rename: objectOf(rename, `mcp_servers[${at}].rename`, unread) },
    );
  if (outputSchema.trim() !== "") {
    const read = readJsonObject(outputSchema);
    if ("problem" in read) unread.push({ path: "output_schema", message: read.problem });
    else found["output_schema"] = read.value;
  }
  return found;
}

function objectOf(pairs: readonly Pair[], path: string, unread: Unread[]): JsonObject {
  const found: Record<string, Json> = {};
  pairs.forEach(({ name, value }, at) => {
    if (name === "") {
      if (value !== "") unread.push({ path: `${path}[${at}]`, message: "a name is missing: give it one" });
    } else if (Object.hasOwn(found, name))
      unread.push({ path: `${path}[${at}]`, message: `"${name}" is there twice: each name once` });
    else Object.defineProperty(found, name, { value, enumerable: true, configurable: true, writable: true });
  });
  return found;
}

function tellOptions({ written }: RailRow, path: string, unread: Unread[]): void {
  for (const { path: inner, message } of written?.problems ?? []) {
    const at = inner.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
    unread.push({ path: `${path}.options${at}`, message });
  }
}

/** Where each hook stands in the definition, by its row: `hooks.pre[0].parallel[1]`. */
export function hookPaths(rows: readonly HookRow[]): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  let pre = -1;
  let inGroup = 0;
  let group: string | null = null;
  const counts = new Map<HookPlace, number>();
  for (const row of rows) {
    if (row.place === "pre") {
      if (row.group !== null && row.group === group) inGroup += 1;
      else {
        pre += 1;
        inGroup = 0;
      }
      group = row.group;
      paths.set(row.id, row.group === null ? `hooks.pre[${pre}]` : `hooks.pre[${pre}].parallel[${inGroup}]`);
      continue;
    }
    const n = counts.get(row.place) ?? 0;
    counts.set(row.place, n + 1);
    const isPlain = (PLAIN_PLACES as readonly string[]).includes(row.place); // points are the others
    paths.set(row.id, isPlain ? `hooks.${row.place}[${n}]` : `hooks.on.${row.place}[${n}]`);
  }
  return paths;
}

function hooksOf(rows: readonly HookRow[], unread: Unread[]): JsonObject {
  const pre: Json[] = [];
  const plain: Record<string, Json[]> = {};
  const on: Record<string, Json[]> = {};
  let open: { id: string; refs: Json[] } | undefined;
  const paths = hookPaths(rows);
  for (const row of rows) {
    tellOptions(row, paths.get(row.id) ?? "hooks", unread);
    if (row.place === "pre") {
      if (row.group === null) {
        open = undefined;
        pre.push(row.ref);
      } else if (open?.id === row.group) open.refs.push(row.ref);
      else {
        open = { id: row.group, refs: [row.ref] };
        pre.push({ parallel: open.refs });
      }
    } else {
      const place = row.place === "post" || row.place === "stream" ? plain : on;
      place[row.place] = [...(place[row.place] ?? []), row.ref];
    }
  }
  return {
    ...(pre.length > 0 && { pre }),
    ...plain,
    ...(Object.keys(on).length > 0 && { on }),
  };
}

/** A JSON object from text, or what is wrong with the text. */
export function readJsonObject(text: string): { readonly value: JsonObject } | { readonly problem: string } {
  try {
    const value: Json = JSON.parse(text);
    return isObject(value) ? { value } : { problem: "an object in braces is expected" };
  } catch (error) {
    return { problem: `this is no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
