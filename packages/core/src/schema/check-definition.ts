import { type AgentDefinition, agentDefinition } from "./agent.ts";
import { frozenCopy } from "./json.ts";
import { type ConfigIssue, issue, issuesOf } from "./problems.ts";

/** What a definition's names are looked up in. `null` where the registry is not at hand (a file, a form). */
export interface KnownNames {
  readonly tools: readonly { readonly name: string; readonly properties: readonly string[] }[] | null;
}

export type CheckedDefinition =
  | { readonly ok: true; readonly definition: AgentDefinition }
  | { readonly ok: false; readonly issues: readonly ConfigIssue[] };

/** Checks a definition and everything it refers to. Finds every problem, not only the first (A3). */
export function checkDefinition(raw: unknown, known: KnownNames): CheckedDefinition {
  const found = agentDefinition.safeParse(raw);
  const issues = found.success ? [] : issuesOf(found.error, raw, knownKeys);
  if (typeof raw === "object" && raw !== null && !Array.isArray(raw)) issues.push(...references(raw, known));
  if (found.success && issues.length === 0) return { ok: true, definition: frozenCopy(found.data) };
  return { ok: false, issues };
}

/** Runs on what was given, whether or not the rest of it is sound. */
function references(raw: Partial<Record<string, unknown>>, known: KnownNames): ConfigIssue[] {
  const named = texts(raw["tools"]);
  const available = new Set([...(named ?? known.tools?.map((tool) => tool.name) ?? [])]);
  const issues = [
    ...duplicates("tools", named ?? []),
    ...duplicates("handoffs", texts(raw["handoffs"]) ?? []),
  ];
  const servers = Array.isArray(raw["mcp_servers"]) ? raw["mcp_servers"].map((server) => server?.name) : [];
  issues.push(...duplicates("mcp_servers", servers, ".name"));

  if (known.tools !== null) {
    const registered = new Set(known.tools.map((tool) => tool.name));
    for (const [i, name] of (named ?? []).entries()) {
      if (!registered.has(name))
        issues.push(issue(`tools[${i}]`, name, oneOf("a registered tool", [...registered])));
    }
  }
  if (named !== null || known.tools !== null) {
    for (const [i, name] of (texts(raw["hitl_tools"]) ?? []).entries()) {
      if (available.has(name) || builtIn(raw, name) || ofServer(servers, name)) continue;
      issues.push(issue(`hitl_tools[${i}]`, name, oneOf("a tool of this agent", [...available])));
    }
  }
  return [...issues, ...injectedClashes(raw["injected_tool_args"], known)];
}

function injectedClashes(injected: unknown, known: KnownNames): ConfigIssue[] {
  if (typeof injected !== "object" || injected === null) return [];
  return Object.keys(injected).flatMap((key) =>
    (known.tools ?? [])
      .filter((tool) => tool.properties.includes(key))
      .map((tool) =>
        issue(`injected_tool_args.${key}`, key, `a name that the tool "${tool.name}" does not use itself`),
      ),
  );
}

function builtIn(raw: Partial<Record<string, unknown>>, name: string): boolean {
  if (name === "spawn_self") return raw["allow_self_spawn"] === true;
  if (name === "spawn_parallel") return raw["allow_parallel_subagents"] === true;
  return name === "read_artifact";
}

function ofServer(servers: readonly unknown[], name: string): boolean {
  return servers.some((server) => typeof server === "string" && name.startsWith(`mcp__${server}__`));
}

function duplicates(field: string, names: readonly unknown[], suffix = ""): ConfigIssue[] {
  return names.flatMap((name, i) =>
    typeof name === "string" && names.indexOf(name) < i
      ? [issue(`${field}[${i}]${suffix}`, name, "each name once")]
      : [],
  );
}

function oneOf(what: string, names: readonly string[]): string {
  return names.length === 0 ? `${what} (there are none)` : `${what} (${names.join(", ")})`;
}

function texts(value: unknown): string[] | null {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "string") : null;
}

function knownKeys(path: readonly PropertyKey[]): readonly string[] {
  return path.length === 0 ? Object.keys(agentDefinition.shape) : (NESTED_KEYS[String(path[0])] ?? []);
}

const NESTED_KEYS: Partial<Record<string, readonly string[]>> = {
  rails: ["use", "name", "on", "options", "priority", "mode", "on_error", "timeout_ms"],
  hooks: ["pre", "post", "stream", "on", "use", "options", "durable", "critical", "timeout_ms", "parallel"],
  mcp_servers: [
    "name",
    "command",
    "args",
    "env",
    "url",
    "headers",
    "include",
    "exclude",
    "rename",
    "trusted",
  ],
};
