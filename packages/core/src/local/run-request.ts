import { AgentConfigError, TracksideError } from "../errors.ts";
import { isBlank } from "../hooks/turn.ts";
import { frozenCopy, strictJsonObject } from "../schema/json.ts";
import { isSendable, type UserPart, userPart } from "../schema/message.ts";
import { plainCopy } from "../schema/plain-copy.ts";
import { type ConfigIssue, formatPath, issue, unknownKey } from "../schema/problems.ts";
import { type Scope, scope as scopeSchema } from "../schema/run.ts";
import type { Tool } from "../tools/define-tool.ts";
import type { ToolServers } from "../tools/tool-servers.ts";
import type { Approve } from "./approvals.ts";
import type { AgentBinding } from "./bound-agent.ts";
import { type ClientTool, readClientTools } from "./client-tools.ts";
import { Conversation } from "./conversation.ts";
import type { Facts } from "./facts.ts";
import type { Approver } from "./run-context.ts";
import { type FindAgent, teamOf } from "./team.ts";
import { asksSomebody } from "./workflow-binding.ts";

/** A user's message: text, or parts (text and files). */
export type UserInput = string | readonly UserPart[];

export interface RunOptions {
  /** Continue this conversation; without it a new one starts. By id it takes a store. */
  readonly conversation?: Conversation | string;
  /** The same id again answers the same run, however often it is sent (X10). Takes a store. */
  readonly requestId?: string;
  /** JSON for tools, hooks and rails; never shown to the model. `tenant` is `default` unless given. */
  readonly scope?: Readonly<Record<string, unknown>>;
  /** Cancels the run when it aborts. */
  readonly signal?: AbortSignal;
  /** Decides calls that need an approval. With `stream()`, `decide()` does it too. */
  readonly approve?: Approve;
  /** Where the tools of `mcp_servers` come from, for this run: a `McpHub` of @trackside/host/mcp. */
  readonly toolServers?: ToolServers;
  /** Tools for this run that its client runs: a call waits until the client has submitted a result (T8). */
  readonly clientTools?: readonly ClientTool[];
}

export interface RunRequest {
  readonly parts: readonly UserPart[];
  readonly conversation: Conversation | string | undefined;
  readonly requestId: string | undefined;
  readonly scope: Scope;
  readonly signal: AbortSignal | undefined;
  readonly approver: Approver;
  readonly toolServers?: ToolServers | undefined;
  readonly clientTools: readonly Tool[];
}

const OPTION_KEYS = [
  "conversation",
  "requestId",
  "scope",
  "signal",
  "approve",
  "toolServers",
  "clientTools",
  "engine",
];

/** What an engine can do, as far as a request depends on it. */
export interface EngineSkills {
  /** It keeps conversations and request ids. */
  readonly stores: boolean;
  /** Somebody can decide without the caller: an inbox. */
  readonly approver?: Approver;
  /** Finds agents that `handoffs` name. */
  readonly find?: FindAgent;
  readonly facts: Facts;
}

/** Checks what was asked for; throws with every problem at once. */
export function readRequest(
  agent: AgentBinding,
  input: UserInput,
  options: RunOptions,
  streamed: boolean,
  skills: EngineSkills,
): RunRequest {
  const { members, missing } = teamOf(agent, skills.find);
  const all = [agent, ...[...members.values()].filter((one) => one !== agent)];
  refuseUnregistered(agent, missing);
  for (const one of all) {
    refuseUnregistered(one);
    refuseSharedNames(one);
    refuseUnmeasured(one, skills.facts);
  }
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new AgentConfigError("run()", [
      issue("options", options, "an object such as { conversation, scope, signal }"),
    ]);
  }
  const issues: ConfigIssue[] = [];
  const parts = readInput(input, issues);
  for (const key of Object.keys(options))
    if (!OPTION_KEYS.includes(key)) issues.push(unknownKey(key, key, OPTION_KEYS));
  const { conversation, signal, requestId } = options;
  const engine = "engine" in options ? options.engine : undefined;
  if (engine !== undefined && typeof (engine as { start?: unknown } | null)?.start !== "function")
    issues.push(issue("engine", engine, "an engine, such as localEngine()"));
  if (
    conversation !== undefined &&
    !(conversation instanceof Conversation || (skills.stores && isId(conversation)))
  ) {
    const allowed = "a Conversation, such as `result.conversation` of an earlier run";
    issues.push(
      issue(
        "conversation",
        conversation,
        skills.stores ? `${allowed}, or its id` : `${allowed} (by id it takes a store)`,
      ),
    );
  }
  if (requestId !== undefined && !(skills.stores && isId(requestId)))
    issues.push(
      issue(
        "requestId",
        requestId,
        skills.stores ? "a text of 1 to 200 characters" : "nothing: it takes a store",
      ),
    );
  if (signal !== undefined && !(signal instanceof AbortSignal))
    issues.push(issue("signal", signal, "an AbortSignal"));
  if (options.approve !== undefined && typeof options.approve !== "function")
    issues.push(issue("approve", options.approve, "a function (approval) => decision"));
  const { toolServers } = options;
  if (toolServers !== undefined && typeof toolServers?.connect !== "function")
    issues.push(issue("toolServers", toolServers, "what connects MCP servers, such as new McpHub()"));
  const approver: Approver = options.approve ?? skills.approver ?? (streamed ? "stream" : undefined);
  const scope = readScope(options.scope, issues);
  const clientTools = readClientTools(options.clientTools, all, issues);
  if (issues.length > 0) throw new AgentConfigError("run()", issues);
  if (approver === undefined) for (const one of all) refuseUnapproved(one, clientTools);
  return { parts, conversation, requestId, scope, signal, approver, toolServers, clientTools };
}

