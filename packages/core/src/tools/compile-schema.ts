import { type Schema as CfSchema, Validator } from "@cfworker/json-schema";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as z from "zod";
import { frozenCopy, type Json, type JsonObject } from "../schema/json.ts";

/** zod, any Standard Schema (with its JSON Schema beside it when it cannot tell it itself), or raw JSON Schema (T1). */
export type SchemaLike = StandardSchemaV1 | JsonObject;

export type InferInput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : JsonObject;
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

/** Compiles a schema, or says why it cannot be used. */
export function compileSchema(schema: SchemaLike, jsonSchema?: JsonObject): CompiledSchema {
  if (isZod(schema)) return zodSchema(schema);
  if (isStandard(schema)) return standardSchema(schema, jsonSchema);
  return rawSchema(schema);
}

function isStandard(schema: SchemaLike): schema is StandardSchemaV1 {
  return "~standard" in schema;
}

function isZod(schema: SchemaLike): schema is z.ZodType & StandardSchemaV1 {
  return isStandard(schema) && schema["~standard"].vendor === "zod" && "_zod" in schema;
}

function zodSchema(schema: z.ZodType): CompiledSchema {
  let derived: JsonObject | undefined;
  return {
    get jsonSchema() {
      // Derived when first asked for and kept: it is the costliest part of a tool. zod's own type for it is wider.
      derived ??= Object.freeze(z.toJSONSchema(schema, { io: "input", target: "draft-7" })) as JsonObject;
      return derived;
    },
    check(value) {
      try {
        const found = schema.safeParse(value);
        return found.success
          ? { ok: true, value: found.data }
          : { ok: false, problem: zodProblem(found.error) };
      } catch (error) {
        if (!(error instanceof z.core.$ZodAsyncError)) throw error;
        return schema
          .safeParseAsync(value)
          .then((found) =>
            found.success ? { ok: true, value: found.data } : { ok: false, problem: zodProblem(found.error) },
          );
      }
    },
  };
}

function zodProblem(error: z.ZodError): string {
  return listed(error.issues.map((found) => ({ path: found.path.map(String), message: found.message })));
}

function standardSchema(schema: StandardSchemaV1, given?: JsonObject): CompiledSchema {
  const own = schema["~standard"];
  const jsonSchema = given ?? describeItself(own);
  if (jsonSchema === undefined) {
    throw new TypeError(
      `a ${own.vendor} schema that cannot describe itself as JSON Schema: pass \`jsonSchema\` beside it`,
    );
  }
  const read = (found: StandardSchemaV1.Result<unknown>): Checked =>
    found.issues === undefined
      ? { ok: true, value: found.value }
      : {
          ok: false,
          problem: listed(found.issues.map((i) => ({ path: pathOf(i.path), message: i.message }))),
        };
  return {
    jsonSchema,
    check(value) {
      const found = own.validate(value);
      return found instanceof Promise ? found.then(read) : read(found);
    },
  };
}

/** Standard JSON Schema, an addition to Standard Schema that newer libraries carry. */
function describeItself(own: StandardSchemaV1.Props): JsonObject | undefined {
  const describer = (own as { jsonSchema?: { input?: (options: { target: string }) => JsonObject } })
    .jsonSchema; // optional addition
  return describer?.input?.({ target: "draft-07" });
}

function rawSchema(schema: JsonObject): CompiledSchema {
  // The checker writes marks into what it is given, so it gets a copy; its own type lists keywords one by one.
  const validator = new Validator(JSON.parse(JSON.stringify(schema)) as CfSchema, "2020-12", false);
  return {
    jsonSchema: frozenCopy(schema),
    check(value) {
      const found = validator.validate(value);
      if (found.valid) return { ok: true, value };
      const problems = found.errors.map((e) => ({
        path: e.instanceLocation.split("/").slice(1),
        message: e.error,
      }));
      return { ok: false, problem: listed(problems) };
    },
  };
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
