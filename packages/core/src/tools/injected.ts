import type { Json, JsonObject } from "../schema/json.ts";

/** Arguments that every tool seems to take and none gets: names and what each is for (T3). */
export type InjectedArguments = Readonly<Record<string, string>>;

/**
 * A tool's schema as the model sees it, with the injected arguments as optional strings. A copy: the tool's own schema is
 * never touched. Providers that want every property required get them required and nullable.
 */
export function withInjected(schema: JsonObject, injected: InjectedArguments, strict: boolean): JsonObject {
  const names = Object.keys(injected);
  if (names.length === 0) return schema;
  const type = strict ? ["string", "null"] : "string";
  const added = names.map((name) => [name, { type, description: injected[name] ?? "" }] as const);
  const { properties, required } = schema;
  const own = isObject(properties) ? properties : {};
  const needed = Array.isArray(required) ? required : [];
  return {
    ...schema,
    type: "object",
    properties: { ...own, ...Object.fromEntries(added) },
    ...(strict ? { required: [...needed, ...names] } : {}),
  };
}

/** What the model wrote, apart: what the tool runs with, and what was injected. A null says nothing and is dropped. */
export function splitInjected(
  written: JsonObject,
  injected: InjectedArguments,
): { arguments: JsonObject; injected: Readonly<Record<string, Json>> | undefined } {
  const names = Object.keys(injected).filter((name) => Object.hasOwn(written, name));
  if (names.length === 0) return { arguments: written, injected: undefined };
  const own: Record<string, Json> = {};
  const apart: Record<string, Json> = {};
  for (const [name, value] of Object.entries(written)) {
    if (!names.includes(name)) own[name] = value;
    else if (value !== null) apart[name] = value;
  }
  return { arguments: own, injected: Object.keys(apart).length > 0 ? apart : undefined };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