function isId(value: unknown): boolean {
  return typeof value === "string" && value.length > 0 && value.length <= 200;
}

/** Checks a message on its own: one that is sent to a run under way. Whether it has what is attached is for others to say. */
export function readMessage(input: UserInput): readonly UserPart[] {
  const issues: ConfigIssue[] = [];
  const parts = readInput(input, issues);
  if (issues.length > 0) throw new AgentConfigError("message", issues);
  return parts;
}

function readInput(input: UserInput, issues: ConfigIssue[]): readonly UserPart[] {
  if (typeof input === "string") {
    if (isBlank(input)) issues.push(issue("input", input, "a text that is not empty"));
    return [{ type: "text", text: input }];
  }
  const { copy, issues: unreadable } = plainCopy(input);
  issues.push(
    ...unreadable.map((one) => ({ ...one, path: one.path === "(root)" ? "input" : `input${one.path}` })),
  );
  if (unreadable.length > 0) return [];
  if (!Array.isArray(copy) || copy.length === 0) {
    issues.push(issue("input", input, "a text, or a list of at least one text or file part"));
    return [];
  }
  const parts: UserPart[] = [];
  for (const [i, one] of copy.entries()) {
    const found = userPart.safeParse(one);
    if (found.success && isSendable(found.data, true) && !isEmpty(found.data)) parts.push(found.data);
    else issues.push(issue(formatPath(["input", i]), one, PART_FORMS));
  }
  return parts;
}

const isEmpty = (part: UserPart) => part.type === "text" && isBlank(part.text);

const PART_FORMS =
  '{ type: "text", text }, or { type: "file", media_type, source } with data, a URL, or an artifact';

const DEFAULT_SCOPE: Scope = Object.freeze({ tenant: "default" });

function readScope(given: RunOptions["scope"], issues: ConfigIssue[]): Scope {
  if (given === undefined) return DEFAULT_SCOPE;
  const json = strictJsonObject.safeParse(given);
  const found = json.success ? scopeSchema.safeParse({ tenant: "default", ...json.data }) : undefined;
  if (found?.success) return frozenCopy(found.data);
  issues.push(issue("scope", given, "a JSON object whose `tenant`, if given, is a text"));
  return DEFAULT_SCOPE;
}

/** Retries and records go by a rail's name, so two rails of one agent cannot share it (R1). */
function refuseSharedNames({ definition, hookManager }: AgentBinding): void {
  const [name] = hookManager.sharedNames;
  if (name === undefined) return;
  const message = `The agent "${definition.name}" has two rails named "${name}", in different managers. Give each rail a name of its own.`;
  throw new TracksideError("config_invalid", message);
}

/** Whoever the turn may be handed to has to be whole as well: a rail that is not there would not guard it (R14). */
function refuseUnregistered({ definition, missing }: AgentBinding, agents: readonly string[] = []): void {
  const absent = [...missing, ...agents.map((name) => `the agent "${name}"`)];
  if (absent.length === 0) return;
  const message = `The agent "${definition.name}" names what is not registered here: ${absent.join(", ")}. Pass it in the registry.`;
  throw new TracksideError("not_available", message);
}

/** A budget is a share of a window, so that has to be known (B3). */
function refuseUnmeasured(agent: AgentBinding, facts: Facts): void {
  const { definition } = agent;
  if (definition.budget_awareness === null || facts.ofAgent(definition) !== undefined) return;
  const allowed = `the window of ${definition.model} in tokens, since it is in no table and \`budget_awareness\` is ${definition.budget_awareness}`;
  throw new AgentConfigError(`agent "${definition.name}"`, [issue("context_window_tokens", null, allowed)]);
}

/** Gated by definition, and nobody there to decide: refused at the start, never silently approved (L6). */
function refuseUnapproved({ definition, tools, hookManager }: AgentBinding, brought: readonly Tool[]): void {
  const rails = hookManager
    .entries("PRE_TOOL_CALL")
    .flatMap((entry) => (entry.rail?.asks && entry.rail.mode === "enforce" ? [entry.rail.name] : []));
  const clients = [...tools, ...brought]
    .filter((tool) => tool.executor === "client")
    .map((tool) => tool.name);
  const why = [
    ...(definition.hitl_tools.length > 0 ? [`hitl_tools (${definition.hitl_tools.join(", ")})`] : []),
    ...(rails.length > 0 ? [`rails that ask (${rails.join(", ")})`] : []),
    ...(clients.length > 0 ? [`client tools (${clients.join(", ")})`] : []),
  ];
  if (definition.workflow && asksSomebody(definition.workflow)) why.push("nodes that wait for somebody");
  if (why.length === 0) return;
  const what = definition.workflow === undefined ? "agent" : "workflow";
  const message = `The ${what} "${definition.name}" has ${why.join(" and ")}, but nobody can decide: pass \`approve\` to run(), or use stream() and decide().`;
  throw new TracksideError("not_available", message);
}
