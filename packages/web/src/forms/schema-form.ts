import type { Json, JsonObject } from "trackside/schema";
import type { Choice, Field, JsonField } from "./field.ts";
import type { Path } from "./path.ts";
import {
  isList,
  isObject,
  numberIn,
  objectIn,
  resolved,
  sameJson,
  schemasIn,
  textIn,
  textsIn,
} from "./subschema.ts";

export { type Draft, draftOf, type MapEntry, readValue, typedText, UNSAID } from "./draft.ts";
export { type Choice, type Field, placed } from "./field.ts";
export { type Path, pathText, readPath, samePath } from "./path.ts";
export { type Problem, problemsOf } from "./problems.ts";

/**
 * The form of a JSON Schema. What it cannot show as fields becomes a `json` field, never less: nothing that the schema
 * allows is out of reach.
 *
 * @example
 * const form = formOf(rail.options); // a group with a field for each option
 * const draft = draftOf(form, agent.rails[0].options);
 * const { value, problems } = readValue(form, draft);
 */
export function formOf(schema: JsonObject): Field {
  return fieldOf(schema, { root: schema, path: [], required: true, within: [] });
}

interface Place {
  readonly root: JsonObject;
  readonly path: Path;
  readonly required: boolean;
  /** The schemas it stands in, so that one that holds itself is noticed. */
  readonly within: readonly JsonObject[];
}

type Common = Omit<JsonField, "kind">;

function fieldOf(given: JsonObject, place: Place): Field {
  const plain = resolved(given, place.root);
  if (plain === undefined || place.within.includes(given)) return { ...commonOf(given, place), kind: "json" };
  const { schema, nullable } = withoutNull(plain, place.root);
  const common = { ...commonOf(plain, place), nullable };
  const inside = { ...place, within: [...place.within, given] };
  return (
    choiceField(schema, common) ??
    switchField(schema, common) ??
    textField(schema, common) ??
    numberField(schema, common) ??
    listField(schema, common, inside) ??
    objectField(schema, common, inside) ?? { ...common, kind: "json" }
  );
}

function commonOf(schema: JsonObject, { path, required }: Place): Common {
  return {
    path,
    label: textIn(schema, "title") ?? labelOf(path.findLast((key) => key !== "*") ?? ""),
    description: textIn(schema, "description"),
    required,
    nullable: false,
    default: schema["default"],
    schema,
  };
}

