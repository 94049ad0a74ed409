import { AgentConfigError, messageOf } from "../errors.ts";
import { isJsonObject, type Json, type JsonObject } from "../schema/json.ts";
import { preview } from "../schema/preview.ts";
import { type ConfigIssue, issue, unknownKey } from "../schema/problems.ts";
import type { Scope } from "../schema/run.ts";
import { isThenable } from "../schema/thenable.ts";
import type { ToolDescriptor, ToolEffect } from "../schema/tool.ts";
import {
  type CompiledSchema,
  compileSchema,
  type InferArguments,
  isStandard,
  type SchemaLike,
} from "./compile-schema.ts";

/** What a tool is given beside its arguments. */
export interface ToolContext {
  readonly scope: Scope;
  readonly turnRef: string;
  readonly runId: string;
  readonly callId: string;
  /** The same for every attempt at this call: pass it to services that can recognise a repeated request. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** Aborted on cancel, timeout, and when a sibling's failure stops the batch. */
  readonly signal: AbortSignal;
  /** Shows progress to whoever watches the run. Never stored, never sent to the model. */
  progress(update: { progress: number; total?: number; message?: string }): void;
  /** What a tool returned when it last succeeded in this conversation, as it is in the log; undefined if it never did. */
  last(tool: string): Json | undefined;
  /** Asks the person behind the run, and waits for the answer as long as an approval waits. */
  elicit(request: ElicitRequest): Promise<ElicitAnswer>;
}

/** A question to the person behind a run, with the schema of the answer. */
export interface ElicitRequest {
  readonly message: string;
  readonly schema: JsonObject;
}

export type ElicitAnswer =
  | { readonly action: "accept"; readonly content: JsonObject }
  | { readonly action: "decline" | "cancel" };

export interface ToolConfig<Name extends string, Input extends SchemaLike, Output> {
  readonly name: Name;
  readonly description?: string;
  /** zod, any Standard Schema, or raw JSON Schema. Left out: a tool without arguments. */
  readonly input?: Input;
  /** JSON Schema for `input`, for Standard Schema libraries that cannot describe themselves. */
  readonly jsonSchema?: JsonObject;
  /** What `execute` returns; checked, and for client tools what the client must send. */
  readonly output?: SchemaLike;
  readonly execute?: (args: InferArguments<Input>, context: ToolContext) => Output | Promise<Output>;
  /** Who runs it: we do (`server`), or a client supplies the result (`client`, no `execute`). */
  readonly executor?: "server" | "client";
  /** What a second execution would do to the world: nothing, nothing new, or something twice (default). */
  readonly effect?: ToolEffect;
  /** What happens when a crash leaves the outcome of a `once` tool unknown. */
  readonly onUnknown?: "ask" | "fail";
  readonly timeoutMs?: number;
  /** Never runs beside another call. */
  readonly exclusive?: boolean;
  /** Calls with the same key run one after another. */
  readonly resourceKey?: string | ((args: InferArguments<Input>) => string | undefined);
  /** Whether sub-agents may have it. */
  readonly childSafe?: boolean;
  /** What it does cannot be taken back: no inbox lets a call of it be decided by a single key. */
  readonly irreversible?: boolean;
}

/** A tool, checked and ready. Immutable; make one with `defineTool`. */
export interface Tool<Name extends string = string, Output = unknown> {
  readonly name: Name;
  readonly description: string;
  readonly input: CompiledSchema;
  readonly output: CompiledSchema | null;
  readonly executor: "server" | "client";
  readonly effect: ToolEffect;
  readonly onUnknown: "ask" | "fail";
  readonly timeoutMs: number | null;
  readonly exclusive: boolean;
  readonly childSafe: boolean;
  readonly irreversible: boolean;
  /** The server it belongs to, if it is not ours: what it returns is a stranger's word. */
  readonly server: ToolServer | null;
  /** Whether calls of it may have to wait for one another. */
  readonly sharesResource: boolean;
  resourceOf(args: unknown): string | undefined;
  run(args: unknown, context: ToolContext): Output | Promise<Output>;
}

