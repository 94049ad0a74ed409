import { isRecord, snakeOf, toCamel, toCamelPath, toSnake } from "./agent-config.ts";
import { bindGuards, type GuardRegistry, type Guards, type Taken, takeInline } from "./bind-guards.ts";
import { AgentConfigError, messageOf } from "./errors.ts";
import type { AgentBinding, LanguageModel } from "./local/bound-agent.ts";
import { isLanguageModel } from "./local/providers/adapt.ts";
import { type AgentDefinition, agentSchemas } from "./schema/agent.ts";
import { checkDefinition, knownKeys } from "./schema/check-definition.ts";
import { frozenCopy } from "./schema/json.ts";
import { parseModelString } from "./schema/model-string.ts";
import { plainCopy } from "./schema/plain-copy.ts";
import { preview } from "./schema/preview.ts";
import { type ConfigIssue, formatPath, issue, isUnknownKey, unknownKey } from "./schema/problems.ts";
import { type CompiledSchema, compileSchema, type SchemaLike } from "./tools/compile-schema.ts";
import { isTool, type Tool } from "./tools/define-tool.ts";

/** Where names in a definition are looked up. What is bound from here counts as registered. */
export interface Registry extends GuardRegistry {
  readonly tools?: readonly Tool[];
  /** Agents that `handoffs` may name. */
  readonly agents?: readonly AgentBinding[];
  /** Models by the string that names them, whatever its provider: the engine has them under the same names. */
  readonly models?: Readonly<Record<string, LanguageModel>>;
}

/** A definition with the functions it names. */
export interface Bound {
  readonly definition: AgentDefinition;
  readonly tools: readonly Tool[];
  readonly models: readonly (string | LanguageModel)[];
  readonly planningModel: string | LanguageModel | null;
  readonly team: readonly AgentBinding[];
  readonly output: CompiledSchema | null;
  readonly guards: Guards;
  /** What JSON cannot name. */
  readonly inline: readonly string[];
}

/** Stands in for a model object while the rest is checked. */
const ANY_MODEL = "openai:object";

/** Fields that hold the things themselves, in either spelling: taken as they are. */
const THINGS = [
  "model",
  "planning_model",
  "planningModel",
  "tools",
  "handoffs",
  "fallback_models",
  "fallbackModels",
  "output_schema",
  "outputSchema",
];

/** Binds a definition as JSON. */
export function bindJson(json: unknown, registry: unknown): Bound {
  const { copy, issues } = plainCopy(json, isThing);
  return bind(json, copy, registry, (found) => [...issues, ...untold(issues, found)]);
}

/** A definition as it is written down: what the contract names always, fields of our own where they were changed (A1). */
export function definitionJson(definition: AgentDefinition): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  const { contractFields, ownFields, ownDefaults } = agentSchemas();
  for (const field of contractFields) json[field] = definition[field];
  for (const field of ownFields) {
    const value = definition[field];
    if (JSON.stringify(value) !== JSON.stringify(ownDefaults[field])) json[field] = value;
  }
  return json;
}

/** Binds a config in code: camelCase, and the things themselves where JSON has names. */
export function bindConfig(config: unknown, registry: unknown): Bound {
  const taken = takeInline(config);
  const { copy, issues } = plainCopy(taken.config, isThing);
  const { fields, misspelt } = isRecord(copy) ? toSnake(copy) : { fields: copy, misspelt: [] };
  const slips = misspelt.map((path) => unknownKey(formatPath(path), String(path.at(-1)), camelKeys(path)));
  const doubled = new Set(slips.map((slip) => toCamelPath(slip.path)));
  const told = (found: readonly ConfigIssue[]) => {
    const spelt = found.map(inCamelCase).filter((one) => !(isUnknownKey(one) && doubled.has(one.path)));
    return [...issues, ...untold(issues, spelt), ...slips];
  };
  return bind(config, fields, registry, told, taken.inline);
}

/** Binds the fields of what was given, or throws with every problem, as `told` tells it. */
function bind(
  given: unknown,
  raw: unknown,
  registry: unknown,
  told: (found: readonly ConfigIssue[]) => readonly ConfigIssue[],
  inline: Taken["inline"] = new Map(),
): Bound {
  const issues: ConfigIssue[] = [];
  const registered = readRegistry(registry, issues);
  if (!isRecord(raw)) {
    const problems = told([issue("(root)", given, "an object with at least `name` and `model`"), ...issues]);
    throw new AgentConfigError("the agent", problems);
  }
  const tools = readTools(raw["tools"], registered, issues);
  const models = readModels(raw, isRecord(registry) ? registry["models"] : undefined, issues);
  const team = readTeam(raw["handoffs"], registry, issues);
  const output = readOutput(raw["output_schema"], issues);
  const toCheck: Record<string, unknown> = { ...raw, ...models.asText, ...team.asText };
  toCheck["output_schema"] = output?.jsonSchema ?? null;
  if (Array.isArray(raw["tools"]))
    toCheck["tools"] = raw["tools"].map((tool) => (isTool(tool) ? tool.name : tool));

  const checked = checkDefinition(toCheck, { tools: tools.known.map(namesOf) });
  const guards = bindGuards(
    checked.ok ? checked.definition : guardsIn(raw),
    inline,
    guardsOf(registry),
    issues,
  );
  const problems = told(checked.ok ? issues : [...issues, ...untold(issues, checked.issues)]);
  if (!checked.ok || problems.length > 0) throw new AgentConfigError(nameOf(raw), problems);
  const definition = frozenCopy({ ...checked.definition, ...models.described(checked.definition) });
  return {
    definition,
    tools: Object.freeze(tools.select(definition.tools)),
    models: Object.freeze(models.list(definition)),
    planningModel: models.planning ?? definition.planning_model,
    team: Object.freeze(team.agents),
    output,
    guards,
    inline: Object.freeze([...tools.inline, ...models.inline, ...guards.inline]),
  };
}

