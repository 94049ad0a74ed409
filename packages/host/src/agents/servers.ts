import type { AgentDefinition, Json, JsonObject } from "trackside";
import { type ConfigIssue, issueAt } from "./issues.ts";

/** An MCP server as a definition writes it (A7). */
export type McpServer = AgentDefinition["mcp_servers"][number];

/** What a definition may say of a server that the host offers. The rest of it is the host's. */
const OWN = ["name", "include", "exclude", "rename"] as const;

/**
 * The servers of a definition made at run time. It names those that the host offers, and may take fewer of their tools: which
 * programs are started on the host's machine and which addresses are called is never for a definition to say.
 */
export function offeredServers(
  given: readonly unknown[],
  offered: readonly McpServer[],
): { readonly servers: readonly unknown[]; readonly issues: readonly ConfigIssue[] } {
  const issues: ConfigIssue[] = [];
  const servers = given.map((one, i) => {
    if (!isObject(one) || typeof one["name"] !== "string") return one; // the definition's check says what is wrong
    const { name } = one;
    const path = `mcp_servers[${i}]`;
    const known = offered.find((server) => server.name === name);
    if (known === undefined) {
      const names = offered.map((server) => server.name).join(", ") || "there are none";
      issues.push(issueAt(`${path}.name`, name, `a server that this host offers (${names})`));
      return { ...one, ...STAND_IN };
    }
    for (const [key, said] of Object.entries(one)) {
      if ((OWN as readonly string[]).includes(key) || same(said, Reflect.get(known, key))) continue;
      // Never what was given: it may hold secrets.
      issues.push(issueAt(`${path}.${key}`, key, `nothing: what "${name}" is, this host says`));
    }
    const wider = widened(one["include"], known.include);
    if (wider !== undefined)
      issues.push(
        issueAt(`${path}.include`, wider, `tools that this host offers of it (${known.include?.join(", ")})`),
      );
    return merged(known, one);
  });
  return { servers, issues };
}

/** In place of a server that is not there, so that the rest is checked all the same. */
const STAND_IN = { url: "http://localhost", command: undefined, args: undefined, env: undefined };

function merged(known: McpServer, one: Readonly<Record<string, unknown>>): unknown {
  const exclude = isList(one["exclude"]) ? [...(known.exclude ?? []), ...one["exclude"]] : one["exclude"];
  return defined({
    ...known,
    include: one["include"] ?? known.include,
    exclude: exclude ?? known.exclude,
    rename: isObject(one["rename"]) ? { ...known.rename, ...one["rename"] } : (one["rename"] ?? known.rename),
  });
}

/** The first name of a list that another one does not cover; a `*` at the end stands for anything. */
function widened(given: unknown, allowed: readonly string[] | undefined): unknown {
  if (!isList(given) || allowed === undefined) return undefined;
  const covers = (name: unknown) =>
    typeof name === "string" &&
    allowed.some((one) => (one.endsWith("*") ? name.startsWith(one.slice(0, -1)) : name === one));
  return given.find((name) => !covers(name));
}

const HIDDEN = "(hidden)";

/** A definition from code without the values it has for the environment and the headers of its servers. */
export function withoutLiterals(definition: JsonObject): JsonObject {
  const { mcp_servers } = definition;
  if (!Array.isArray(mcp_servers)) return definition;
  const hidden = (values: Json | undefined): Json =>
    Object.fromEntries(
      Object.entries(values ?? {}).map(([key, value]) => [key, typeof value === "string" ? HIDDEN : value]),
    );
  const servers = mcp_servers.map((server) => {
    if (!isObject(server)) return server;
    const { env, headers } = server as JsonObject; // part of a definition
    const parts = { ...(env ? { env: hidden(env) } : {}), ...(headers ? { headers: hidden(headers) } : {}) };
    return { ...server, ...parts } as Json; // likewise
  });
  return { ...definition, mcp_servers: servers };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