export interface ToolServer {
  readonly name: string;
  /** Its operator is trusted: what it says about its own tools counts. */
  readonly trusted: boolean;
}

const KEYS = [
  "name",
  "description",
  "input",
  "jsonSchema",
  "output",
  "execute",
  "executor",
  "effect",
  "onUnknown",
  "timeoutMs",
  "exclusive",
  "resourceKey",
  "childSafe",
  "irreversible",
];

/** Timers count no further; a longer one would fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const NO_ARGUMENTS: JsonObject = Object.freeze({
  type: "object",
  properties: {},
  additionalProperties: false,
});

/**
 * Defines a tool. The types of `execute`'s arguments and of its result follow from the schemas.
 *
 * @example
 * const add = defineTool({
 *   name: "add",
 *   description: "Adds two numbers",
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => a + b,
 * });
 */
export function defineTool<const Name extends string, const Input extends SchemaLike, Output = Json>(
  config: ToolConfig<Name, Input, Output>,
): Tool<Name, Output> {
  return makeTool(config, null);
}

/** Defines a tool of a server: the same, with where it comes from. */
export function defineServerTool(config: ToolConfig<string, JsonObject, unknown>, server: ToolServer): Tool {
  return makeTool(config, Object.freeze({ ...server }));
}

/** Defines a tool that the client of a request runs, by a schema that was read as a stranger's. */
export function defineClientTool(name: unknown, description: string, input: CompiledSchema): Tool {
  const config = { name: name as string, description, executor: "client", childSafe: false } as const; // checked with the rest
  return makeTool(config, null, input);
}

function makeTool<const Name extends string, const Input extends SchemaLike, Output = Json>(
  config: ToolConfig<Name, Input, Output>,
  server: ToolServer | null,
  read?: CompiledSchema,
): Tool<Name, Output> {
  if (typeof config !== "object" || config === null)
    throw new AgentConfigError("the tool", [issue("(root)", config, "an object with `name` and `execute`")]);
  const issues: ConfigIssue[] = [];
  const { input: schema = NO_ARGUMENTS, jsonSchema, execute, resourceKey } = config;
  const input = read ?? compiled("input", schema, isJsonObject(jsonSchema) ? jsonSchema : undefined, issues);
  const output = config.output === undefined ? null : compiled("output", config.output, undefined, issues);
  issues.push(...problemsOf(config, input));
  if (issues.length > 0 || input === null) {
    throw new AgentConfigError(
      typeof config.name === "string" ? `tool ${preview(config.name)}` : "the tool",
      issues,
    );
  }

  // Arguments reach these functions only after `input` has checked them, which is what makes the casts true.
  const resourceOf = (args: unknown): string | undefined => {
    if (typeof resourceKey !== "function") return resourceKey;
    const key: unknown = resourceKey(args as InferArguments<Input>);
    if (key === undefined || typeof key === "string") return key;
    throw new TypeError(`resourceKey returned ${preview(key)}; return a string, or undefined for none`);
  };
  const tool = Object.freeze({
    name: config.name,
    description: config.description ?? "",
    input,
    output,
    executor: config.executor ?? "server",
    effect: config.effect ?? "once",
    onUnknown: config.onUnknown ?? "ask",
    timeoutMs: config.timeoutMs ?? null,
    exclusive: config.exclusive ?? false,
    childSafe: config.childSafe ?? true,
    irreversible: config.irreversible ?? false,
    server,
    sharesResource: resourceKey !== undefined,
    resourceOf(args: unknown) {
      try {
        return resourceOf(args);
      } catch {
        return undefined; // the call is about to fail for it in `run`
      }
    },
    run(args: unknown, context: ToolContext) {
      if (execute === undefined) throw new TypeError(`the tool "${config.name}" is run by a client`);
      if (resourceKey !== undefined) resourceOf(args);
      const returned = execute(args as InferArguments<Input>, context);
      return isThenable(returned) ? Promise.resolve(returned) : returned;
    },
  });
  made.add(tool);
  return tool;
}

