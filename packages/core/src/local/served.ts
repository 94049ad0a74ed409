import { AgentConfigError, TracksideError } from "../errors.ts";
import type { AgentDefinition } from "../schema/agent.ts";
import { issue } from "../schema/problems.ts";
import type { Scope } from "../schema/run.ts";
import type { Tool } from "../tools/define-tool.ts";
import type { HeldTool, ToolServers } from "../tools/tool-servers.ts";
import type { Served } from "./bound-agent.ts";

/** An agent as far as its servers are concerned. */
export interface Customer {
  readonly definition: AgentDefinition;
  readonly tools: readonly Tool[];
}

/** What the servers of a run's agents offer. */
export interface Supplies {
  readonly served: Served;
  /** With the agent it is for. */
  readonly held: readonly { readonly agent: string; readonly tool: HeldTool }[];
  /** Sentences for people. */
  readonly withheld: readonly string[];
  release(): void;
}

/**
 * Connects the servers of a run's agents. Throws when one cannot be reached, or when an agent gates a tool that its server
 * does not have (A4).
 */
export async function connectServers(
  agents: readonly Customer[],
  servers: ToolServers | undefined,
  scope: Scope,
): Promise<Supplies> {
  if (servers === undefined) {
    const names = agents.map(({ definition }) => `"${definition.name}"`).join(", ");
    const message = `The agent ${names} has mcp_servers, and nothing here speaks to them: pass \`toolServers: new McpHub()\` of @trackside/host/mcp to run(), or use a Trackside host.`;
    throw new TracksideError("not_available", message);
  }
  const connected = await Promise.allSettled(
    agents.map(async (agent) => {
      const { name, mcp_servers } = agent.definition;
      return { agent, found: await servers.connect(mcp_servers, { agent: name, scope }) };
    }),
  );
  const found = connected.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const release = () => {
    for (const one of found) one.found.release();
  };
  const failed = connected.find((one) => one.status === "rejected");
  try {
    if (failed) throw failed.reason;
    return { ...sortOut(found), release };
  } catch (error) {
    release();
    throw error;
  }
}

type Found = { agent: Customer; found: Awaited<ReturnType<ToolServers["connect"]>> };

function sortOut(all: readonly Found[]): Omit<Supplies, "release"> {
  const served = new Map<string, readonly Tool[]>();
  const withheld: string[] = [];
  for (const { agent, found } of all) {
    const { name } = agent.definition;
    for (const { server, tool, reason } of found.withheld)
      withheld.push(`the tool ${tool} of the MCP server ${server} is not offered: ${reason}`);
    const offered = found.tools.filter((tool) => {
      const clash = clashOf(tool, agent.definition);
      if (clash !== undefined) withheld.push(`the tool ${tool.name} is not offered: ${clash}`);
      return clash === undefined;
    });
    refuseMissing(agent.definition, offered, found.held);
    served.set(name, offered);
  }
  const held = all.flatMap(({ agent, found }) =>
    found.held.map((tool) => ({ agent: agent.definition.name, tool })),
  );
  return { served, held, withheld };
}

/** A tool that arrives with the name of an injected argument cannot have both (T3). */
function clashOf(tool: Tool, { injected_tool_args }: AgentDefinition): string | undefined {
  const { properties } = tool.input.jsonSchema;
  if (typeof properties !== "object" || properties === null) return undefined;
  const name = Object.keys(injected_tool_args).find((key) => Object.hasOwn(properties, key));
  return name === undefined
    ? undefined
    : `it has an argument "${name}" of its own, which injected_tool_args adds`;
}

/** A gate without its tool guards nothing: the agent means another tool. */
function refuseMissing(
  { name, hitl_tools }: AgentDefinition,
  tools: readonly Tool[],
  held: readonly HeldTool[],
): void {
  const known = new Set([...tools, ...held].map((tool) => tool.name));
  const issues = hitl_tools.flatMap((gated, i) =>
    gated.startsWith("mcp__") && !known.has(gated)
      ? [issue(`hitl_tools[${i}]`, gated, `a tool of its MCP servers (${[...known].join(", ")})`)]
      : [],
  );
  if (issues.length > 0) throw new AgentConfigError(`agent "${name}"`, issues);
}