/** The rails and hooks of a definition that is wrong elsewhere: what is wrong with them is told with the rest (A3). */
function guardsIn(raw: Readonly<Record<string, unknown>>): Pick<AgentDefinition, "rails" | "hooks"> {
  const { rails, hooks } = agentSchemas().agentDefinition.shape;
  return {
    rails: rails.safeParse(raw["rails"]).data ?? [],
    hooks: hooks.safeParse(raw["hooks"]).data ?? {},
  };
}

function guardsOf(registry: unknown): GuardRegistry {
  if (!isRecord(registry)) return {};
  // `readRegistry` has reported what is neither.
  return { rails: factories(registry["rails"]), hooks: factories(registry["hooks"]) };
}

function factories<F>(given: unknown): Readonly<Record<string, F>> | undefined {
  return isRecord(given) ? (given as Readonly<Record<string, F>>) : undefined;
}

function isThing(path: readonly PropertyKey[]): boolean {
  return path.length > 0 && THINGS.includes(String(path[0]));
}

/** What is not already said about the same place. */
function untold(told: readonly ConfigIssue[], found: readonly ConfigIssue[]): readonly ConfigIssue[] {
  const paths = new Set(told.map((one) => one.path));
  return found.filter((one) => !paths.has(one.path));
}

const REGISTRY_KEYS = ["tools", "rails", "hooks", "agents", "models"];

function readRegistry(registry: unknown, issues: ConfigIssue[]): readonly Tool[] {
  if (!isRecord(registry)) {
    issues.push(issue("registry", registry, "an object such as { tools }"));
    return [];
  }
  for (const key of Object.keys(registry))
    if (!REGISTRY_KEYS.includes(key))
      issues.push(unknownKey(formatPath(["registry", key]), key, REGISTRY_KEYS));
  for (const key of ["rails", "hooks"]) {
    const given = registry[key];
    if (
      given !== undefined &&
      !(isRecord(given) && Object.values(given).every((one) => typeof one === "function"))
    )
      issues.push(issue(`registry.${key}`, given, "an object of factories by name"));
  }
  const { tools = [] } = registry;
  if (!Array.isArray(tools)) {
    issues.push(issue("registry.tools", tools, "a list of tools made with defineTool"));
    return [];
  }
  const names = new Set<string>();
  return tools.filter((tool, i) => {
    if (!isTool(tool)) issues.push(issue(`registry.tools[${i}]`, tool, "a tool made with defineTool"));
    else if (names.has(tool.name)) issues.push(issue(`registry.tools[${i}]`, tool.name, "each name once"));
    else names.add(tool.name);
    return isTool(tool);
  });
}

function readTools(given: unknown, registered: readonly Tool[], issues: ConfigIssue[]) {
  const own: Tool[] = [];
  for (const [i, tool] of (Array.isArray(given) ? given : []).entries()) {
    if (isTool(tool)) own.push(tool);
    else if (typeof tool !== "string")
      issues.push(issue(`tools[${i}]`, tool, "a tool made with defineTool, or the name of a registered one"));
  }
  const known = [...own, ...registered];
  const byName = new Map(known.toReversed().map((tool) => [tool.name, tool]));
  return {
    known,
    inline: own.filter((tool) => !registered.includes(tool)).map((tool) => `the tool "${tool.name}"`),
    select: (names: readonly string[] | null) =>
      (names ?? known.map((tool) => tool.name)).flatMap((n) => byName.get(n) ?? []),
  };
}

