import type { StreamHook } from "./bind-guards.ts";
import type { Hook } from "./hooks/hook-manager.ts";
import type { ParallelGroup, PostHook, PreHook } from "./hooks/pipeline-hooks.ts";
import type { AgentBinding, LanguageModel } from "./local/bound-agent.ts";
import type { Rail } from "./rails/rail.ts";
import type { AgentDefinitionInput } from "./schema/agent.ts";
import type { HookPoint } from "./schema/points.ts";
import type { SchemaLike } from "./tools/compile-schema.ts";
import type { Tool } from "./tools/define-tool.ts";

type CamelKey<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelKey<Tail>>}`
  : S;

/** Keys in camelCase, at every level but inside what belongs to the user; those of `on` are points. */
type Camel<T> = T extends readonly (infer Item)[]
  ? readonly Camel<Item>[]
  : T extends object
    ? { [K in keyof T as K extends string ? CamelKey<K> : K]: CamelField<K, T[K]> }
    : T;
type CamelField<K, V> = K extends "options" | "env" | "headers" | "rename"
  ? V
  : K extends "on"
    ? CamelValues<V>
    : Camel<V>;
type CamelValues<V> = { [K in keyof V]: Camel<V[K]> };

type Replaced =
  | "model"
  | "planningModel"
  | "handoffs"
  | "tools"
  | "fallbackModels"
  | "outputSchema"
  | "injectedToolArgs"
  | "rails"
  | "hooks";
type Written = Camel<AgentDefinitionInput>;
type HooksWritten = NonNullable<Written["hooks"]>;
type Ref = NonNullable<HooksWritten["post"]>[number];

/** An agent in code. Field for field the definition, in camelCase, with the things themselves where JSON has names. */
export type AgentConfig<Tools extends readonly (Tool | string)[], Output extends SchemaLike> = Omit<
  Written,
  Replaced
> & {
  /** `provider:model`, or a model object of an AI SDK provider package. */
  readonly model: string | LanguageModel;
  /** The model of the planning phase; left out it is the agent's own. */
  readonly planningModel?: string | LanguageModel | null;
  /** Agents it may hand a turn to, or their names. */
  readonly handoffs?: readonly (AgentBinding | string)[];
  /** Tools, or names of tools in the registry. */
  readonly tools?: Tools;
  /** Tried in order when the model keeps failing. */
  readonly fallbackModels?: readonly (string | LanguageModel)[];
  /** The shape of the final answer: zod, Standard Schema or JSON Schema. */
  readonly outputSchema?: Output;
  /** Arguments added to the schema of every tool, with their descriptions; never passed to a tool. */
  readonly injectedToolArgs?: Readonly<Record<string, string>>;
  /** Guards: rails, or references to registered ones. */
  readonly rails?: readonly (Rail | NonNullable<Written["rails"]>[number])[];
  /** The turn pipeline and plain hooks on points: the things themselves, or references to registered ones. */
  readonly hooks?: {
    readonly pre?: readonly (PreHook | ParallelGroup | NonNullable<HooksWritten["pre"]>[number])[];
    readonly post?: readonly (PostHook | Ref)[];
    readonly stream?: readonly (StreamHook | Ref)[];
    readonly on?: { readonly [P in HookPoint]?: readonly (Hook<P> | Ref)[] };
  };
};

/** Fields whose entries are plain data with keys of ours. Everything else is a value, or keyed by the user. */
const NESTED = ["rails", "hooks", "mcp_servers"];
/** Below those, what belongs to the user. */
const OPAQUE = ["options", "env", "headers", "rename"];

/** `max_steps` as `maxSteps`. */
export function toCamel(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A path in a definition as the same path in code. Keys that belong to the user stay theirs. */
export function toCamelPath(path: string): string {
  let theirs = false;
  const parts = path.split(".").map((part) => {
    const spelt = theirs ? part : toCamel(part);
    theirs ||= OPAQUE.includes(part) || part === "injected_tool_args" || part === "output_schema";
    return spelt;
  });
  return parts.join(".");
}

/** A config in the definition's spelling. Values stay what they are. */
export interface Respelt {
  readonly fields: Record<string, unknown>;
  /** Where keys were written as JSON has them. */
  readonly misspelt: readonly PropertyKey[][];
}

export function toSnake(config: Readonly<Record<string, unknown>>): Respelt {
  const misspelt: PropertyKey[][] = [];
  const respell = (value: unknown, path: readonly PropertyKey[]): unknown => {
    if (Array.isArray(value)) return value.map((inner, i) => respell(inner, [...path, i]));
    return isRecord(value) ? record(value, path) : value;
  };
  const record = (value: Readonly<Record<string, unknown>>, path: readonly PropertyKey[]) => {
    const out: Record<string, unknown> = {};
    const points = path.at(-1) === "on"; // keyed by lifecycle point
    for (const [key, inner] of Object.entries(value)) {
      const at = [...path, key];
      if (!points && key.includes("_")) misspelt.push(at);
      const snake = points ? key : snakeOf(key);
      const theirs = path.length === 0 ? !NESTED.includes(snake) : OPAQUE.includes(snake);
      out[snake] = theirs ? inner : respell(inner, at);
    }
    return out;
  };
  return { fields: record(config, []), misspelt };
}

export function snakeOf(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
