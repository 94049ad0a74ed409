import type { LanguageModel } from "./local/bound-agent.ts";
import type { AgentDefinitionInput } from "./schema/agent.ts";
import type { SchemaLike } from "./tools/compile-schema.ts";
import type { Tool } from "./tools/define-tool.ts";

type CamelKey<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelKey<Tail>>}`
  : S;

/** Keys in camelCase, at every level but inside `options`, `env`, `headers`, `rename` and schemas. */
type Camel<T> = T extends readonly (infer Item)[]
  ? readonly Camel<Item>[]
  : T extends object
    ? { [K in keyof T as K extends string ? CamelKey<K> : K]: K extends OpaqueKey ? T[K] : Camel<T[K]> }
    : T;
type OpaqueKey = "options" | "env" | "headers" | "rename" | "on";

type Replaced = "model" | "tools" | "fallbackModels" | "outputSchema" | "injectedToolArgs";

/** An agent in code. Field for field the definition, in camelCase, with the things themselves where JSON has names. */
export type AgentConfig<Tools extends readonly (Tool | string)[], Output extends SchemaLike> = Omit<
  Camel<AgentDefinitionInput>,
  Replaced
> & {
  /** `provider:model`, or a model object of an AI SDK provider package. */
  readonly model: string | LanguageModel;
  /** Tools, or names of tools in the registry. */
  readonly tools?: Tools;
  /** Tried in order when the model keeps failing. */
  readonly fallbackModels?: readonly (string | LanguageModel)[];
  /** The shape of the final answer: zod, Standard Schema or JSON Schema. */
  readonly outputSchema?: Output;
  /** Arguments added to the schema of every tool, with their descriptions; never passed to a tool. */
  readonly injectedToolArgs?: Readonly<Record<string, string>>;
};

/** Fields whose entries are plain data with keys of ours. Everything else is a value, or keyed by the user. */
const NESTED = new Set(["rails", "hooks", "mcp_servers"]);
/** Below those, what belongs to the user. */
const OPAQUE = new Set(["options", "env", "headers", "rename", "on"]);

export function toCamelPath(path: string): string {
  return path.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The definition's spelling of a config in code. Values stay what they are. */
export function toSnake(config: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return mapKeys(config, (key, value) => (NESTED.has(key) ? nestedToSnake(value) : value));
}

function nestedToSnake(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(nestedToSnake);
  if (typeof value !== "object" || value === null) return value;
  return mapKeys(value, (key, inner) => (OPAQUE.has(key) ? inner : nestedToSnake(inner)));
}

function mapKeys(value: object, entry: (key: string, inner: unknown) => unknown): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    const snake = key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    // Defined, not assigned: a key may be `__proto__`.
    const made = { value: entry(snake, inner), enumerable: true, writable: true, configurable: true };
    Object.defineProperty(out, snake, made);
  }
  return out;
}
