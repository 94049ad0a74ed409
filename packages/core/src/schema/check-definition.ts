import { handoffTools, isHandoffTool } from "../subagents/handoff.ts";
import { spawnTools } from "../subagents/spawn-tools.ts";
import { type AgentDefinition, agentSchemas } from "./agent.ts";
import { frozenCopy } from "./json.ts";
import { plainCopy } from "./plain-copy.ts";
import { HOOK_POINTS } from "./points.ts";
import { short } from "./preview.ts";
import { type ConfigIssue, formatPath, issue } from "./problems.ts";
import { issuesOf } from "./zod-problems.ts";

/** What a definition's names are looked up in. `null` where the registry is not at hand (a file, a form). */
export interface KnownNames {
  readonly tools: readonly KnownTool[] | null;
}

interface KnownTool {
  readonly name: string;
  /** What its arguments are called. */
  readonly properties: readonly string[];
}

export type CheckedDefinition =
  | { readonly ok: true; readonly definition: AgentDefinition }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/** Checks a definition and everything it refers to. Finds every problem, not only the first (A3). */
export function checkDefinition(raw: unknown, known: KnownNames): CheckedDefinition {
  const { copy, issues } = plainCopy(raw);
  const found = agentSchemas().agentDefinition.safeParse(copy);
  const told = new Set(issues.map((earlier) => earlier.path));
  if (!found.success)
    issues.push(...issuesOf(found.error, copy, knownKeys).filter((later) => !told.has(later.path)));
  if (typeof copy === "object" && copy !== null && !Array.isArray(copy))
    issues.push(...references(copy, known));
  if (found.success && issues.length === 0) return { ok: true, definition: frozenCopy(found.data) };
  return { ok: false, issues };
}

/** Runs on what was given, whether or not the rest of it is sound. */
function references(raw: Partial<Record<string, unknown>>, known: KnownNames): ConfigIssue[] {
  const named = Array.isArray(raw["tools"]) ? raw["tools"] : null;
  const handoffs = Array.isArray(raw["handoffs"]) ? raw["handoffs"] : [];
  const servers = Array.isArray(raw["mcp_servers"]) ? raw["mcp_servers"] : [];
  const serverNames = servers.map((server) => server?.name);
  const issues = [
    ...duplicates("tools", named ?? []),
    ...duplicates("handoffs", handoffs),
    ...duplicates("mcp_servers", serverNames, ".name"),
    ...servers.flatMap(transportProblems),
  ];
  if (known.tools !== null && named !== null) {
    const registered = new Set(known.tools.map((tool) => tool.name));
    issues.push(
      ...strangers("tools", named, "a registered tool", registered, (name) => registered.has(name)),
    );
  }
  const own = new Set(named?.filter(isText) ?? known.tools?.map((tool) => tool.name));
  const ours = builtIn(raw, handoffs.filter(isText));
  issues.push(...takenNames(named ?? [...own], named !== null, ours));
  if (named !== null || known.tools !== null) {
    const gated = Array.isArray(raw["hitl_tools"]) ? raw["hitl_tools"] : [];
    const all = new Set([...own, ...ours.map((tool) => tool.name)]);
    const belongs = (name: string) => all.has(name) || name === READ_ARTIFACT || ofServer(serverNames, name);
    issues.push(...strangers("hitl_tools", gated, "a tool of this agent", all, belongs));
  }
  const bound = (known.tools ?? []).filter((tool) => own.has(tool.name));
  const later = own.size + ours.length + servers.length > 0 && !own.has(READ_ARTIFACT) ? [READER] : [];
  return [...issues, ...injectedClashes(raw["injected_tool_args"], [...bound, ...ours, ...later])];
}

const READ_ARTIFACT = "read_artifact";
/** Offered to agents with tools once there is something to read, so it is not in the way of a tool of that name (H9). */
const READER: KnownTool = { name: READ_ARTIFACT, properties: ["artifact_id", "offset", "limit", "search"] };

/** The tools of ours that are switched on: an agent has them beside its own. */
function builtIn(raw: Partial<Record<string, unknown>>, handoffs: readonly string[]): readonly KnownTool[] {
  const self = raw["allow_self_spawn"] === true;
  const parallel = raw["allow_parallel_subagents"] === true;
  const targets = [...new Set(handoffs)].map((name) => ({ name, description: "" }));
  return [...spawnTools({ self, parallel, max: 1 }), ...handoffTools(targets)].map(
    ({ name, input_schema }) => ({
      name,
      properties: Object.keys(input_schema["properties"] ?? {}),
    }),
  );
}

