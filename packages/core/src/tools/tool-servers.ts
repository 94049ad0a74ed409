import type { AgentDefinition } from "../schema/agent.ts";
import type { Scope } from "../schema/run.ts";
import type { Tool } from "./define-tool.ts";

/** One entry of `mcp_servers`. */
export type ServerDefinition = AgentDefinition["mcp_servers"][number];

/** Where the tools of `mcp_servers` come from. The host brings one that speaks MCP; core knows only this. */
export interface ToolServers {
  /**
   * Connects to the servers of an agent, or finds the connections that are open, and answers their tools: in the order
   * of the servers and then by name, so that the same servers give the same request. Rejects with a `TracksideError`
   * (`mcp_unavailable`) that names the server when one cannot be reached and its tools are not known from before.
   */
  connect(servers: readonly ServerDefinition[], about: ConnectRequest): Promise<ConnectedTools>;
}

export interface ConnectRequest {
  readonly agent: string;
  readonly scope: Scope;
}

/** The tools of one run's servers. */
export interface ConnectedTools {
  /** Named `mcp__server__tool`, made with `defineServerTool`. */
  readonly tools: readonly Tool[];
  /** Not offered: their definition changed since somebody approved it (M5). */
  readonly held: readonly HeldTool[];
  /** Not offered, since they cannot be: a name that is taken, a schema that is none. */
  readonly withheld: readonly WithheldTool[];
  /** The run no longer needs them. */
  release(): void;
}

/** A tool that a server has and nobody is offered. */
export interface WithheldTool {
  readonly server: string;
  /** As the server calls it. */
  readonly tool: string;
  readonly reason: string;
}

/** A tool whose definition is not the one that was approved. */
export interface HeldTool {
  readonly name: string;
  readonly server: string;
  /** The definition as it is now, and the digest of it that an approval is for. */
  readonly definition: {
    readonly description: string;
    readonly input_schema: Readonly<Record<string, unknown>>;
  };
  readonly digest: string;
  /** The digest that was approved before. */
  readonly approved: string;
  /** From now on this definition is the approved one; later `connect`s offer it. */
  approve(): void | Promise<void>;
  /** The tool by this definition, for a run that is under way. */
  make(): Tool;
}