/** "maxWaitSeconds" and "max_wait_seconds" are both "Max wait seconds". */
function labelOf(key: string | number): string {
  const words = String(key)
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .split(/[\s_-]+/)
    .filter((word) => word !== "")
    .map((word) => (/^[A-Z0-9]{2,}$/.test(word) ? word : word.toLowerCase()))
    .join(" ");
  return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Null is said by leaving a field empty, so it is no form of its own. */
function withoutNull(schema: JsonObject, root: JsonObject): { schema: JsonObject; nullable: boolean } {
  const types = textsIn(schema, "type");
  if (types.length === 2 && types.includes("null")) {
    const [type = ""] = types.filter((one) => one !== "null");
    return { schema: { ...schema, type }, nullable: true };
  }
  for (const keyword of ["anyOf", "oneOf"]) {
    const forms = schemasIn(schema, keyword);
    const others = forms.filter((form) => resolved(form, root)?.["type"] !== "null");
    const [only] = others;
    if (forms.length === 2 && others.length === 1 && only !== undefined) {
      const { [keyword]: _, ...beside } = schema;
      return { schema: { ...resolved(only, root), ...beside }, nullable: true };
    }
  }
  return { schema, nullable: false };
}

/** Values to choose one of: `enum`, or forms that are a constant each. */
function choicesOf(schema: JsonObject): readonly Choice[] | undefined {
  const values = schema["enum"];
  if (isList(values) && values.length > 0)
    return values.map((value) => ({ value, label: shown(value), description: undefined }));
  if (Object.hasOwn(schema, "const")) return [constantOf(schema)];
  for (const keyword of ["oneOf", "anyOf"]) {
    const forms = schemasIn(schema, keyword);
    if (forms.length > 0 && forms.every((form) => Object.hasOwn(form, "const"))) return forms.map(constantOf);
  }
  return undefined;
}

function constantOf(schema: JsonObject): Choice {
  const value = schema["const"] ?? null;
  return {
    value,
    label: textIn(schema, "title") ?? shown(value),
    description: textIn(schema, "description"),
  };
}

function shown(value: Json): string {
  return typeof value === "string" && value !== "" ? value : JSON.stringify(value);
}

function choiceField(schema: JsonObject, common: Common): Field | undefined {
  const choices = choicesOf(schema);
  if (choices === undefined) return undefined;
  const values = choices.map(({ value }) => value);
  if (values.every((value) => typeof value === "boolean")) {
    const only = values.length === 1 ? values[0] : undefined;
    return { ...common, kind: "switch", only };
  }
  return { ...common, kind: "select", choices };
}

function switchField(schema: JsonObject, common: Common): Field | undefined {
  return schema["type"] === "boolean" ? { ...common, kind: "switch", only: undefined } : undefined;
}

/** What people write sentences in. */
const LONG_KEYS = /(?:prompt|instructions|message|question|system|description|feedback|text|body|content)$/i;
const LONG = 80;

function textField(schema: JsonObject, common: Common): Field | undefined {
  if (schema["type"] !== "string") return undefined;
  const { default: value, path } = common;
  const format = textIn(schema, "format");
  const long =
    format === "multiline" ||
    (typeof value === "string" && (value.includes("\n") || value.length > LONG)) ||
    (format === undefined && LONG_KEYS.test(String(path.at(-1) ?? "")));
  return {
    ...common,
    kind: long ? "multiline" : "text",
    minLength: numberIn(schema, "minLength"),
    maxLength: numberIn(schema, "maxLength"),
    pattern: textIn(schema, "pattern"),
    format,
  };
}

function numberField(schema: JsonObject, common: Common): Field | undefined {
  const integer = schema["type"] === "integer";
  if (!integer && schema["type"] !== "number") return undefined;
  return {
    ...common,
    kind: "number",
    integer,
    minimum: bound(numberIn(schema, "minimum") ?? numberIn(schema, "exclusiveMinimum")),
    maximum: bound(numberIn(schema, "maximum") ?? numberIn(schema, "exclusiveMaximum")),
    step: numberIn(schema, "multipleOf") ?? (integer ? 1 : "any"),
  };
}

/** Schemas made by machines write out what any whole number keeps to. */
function bound(limit: number | undefined): number | undefined {
  return limit !== undefined && Math.abs(limit) < Number.MAX_SAFE_INTEGER ? limit : undefined;
}

function listField(schema: JsonObject, common: Common, place: Place): Field | undefined {
  const { list, alone } = listForm(schema, place.root);
  const items = list && objectIn(list, "items");
  if (list === undefined || items === undefined || Object.hasOwn(list, "prefixItems")) return undefined;
  const item = fieldOf(items, { ...place, path: [...place.path, "*"], required: true });
  const counted = {
    ...common,
    minItems: numberIn(list, "minItems") ?? 0,
    maxItems: numberIn(list, "maxItems"),
    alone,
  };
  if (item.kind === "select" && !item.nullable)
    return { ...counted, kind: "multi-select", choices: item.choices };
  return { ...counted, kind: "list", item };
}

/** A list, or a list whose only entry may stand alone: `anyOf: [X, a list of X]`. */
function listForm(schema: JsonObject, root: JsonObject): { list?: JsonObject; alone: boolean } {
  if (schema["type"] === "array") return { list: schema, alone: false };
  const forms = [...schemasIn(schema, "anyOf"), ...schemasIn(schema, "oneOf")].map((one) =>
    resolved(one, root),
  );
  if (forms.length !== 2) return { alone: false };
  const list = forms.find((one) => one?.["type"] === "array");
  const other = forms.find((one) => one !== list);
  return list !== undefined && sameJson(list["items"], other) ? { list, alone: true } : { alone: false };
}

function objectField(schema: JsonObject, common: Common, place: Place): Field | undefined {
  const properties = objectIn(schema, "properties") ?? {};
  if (schema["type"] !== "object" && Object.keys(properties).length === 0) return undefined;
  if (Object.hasOwn(schema, "patternProperties")) return undefined;
  const others = objectIn(schema, "additionalProperties");
  if (Object.keys(properties).length === 0) return others && mapField(others, schema, common, place);
  if (others !== undefined) return undefined; // named fields and free ones, together
  const required = textsIn(schema, "required");
  const fields = Object.entries(properties).flatMap(([key, property]) => {
    if (property === false) return [];
    const at = { ...place, path: [...place.path, key], required: required.includes(key) };
    return [fieldOf(isObject(property) ? property : {}, at)];
  });
  return { ...common, kind: "group", fields };
}

function mapField(others: JsonObject, schema: JsonObject, common: Common, place: Place): Field {
  const names = objectIn(schema, "propertyNames") ?? {};
  return {
    ...common,
    kind: "map",
    nameDescription: textIn(names, "description"),
    namePattern: textIn(names, "pattern"),
    entry: fieldOf(others, { ...place, path: [...place.path, "*"], required: true }),
  };
}
