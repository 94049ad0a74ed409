import { toCamelPath, toSnake } from "./agent-config.ts";
import { AgentConfigError } from "./errors.ts";
import type { LanguageModel } from "./local/bound-agent.ts";
import { isLanguageModel } from "./local/providers/adapt.ts";
import { type AgentDefinition, agentDefinition } from "./schema/agent.ts";
import { checkDefinition } from "./schema/check-definition.ts";
import { frozenCopy } from "./schema/json.ts";
import { type ConfigIssue, issue, unknownKey } from "./schema/problems.ts";
import { type CompiledSchema, compileSchema, type SchemaLike } from "./tools/compile-schema.ts";
import { isTool, type Tool } from "./tools/define-tool.ts";

/** Where names in a definition are looked up. What is bound from here counts as registered. */
export interface Registry {
  readonly tools?: readonly Tool[];
}

/** A definition with the functions it names. */
export interface Bound {
  readonly definition: AgentDefinition;
  readonly tools: readonly Tool[];
  readonly models: readonly (string | LanguageModel)[];
  readonly output: CompiledSchema | null;
  /** What JSON cannot name. */
  readonly inline: readonly string[];
}

type Raw = Partial<Record<string, unknown>>;

/** Stands in for a model object while the rest is checked. */
const ANY_MODEL = "openai:object";

/** Binds a definition as JSON. */
export function bindJson(json: unknown, registry: Registry): Bound {
  return bind(json, registry, nameOf(json), (found) => found);
}

/** Binds a config in code: camelCase, and the things themselves where JSON has names. */
export function bindConfig(config: unknown, registry: Registry): Bound {
  const snake = isRecord(config) ? toSnake(config) : config;
  const misspelt = isRecord(config) ? Object.keys(config).filter((key) => key.includes("_")) : [];
  const known = Object.keys(agentDefinition.shape).map(toCamelPath);
  const extra = misspelt.map((key) => unknownKey(key, key, known));
  return bind(snake, registry, nameOf(config), inCamelCase, extra);
}

function bind(
  raw: unknown,
  registry: Registry,
  name: string,
  spelling: (found: ConfigIssue) => ConfigIssue,
  extra: readonly ConfigIssue[] = [],
): Bound {
  if (!isRecord(raw))
    throw new AgentConfigError(name, [issue("(root)", raw, "an object with at least `name` and `model`")]);
  const issues: ConfigIssue[] = [];
  const inline: string[] = [];
  const tools = readTools(raw["tools"], registry, issues, inline);
  const models = readModels(raw, inline);
  const output = readOutput(raw["output_schema"], issues);
  const toCheck = { ...raw, ...models.asText };
  if (Array.isArray(raw["tools"]))
    toCheck["tools"] = raw["tools"].map((tool) => (isTool(tool) ? tool.name : tool));
  if (output !== null) toCheck["output_schema"] = output.jsonSchema;

  const checked = checkDefinition(toCheck, { tools: tools.known.map(namesOf) });
  const told = new Set(issues.map((found) => found.path));
  if (!checked.ok) issues.push(...checked.issues.filter((found) => !told.has(found.path)));
  if (!checked.ok || issues.length > 0 || extra.length > 0) {
    throw new AgentConfigError(name, [...issues.map(spelling), ...extra]);
  }
  const definition = frozenCopy({ ...checked.definition, ...models.described(checked.definition) });
  return {
    definition,
    tools: Object.freeze(tools.select(definition.tools)),
    models: Object.freeze(models.list(definition)),
    output,
    inline: Object.freeze(inline),
  };
}

function readTools(given: unknown, registry: Registry, issues: ConfigIssue[], inline: string[]) {
  const own: Tool[] = [];
  for (const [i, tool] of (Array.isArray(given) ? given : []).entries()) {
    if (isTool(tool)) {
      own.push(tool);
      inline.push(`the tool "${tool.name}"`);
    } else if (typeof tool !== "string") {
      issues.push(issue(`tools[${i}]`, tool, "a tool made with defineTool, or the name of a registered one"));
    }
  }
  const registered = registry.tools ?? [];
  for (const [i, tool] of registered.entries()) {
    if (!isTool(tool)) issues.push(issue(`registry.tools[${i}]`, tool, "a tool made with defineTool"));
    else if (registered.findIndex((known) => known.name === tool.name) < i) {
      issues.push(issue(`registry.tools[${i}]`, tool.name, "each name once"));
    }
  }
  const known = [...own, ...registered.filter(isTool)];
  const byName = new Map(known.toReversed().map((tool) => [tool.name, tool]));
  return {
    known,
    select: (names: readonly string[] | null) =>
      (names ?? known.map((tool) => tool.name)).flatMap((n) => byName.get(n) ?? []),
  };
}

function readModels(raw: Raw, inline: string[]) {
  const fallbacks: readonly unknown[] = Array.isArray(raw["fallback_models"]) ? raw["fallback_models"] : [];
  const asText: Raw = {};
  if (isLanguageModel(raw["model"])) {
    inline.push(`the model object ${describe(raw["model"])}`);
    asText["model"] = ANY_MODEL;
  }
  for (const model of fallbacks) {
    if (isLanguageModel(model)) inline.push(`the model object ${describe(model)}`);
  }
  if (fallbacks.length > 0)
    asText["fallback_models"] = fallbacks.map((m) => (isLanguageModel(m) ? ANY_MODEL : m));

  const own = (given: unknown, checked: string) => (isLanguageModel(given) ? given : checked);
  return {
    asText,
    list: (checked: AgentDefinition) => [
      own(raw["model"], checked.model),
      ...checked.fallback_models.map((text, i) => own(fallbacks[i], text)),
    ],
    described: (checked: AgentDefinition) => ({
      model: isLanguageModel(raw["model"]) ? describe(raw["model"]) : checked.model,
      fallback_models: checked.fallback_models.map((text, i) => {
        const given = fallbacks[i];
        return isLanguageModel(given) ? describe(given) : text;
      }),
    }),
  };
}

function readOutput(given: unknown, issues: ConfigIssue[]): CompiledSchema | null {
  if (given === undefined || given === null) return null;
  if (typeof given !== "object" && typeof given !== "function") return null; // the definition's schema reports it
  try {
    const compiled = compileSchema(given as SchemaLike); // an object or a callable schema; what it is not, throws
    return compiled.jsonSchema ? compiled : null;
  } catch (error) {
    issues.push(issue("output_schema", given, error instanceof Error ? error.message : "a usable schema"));
    return null;
  }
}

function namesOf(tool: Tool): { name: string; properties: string[] } {
  const properties = tool.input.jsonSchema["properties"];
  return { name: tool.name, properties: isRecord(properties) ? Object.keys(properties) : [] };
}

function describe(model: LanguageModel): string {
  return `${model.provider}:${model.modelId}`;
}

function nameOf(given: unknown): string {
  const name = isRecord(given) ? given["name"] : undefined;
  return typeof name === "string" ? `agent "${name}"` : "the agent";
}

/** Problems are told in the spelling they were written in. Keys below opaque fields are the user's own. */
function inCamelCase(found: ConfigIssue): ConfigIssue {
  const [field = "", ...rest] = found.path.split(".");
  const opaque = field === "injected_tool_args" || field === "output_schema";
  const path = [toCamelPath(field), ...rest.map((part) => (opaque ? part : toCamelPath(part)))].join(".");
  if (found.message.includes("unknown key")) {
    return {
      path,
      given: toCamelPath(found.given),
      allowed: toCamelPath(found.allowed),
      message: toCamelPath(found.message),
    };
  }
  return { ...found, path, message: found.message.replace(found.path, path) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
