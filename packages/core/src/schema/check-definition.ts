import { type AgentDefinition, agentSchemas } from "./agent.ts";
import { frozenCopy } from "./json.ts";
import { plainCopy } from "./plain-copy.ts";
import { HOOK_POINTS } from "./points.ts";
import { short } from "./preview.ts";
import { type ConfigIssue, formatPath, issue } from "./problems.ts";
import { issuesOf } from "./zod-problems.ts";

/** What a definition's names are looked up in. `null` where the registry is not at hand (a file, a form). */
export interface KnownNames {
  readonly tools: readonly { readonly name: string; readonly properties: readonly string[] }[] | null;
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
  if (named !== null || known.tools !== null) {
    const gated = Array.isArray(raw["hitl_tools"]) ? raw["hitl_tools"] : [];
    const belongs = (name: string) => own.has(name) || builtIn(raw, name) || ofServer(serverNames, name);
    issues.push(...strangers("hitl_tools", gated, "a tool of this agent", own, belongs));
  }
  const bound = (known.tools ?? []).filter((tool) => own.has(tool.name));
  return [...issues, ...injectedClashes(raw["injected_tool_args"], bound)];
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

function injectedClashes(injected: unknown, tools: NonNullable<KnownNames["tools"]>): ConfigIssue[] {
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

function builtIn(raw: Partial<Record<string, unknown>>, name: string): boolean {
  if (name === "spawn_self") return raw["allow_self_spawn"] === true;
  if (name === "spawn_parallel") return raw["allow_parallel_subagents"] === true;
  return name === "read_artifact";
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
