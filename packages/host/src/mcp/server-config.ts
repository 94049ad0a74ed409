import type { Scope } from "trackside";
import { TracksideError } from "trackside";
import { digestOf, type ServerDefinition } from "trackside/engine";
import type { McpHubOptions } from "./options.ts";
import { serverEnvironment } from "./server-environment.ts";

/** A server of one tenant, ready to be reached. */
export interface ServerConfig {
  readonly name: string;
  readonly definition: ServerDefinition;
  readonly tenant: string;
  /** The same for every run of the tenant that may share a connection: what is reached, and with which secrets. */
  readonly poolKey: string;
  /** What is reached, without secrets: these change, and approvals of definitions stay. */
  readonly identity: string;
  readonly target: Target;
  /** What must not appear in anything we say. */
  readonly secrets: readonly string[];
}

export type Target =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Record<string, string>;
    }
  | { readonly kind: "http"; readonly url: URL; readonly headers: Record<string, string> };

type Values = ServerDefinition["env"];

/** Fills in secrets. Rejects with what is missing, never with a value. */
export async function resolveServer(
  definition: ServerDefinition,
  scope: Scope,
  secrets: McpHubOptions["secrets"],
): Promise<ServerConfig> {
  const { name, command, args = [], url } = definition;
  const used: string[] = [];
  const fill = (field: "env" | "headers", values: Values) =>
    fillSecrets(`${field} of the MCP server "${name}"`, values ?? {}, scope, secrets, used);
  const reached =
    command === undefined
      ? { url: checkedUrl(name, url).href, headers: definition.headers ?? {} }
      : { command, args, env: definition.env ?? {} };
  const target: Target =
    command === undefined
      ? { kind: "http", url: checkedUrl(name, url), headers: await fill("headers", definition.headers) }
      : { kind: "stdio", command, args, env: await fill("env", definition.env) };
  const filled = target.kind === "stdio" ? target.env : target.headers;
  return {
    name,
    definition,
    tenant: scope.tenant,
    poolKey: digestOf([scope.tenant, name, reached, filled]),
    identity: digestOf([name, reached]),
    target: target.kind === "stdio" ? { ...target, env: serverEnvironment(target.env) } : target,
    secrets: used,
  };
}

function checkedUrl(name: string, url: string | undefined): URL {
  const parsed = url === undefined ? null : URL.parse(url);
  if (parsed !== null && (parsed.protocol === "http:" || parsed.protocol === "https:")) return parsed;
  const given = url === undefined ? "neither a command nor a url" : "a url that is not http or https";
  throw new TracksideError("mcp_unavailable", `The MCP server "${name}" has ${given}; give one of the two`);
}

async function fillSecrets(
  where: string,
  values: NonNullable<Values>,
  scope: Scope,
  secrets: McpHubOptions["secrets"],
  used: string[],
): Promise<Record<string, string>> {
  const entries = Object.entries(values).map(async ([key, value]) => {
    if (typeof value === "string") return [key, value] as const;
    const secret = await findSecret(
      `${where} names the secret "${value.secret}" for ${key}`,
      value.secret,
      scope,
      secrets,
    );
    used.push(secret);
    return [key, secret] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function findSecret(
  what: string,
  name: string,
  scope: Scope,
  secrets: McpHubOptions["secrets"],
): Promise<string> {
  if (secrets === undefined)
    throw new TracksideError(
      "mcp_unavailable",
      `${what}, and the hub cannot look up secrets; give it \`secrets\``,
    );
  let found: unknown;
  try {
    found = await secrets(name, scope);
  } catch (cause) {
    // What a store says about a failure may hold the secret, so it stays in `cause`.
    throw new TracksideError("mcp_unavailable", `${what}, which could not be looked up`, { cause });
  }
  if (typeof found === "string" && found !== "") return found;
  throw new TracksideError("mcp_unavailable", `${what}, which does not exist; store it under that name`);
}

/** A text in which no secret of the server is left. */
export function redact({ secrets }: Pick<ServerConfig, "secrets">, text: string): string {
  return secrets.reduce(
    (shown, secret) => (secret.length < 4 ? shown : shown.replaceAll(secret, "[secret]")),
    text,
  );
}
