import type { Json, JsonObject } from "trackside/schema";

/** Something of the shape that a schema asks for, to begin from: its properties with values of their types. */
export function sampleOf(schema: JsonObject, depth = 0): Json {
  const { type, properties, items } = schema;
  const options = schema["enum"];
  if (schema["default"] !== undefined) return schema["default"];
  if (schema["const"] !== undefined) return schema["const"];
  if (Array.isArray(options) && options[0] !== undefined) return options[0];
  switch (Array.isArray(type) ? type[0] : type) {
    case "string":
      return "…";
    case "number":
    case "integer":
      return 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return isJsonObject(items) && depth < DEEP ? [sampleOf(items, depth + 1)] : [];
    default:
      if (!isJsonObject(properties) || depth >= DEEP) return {};
      return Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [
          name,
          isJsonObject(one) ? sampleOf(one, depth + 1) : null,
        ]),
      );
  }
}

/** A schema of a stranger may go on for ever. */
const DEEP = 5;

function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