function readModels(raw: Readonly<Record<string, unknown>>, given: unknown, issues: ConfigIssue[]) {
  const named = readNamed(given, issues);
  const fallbacks: readonly unknown[] = Array.isArray(raw["fallback_models"]) ? raw["fallback_models"] : [];
  const model = readModel("model", raw["model"], named, issues);
  const planning = readModel("planning_model", raw["planning_model"] ?? null, named, issues);
  const others = fallbacks.map((one, i) => readModel(`fallback_models[${i}]`, one, named, issues));

  const asText: Record<string, unknown> = {};
  if (model) asText["model"] = ANY_MODEL;
  if (planning) asText["planning_model"] = ANY_MODEL;
  if (others.length > 0) asText["fallback_models"] = fallbacks.map((one, i) => (others[i] ? ANY_MODEL : one));
  return {
    asText,
    inline: [model, planning, ...others].flatMap((one) =>
      one && !one.isNamed ? [`the model object ${one.text}`] : [],
    ),
    planning: planning?.object,
    list: (checked: AgentDefinition) => [
      model?.object ?? checked.model,
      ...checked.fallback_models.map((text, i) => others[i]?.object ?? text),
    ],
    described: (checked: AgentDefinition) => ({
      model: model?.text ?? checked.model,
      planning_model: planning?.text ?? checked.planning_model,
      fallback_models: checked.fallback_models.map((text, i) => others[i]?.text ?? text),
    }),
  };
}

/** Agents that came as objects stand in the definition by their names. */
function readTeam(given: unknown, registry: unknown, issues: ConfigIssue[]) {
  const registered = isRecord(registry) ? registry["agents"] : undefined;
  if (registered !== undefined && !(Array.isArray(registered) && registered.every(isAgent)))
    issues.push(issue("registry.agents", registered, "a list of agents"));
  const known = Array.isArray(registered) ? registered.filter(isAgent) : [];
  if (!Array.isArray(given)) return { asText: {}, agents: known };
  const own: AgentBinding[] = [];
  const names = given.map((one, i) => {
    if (isAgent(one)) {
      own.push(one);
      return one.definition.name;
    }
    if (typeof one !== "string") issues.push(issue(`handoffs[${i}]`, one, "an agent, or the name of one"));
    return one;
  });
  return { asText: { handoffs: names }, agents: [...own, ...known] };
}

function isAgent(value: unknown): value is AgentBinding {
  if (typeof value !== "object" || value === null || !("definition" in value)) return false;
  const { definition } = value;
  return isRecord(definition) && typeof definition["name"] === "string" && "hookManager" in value;
}

/** The names of models that were given beside those of known providers. */
function readNamed(given: unknown, issues: ConfigIssue[]): readonly string[] {
  if (given === undefined) return [];
  if (isRecord(given)) return Object.keys(given);
  issues.push(
    issue("registry.models", given, 'an object of models by name, such as { "demo:scripted": model }'),
  );
  return [];
}

/** A model object with how it calls itself, or a registered one; null for anything else, of which a string may still be right. */
function readModel(path: string, given: unknown, named: readonly string[], issues: ConfigIssue[]) {
  if (typeof given === "string") {
    if (named.includes(given)) return { object: given, text: given, isNamed: true };
    const parsed = named.length > 0 ? parseModelString(given) : undefined;
    // Said here and not by the schema, which does not know what else there is.
    if (parsed?.ok === false)
      issues.push(issue(path, given, `${parsed.allowed}; or one of ${named.join(", ")}`));
    return null;
  }
  if (typeof given !== "object" || given === null) return null;
  try {
    if (isLanguageModel(given))
      return { object: given, text: `${given.provider}:${given.modelId}`, isNamed: false };
  } catch {} // a model that cannot be read is none
  const allowed = '"provider:model", or a model object of an AI SDK provider package (v2, v3 or v4)';
  issues.push(issue(path, given, allowed));
  return null;
}

function readOutput(given: unknown, issues: ConfigIssue[]): CompiledSchema | null {
  if (given === undefined || given === null) return null;
  try {
    const compiled = compileSchema(given as SchemaLike); // what it is not, throws
    return compiled.jsonSchema ? compiled : null; // derived here, so that a schema with no JSON form fails here
  } catch (error) {
    issues.push(issue("output_schema", given, messageOf(error)));
    return null;
  }
}

function namesOf(tool: Tool): { name: string; properties: string[] } {
  const properties = tool.input.jsonSchema["properties"];
  return { name: tool.name, properties: isRecord(properties) ? Object.keys(properties) : [] };
}

function nameOf(given: Readonly<Record<string, unknown>>): string {
  return typeof given["name"] === "string" ? `agent ${preview(given["name"])}` : "the agent";
}

/** The keys an object at this place in a config may have. */
function camelKeys(path: readonly PropertyKey[]): readonly string[] {
  const around = path.slice(0, -1).map((key) => (typeof key === "string" ? snakeOf(key) : key));
  return knownKeys(around).map(toCamel);
}

/** Problems are told in the spelling they were written in. */
function inCamelCase(found: ConfigIssue): ConfigIssue {
  const path = toCamelPath(found.path);
  if (isUnknownKey(found)) {
    const { given, allowed, message } = found;
    return { path, given: toCamel(given), allowed: toCamel(allowed), message: toCamel(message) };
  }
  return { ...found, path, message: `${path}${found.message.slice(found.path.length)}` };
}