/** Names that an agent's own tools cannot have: those of ours beside them, and those that tell where a tool comes from. */
function takenNames(names: readonly unknown[], isListed: boolean, ours: readonly KnownTool[]): ConfigIssue[] {
  return names.flatMap((name, i) => {
    if (!isText(name)) return [];
    const at = isListed ? `tools[${i}]` : "tools";
    if (isHandoffTool(name)) return [issue(at, name, "a name that does not begin with handoff_to_")];
    if (name.startsWith("mcp__")) return [issue(at, name, "a name that does not begin with mcp__")];
    const isTaken = ours.some((tool) => tool.name === name);
    return isTaken ? [issue(at, name, "a name other than that of a built-in tool that is switched on")] : [];
  });
}

/** The names in a list that belong to nobody. What is no name is the schema's affair. */
function strangers(
  field: string,
  names: readonly unknown[],
  what: string,
  known: ReadonlySet<string>,
  belongs: (name: string) => boolean,
): ConfigIssue[] {
  return names.flatMap((name, i) =>
    isText(name) && !belongs(name) ? [issue(`${field}[${i}]`, name, oneOf(what, [...known]))] : [],
  );
}

/** A server is started by us (stdio) or reached by address (HTTP); each has settings of its own (A7). */
function transportProblems(server: unknown, i: number): ConfigIssue[] {
  if (typeof server !== "object" || server === null) return [];
  const has = (key: string) => Reflect.get(server, key) !== undefined;
  const [byCommand, byUrl] = [has("command"), has("url")];
  if (byCommand === byUrl) {
    // Never the server itself as what was given: it may hold secrets.
    const given = byUrl ? "both" : "neither";
    return [issue(`mcp_servers[${i}]`, given, "either `command` (stdio) or `url` (HTTP)")];
  }
  return (byCommand ? ["headers"] : ["args", "env"])
    .filter(has)
    .map((key) => issue(`mcp_servers[${i}].${key}`, key, `nothing beside \`${byUrl ? "url" : "command"}\``));
}

function injectedClashes(injected: unknown, tools: readonly KnownTool[]): ConfigIssue[] {
  if (typeof injected !== "object" || injected === null || Array.isArray(injected)) return [];
  return Object.keys(injected).flatMap((key) =>
    tools
      .filter((tool) => tool.properties.includes(key))
      .map((tool) =>
        issue(
          formatPath(["injected_tool_args", key]),
          key,
          `a name that the tool "${tool.name}" does not use itself`,
        ),
      ),
  );
}

function ofServer(servers: readonly unknown[], name: string): boolean {
  return servers.some((server) => {
    const prefix = `mcp__${server}__`;
    return typeof server === "string" && name.startsWith(prefix) && name !== prefix;
  });
}

function duplicates(field: string, names: readonly unknown[], suffix = ""): ConfigIssue[] {
  const seen = new Set<unknown>();
  return names.flatMap((name, i) => {
    const again = isText(name) && seen.has(name);
    seen.add(name);
    return again ? [issue(`${field}[${i}]${suffix}`, name, "each name once")] : [];
  });
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

const SHOWN_NAMES = 20;

function oneOf(what: string, names: readonly string[]): string {
  if (names.length === 0) return `${what} (there are none)`;
  const rest = names.length > SHOWN_NAMES ? `, and ${names.length - SHOWN_NAMES} more` : "";
  return `${what} (${names.slice(0, SHOWN_NAMES).map(short).join(", ")}${rest})`;
}

/** The keys an object at this place may have. */
export function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  const [field, second, third] = path;
  const { agentDefinition, railReference, hookReference, hookReferences, mcpServer } = agentSchemas();
  if (field === undefined) return Object.keys(agentDefinition.shape);
  if (field === "rails") return Object.keys(railReference.shape);
  if (field === "mcp_servers") return path.length > 2 ? ["secret"] : Object.keys(mcpServer.shape);
  if (second === undefined) return Object.keys(hookReferences.shape);
  if (second === "on" && third === undefined) return HOOK_POINTS;
  return [...Object.keys(hookReference.shape), ...(second === "pre" ? ["parallel"] : [])];
}
