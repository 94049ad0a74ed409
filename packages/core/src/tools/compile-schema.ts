import { type Schema as CfSchema, Validator } from "@cfworker/json-schema";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as z from "zod";
import { messageOf } from "../errors.ts";
import { frozenCopy, isJsonObject, type Json, type JsonObject } from "../schema/json.ts";

/** zod, any Standard Schema (with its JSON Schema beside it when it cannot tell it itself), or raw JSON Schema (T1). */
export type SchemaLike = StandardSchemaV1 | JsonObject;

/** What a tool gets for a schema: arguments are always an object. */
export type InferArguments<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : JsonObject;
/** What a schema makes of an answer. */
export type InferOutput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : Json;

export type Checked =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/** A schema made ready once: what the model is shown, and how a value is checked. */
export interface CompiledSchema {
  readonly jsonSchema: JsonObject;
  check(value: unknown): Checked | Promise<Checked>;
}

const MAX_PROBLEMS = 5;

/** Compiles a schema, or throws with what is wrong with it. `jsonSchema` is for those that cannot describe themselves. */
export function compileSchema(schema: SchemaLike, jsonSchema?: JsonObject): CompiledSchema {
  if (!isStandard(schema)) return Object.freeze(rawSchema(schema));
  return Object.freeze(isZod(schema) ? zodSchema(schema, jsonSchema) : standardSchema(schema, jsonSchema));
}

export function isStandard(schema: unknown): schema is StandardSchemaV1 {
  const canBe = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  return canBe && "~standard" in schema;
}

function isZod(schema: StandardSchemaV1): schema is z.ZodType & StandardSchemaV1 {
  return schema["~standard"].vendor === "zod" && "_zod" in schema;
}

function zodSchema(schema: z.ZodType, given?: JsonObject): CompiledSchema {
  let derived = given && jsonOf(given);
  return {
    get jsonSchema() {
      // Derived when first asked for and kept: it is the costliest part of a tool.
      derived ??= jsonOf(z.toJSONSchema(schema, { io: "input", target: "draft-7" }));
      return derived;
    },
    check: zodCheck(schema),
  };
}

/**
 * Checks with zod, at once where that is possible. A schema tells only when it runs whether it is asynchronous, and one
 * that is found to be so half way has already begun what nobody then waits for: so it is run as one that may be until a
 * value has passed without a wait.
 */
function zodCheck(schema: z.ZodType): CompiledSchema["check"] {
  let synchronous = false;
  let never = false;
  const slow = (value: unknown): Checked | Promise<Checked> => {
    const run = schema._zod.run({ value, issues: [] }, { async: true });
    if (run instanceof Promise) return run.then(readPayload, broken);
    synchronous = !never && run.issues.length === 0;
    return readPayload(run);
  };
  return (value) => {
    try {
      return synchronous ? readZod(schema.safeParse(detached(value))) : slow(detached(value));
    } catch (error) {
      if (!(error instanceof z.core.$ZodAsyncError)) return broken(error);
      // It waits only for some values, and this is one.
      never = true;
      synchronous = false;
      return slow(detached(value));
    }
  };
}

function readPayload(payload: z.core.ParsePayload): Checked {
  if (payload.issues.length === 0) return { ok: true, value: payload.value };
  const found = payload.issues.map((raw) => z.core.util.finalizeIssue(raw, { async: true }, z.core.config()));
  return {
    ok: false,
    problem: listed(found.map(({ path, message }) => ({ path: path.map(String), message }))),
  };
}

function readZod(found: z.ZodSafeParseResult<unknown>): Checked {
  if (found.success) return { ok: true, value: found.data };
  const problems = found.error.issues.map(({ path, message }) => ({ path: path.map(String), message }));
  return { ok: false, problem: listed(problems) };
}

function standardSchema(schema: StandardSchemaV1, given?: JsonObject): CompiledSchema {
  const own = schema["~standard"];
  if (typeof own.validate !== "function") throw new TypeError("a Standard Schema with `validate`");
  const described = given ?? describeItself(own);
  if (described === undefined) {
    throw new TypeError(
      `a schema that can describe itself as JSON Schema (${own.vendor} cannot), or \`jsonSchema\` beside it`,
    );
  }
  return {
    jsonSchema: jsonOf(described),
    check: (value) => {
      try {
        const found = own.validate(detached(value));
        return isThenable(found)
          ? Promise.resolve(found).then(readStandard).catch(broken)
          : readStandard(found);
      } catch (error) {
        return broken(error);
      }
    },
  };
}

function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return typeof value === "object" && value !== null && "then" in value;
}

function readStandard(found: StandardSchemaV1.Result<unknown>): Checked {
  if (found.issues === undefined) return { ok: true, value: found.value };
  const problems = found.issues.map(({ path, message }) => ({ path: pathOf(path), message }));
  return { ok: false, problem: listed(problems) };
}

/** Standard JSON Schema, an addition to Standard Schema that newer libraries carry. */
function describeItself(own: StandardSchemaV1.Props): JsonObject | undefined {
  const describer = (own as { jsonSchema?: { input?: (options: { target: string }) => JsonObject } })
    .jsonSchema; // optional addition
  return describer?.input?.({ target: "draft-07" });
}

function rawSchema(schema: JsonObject): CompiledSchema {
  const jsonSchema = jsonOf(schema);
  // The checker writes marks into what it is given, so it gets a copy; its own type lists keywords one by one.
  const validator = new Validator(JSON.parse(JSON.stringify(jsonSchema)) as CfSchema, "2020-12", false);
  return {
    jsonSchema,
    check(value) {
      try {
        const found = validator.validate(value);
        if (found.valid) return { ok: true, value: detached(value) };
        const problems = found.errors.map((e) => ({
          path: e.instanceLocation.split("/").slice(1),
          message: e.error,
        }));
        return { ok: false, problem: listed(problems) };
      } catch (error) {
        return broken(error);
      }
    },
  };
}

/** A schema that cannot judge a value has not accepted it. */
function broken(error: unknown): Checked {
  return { ok: false, problem: `its schema failed to check it (${messageOf(error)})` };
}

/** What was checked goes to code that may change it, while the log keeps what the model wrote. */
function detached(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(detached);
  const copy: Record<string, unknown> = { ...value };
  for (const key of Object.keys(copy)) copy[key] = detached(copy[key]);
  return copy;
}

/** JSON Schema of one's own, which nobody can change any more. */
function jsonOf(schema: unknown): JsonObject {
  if (!isJsonObject(schema))
    throw new TypeError("zod, a Standard Schema, or a JSON Schema (an object, JSON all through)");
  return frozenCopy(schema);
}

function pathOf(path: StandardSchemaV1.Issue["path"]): string[] {
  return (path ?? []).map((segment) => String(typeof segment === "object" ? segment.key : segment));
}

function listed(problems: readonly { path: readonly string[]; message: string }[]): string {
  const shown = problems
    .slice(0, MAX_PROBLEMS)
    .map((p) => (p.path.length > 0 ? `${p.path.join(".")}: ${p.message}` : p.message));
  const rest = problems.length - shown.length;
  return shown.join("; ") + (rest > 0 ? `; and ${rest} more` : "");
}
