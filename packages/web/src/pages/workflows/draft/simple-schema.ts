import type { Json, JsonObject } from "trackside/schema";
import { isObject } from "../../../forms/subschema.ts";

export const FIELD_TYPES = ["text", "number", "whole", "flag", "choice", "texts", "anything"] as const;
export type FieldType = (typeof FIELD_TYPES)[number];

/** A field of an object, as far as a row of a form can say it. */
export interface SimpleField {
  readonly name: string;
  readonly type: FieldType;
  readonly required: boolean;
  readonly description: string;
  /** Of a choice. */
  readonly choices: readonly string[];
}

const TYPES: Readonly<Record<FieldType, JsonObject>> = {
  text: { type: "string" },
  number: { type: "number" },
  whole: { type: "integer" },
  flag: { type: "boolean" },
  choice: { type: "string" },
  texts: { type: "array", items: { type: "string" } },
  anything: {},
};

/** The rows of a schema; undefined where it says more than rows can show, and is edited as JSON. */
export function fieldsOf(schema: JsonObject | null): readonly SimpleField[] | undefined {
  if (schema === null) return [];
  const { type, properties = {}, required = [], additionalProperties, ...rest } = schema;
  if (type !== "object" || !isObject(properties) || !Array.isArray(required)) return undefined;
  if (Object.keys(rest).length > 0 || (additionalProperties !== undefined && additionalProperties !== false))
    return undefined;
  const fields = Object.entries(properties).map(([name, property]) =>
    isObject(property) ? fieldOf(name, property, required.includes(name)) : undefined,
  );
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function fieldOf(name: string, property: JsonObject, required: boolean): SimpleField | undefined {
  const { description = "", ...shape } = property;
  if (typeof description !== "string") return undefined;
  const choices = choicesIn(shape);
  if (choices !== undefined) return { name, type: "choice", required, description, choices };
  const type = FIELD_TYPES.find((one) => JSON.stringify(TYPES[one]) === JSON.stringify(shape));
  return type === undefined ? undefined : { name, type, required, description, choices: [] };
}

function choicesIn({ type, enum: values, ...rest }: JsonObject): readonly string[] | undefined {
  if (type !== "string" || !Array.isArray(values) || Object.keys(rest).length > 0) return undefined;
  return values.every((one): one is string => typeof one === "string") ? values : undefined;
}

/** The schema of rows. No rows are no schema: then anything is allowed. */
export function schemaOf(fields: readonly SimpleField[]): JsonObject | null {
  if (fields.length === 0) return null;
  const properties = fields.map(({ name, type, description, choices }): [string, Json] => [
    name,
    {
      ...TYPES[type],
      ...(type === "choice" && { enum: choices }),
      ...(description !== "" && { description }),
    },
  ]);
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
  };
}