const made = new WeakSet<object>();

export function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && made.has(value);
}

/** A tool as it is written down. */
export function describeTool(tool: Tool): ToolDescriptor {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: tool.input.jsonSchema,
    output_schema: tool.output?.jsonSchema ?? null,
    executor: tool.executor,
    effect: tool.effect,
    on_unknown: tool.onUnknown,
    timeout_ms: tool.timeoutMs,
    exclusive: tool.exclusive,
    child_safe: tool.childSafe,
    ...(tool.irreversible ? { irreversible: true as const } : {}),
  };
}

function compiled(path: string, schema: SchemaLike, json: JsonObject | undefined, issues: ConfigIssue[]) {
  try {
    const found = compileSchema(schema, json);
    return found.jsonSchema ? found : null; // derived here, so that a schema with no JSON form fails here
  } catch (error) {
    issues.push(issue(path, schema, messageOf(error)));
    return null;
  }
}

function problemsOf(
  config: ToolConfig<string, SchemaLike, unknown>,
  input: CompiledSchema | null,
): ConfigIssue[] {
  const issues: ConfigIssue[] = [];
  for (const key of Object.keys(config)) if (!KEYS.includes(key)) issues.push(unknownKey(key, key, KEYS));
  const allow = (ok: boolean, path: string, given: unknown, allowed: string) => {
    if (!ok) issues.push(issue(path, given, allowed));
  };
  const optional = (value: unknown, type: string) => value === undefined || typeof value === type;
  const { name, executor, effect, onUnknown, timeoutMs, resourceKey } = config;
  allow(
    typeof name === "string" && /^[A-Za-z0-9_-]{1,64}$/.test(name),
    "name",
    name,
    "1 to 64 letters, digits, '_' or '-'",
  );
  allow(optional(config.description, "string"), "description", config.description, "a string");
  allow([undefined, "server", "client"].includes(executor), "executor", executor, '"server" or "client"');
  allow(
    [undefined, "none", "idempotent", "once"].includes(effect),
    "effect",
    effect,
    '"none", "idempotent" or "once"',
  );
  allow([undefined, "ask", "fail"].includes(onUnknown), "onUnknown", onUnknown, '"ask" or "fail"');
  allow(
    timeoutMs === undefined ||
      (typeof timeoutMs === "number" && timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS),
    "timeoutMs",
    timeoutMs,
    `a number of milliseconds above 0, at most ${MAX_TIMEOUT_MS}`,
  );
  allow(optional(config.exclusive, "boolean"), "exclusive", config.exclusive, "a boolean");
  allow(optional(config.childSafe, "boolean"), "childSafe", config.childSafe, "a boolean");
  allow(optional(config.irreversible, "boolean"), "irreversible", config.irreversible, "a boolean");
  allow(
    optional(resourceKey, "string") || typeof resourceKey === "function",
    "resourceKey",
    resourceKey,
    "a string or a function",
  );
  if (executor === "client") {
    allow(
      config.execute === undefined,
      "execute",
      config.execute,
      "nothing: a client tool is run by the client",
    );
  } else {
    allow(typeof config.execute === "function", "execute", config.execute, "a function");
  }
  if (config.jsonSchema !== undefined) {
    allow(isJsonObject(config.jsonSchema), "jsonSchema", config.jsonSchema, "a JSON Schema object");
    allow(
      isStandard(config.input),
      "jsonSchema",
      config.jsonSchema,
      "nothing, unless `input` is a schema of another kind",
    );
  }
  const type = input?.jsonSchema["type"];
  if (input) allow(type === "object" || type === undefined, "input", type, "a schema of an object");
  return issues;
}
