import { AgentConfigError } from "../errors.ts";
import type { JsonObject } from "../schema/json.ts";
import { type ConfigIssue, issue, unknownKey } from "../schema/problems.ts";
import { isHandoffTool } from "../subagents/handoff.ts";
import { readUntrustedSchema } from "../subagents/untrusted-schema.ts";
import { defineClientTool, type Tool } from "../tools/define-tool.ts";
import { READ_ARTIFACT } from "../tools/read-artifact.ts";
import type { AgentBinding } from "./bound-agent.ts";

/** A tool that a request brings along and its client runs: the agent knows nothing of it (T8). */
export interface ClientTool {
  /** 1 to 64 letters, digits, `_` or `-`; none that the agent has. */
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the arguments, an object. */
  readonly inputSchema: JsonObject;
}

const MOST = 64;
const MOST_DESCRIBED = 10_000;
const KEYS = ["name", "description", "inputSchema"];

/** Reads the tools of a request. They are a stranger's: their schemas are bounded, and no name may stand for another's. */
export function readClientTools(
  given: unknown,
  company: readonly AgentBinding[],
  issues: ConfigIssue[],
): readonly Tool[] {
  if (given === undefined) return [];
  if (!Array.isArray(given) || given.length > MOST) {
    const said = Array.isArray(given) ? given.length : given;
    issues.push(issue("clientTools", said, `a list of at most ${MOST} { name, description, inputSchema }`));
    return [];
  }
  const tools: Tool[] = [];
  for (const [i, one] of given.entries()) {
    const tool = readOne(one, `clientTools[${i}]`, issues);
    if (tool === undefined) continue;
    const allowed = nameProblem(tool.name, company, tools) ?? clashOf(tool, company);
    if (allowed === undefined) tools.push(tool);
    else issues.push(issue(`clientTools[${i}].name`, tool.name, allowed));
  }
  return tools;
}

function readOne(given: unknown, at: string, issues: ConfigIssue[]): Tool | undefined {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    issues.push(issue(at, given, "{ name, description, inputSchema }"));
    return undefined;
  }
  for (const key of Object.keys(given))
    if (!KEYS.includes(key)) issues.push(unknownKey(`${at}.${key}`, key, KEYS));
  const { name, description = "", inputSchema } = given as Readonly<Record<string, unknown>>; // an object, as checked
  if (typeof description !== "string" || description.length > MOST_DESCRIBED) {
    issues.push(issue(`${at}.description`, description, `a text of at most ${MOST_DESCRIBED} characters`));
    return undefined;
  }
  const read = readUntrustedSchema(inputSchema);
  if (!read.ok) {
    issues.push(issue(`${at}.inputSchema`, inputSchema, read.problem));
    return undefined;
  }
  try {
    return defineClientTool(name, description, read.schema);
  } catch (error) {
    if (!(error instanceof AgentConfigError)) throw error;
    for (const problem of error.issues) {
      const path = `${at}.${problem.path === "input" ? "inputSchema" : problem.path}`;
      issues.push({ ...problem, path, message: `${path}${problem.message.slice(problem.path.length)}` });
    }
    return undefined;
  }
}

/** What a name has to be instead; undefined when it is nobody's. */
function nameProblem(
  name: string,
  company: readonly AgentBinding[],
  before: readonly Tool[],
): string | undefined {
  if (name.startsWith("mcp__") || name.startsWith("spawn_") || name === READ_ARTIFACT || isHandoffTool(name))
    return "a name that is not kept for tools of servers (mcp__), of sub-agents (spawn_), of handoffs, or read_artifact";
  if (before.some((tool) => tool.name === name)) return "a name that no other tool of the request has";
  const owner = company.find(({ tools }) => tools.some((tool) => tool.name === name));
  return owner && `a name that no tool of the agent "${owner.definition.name}" has`;
}

/** A tool with the name of an injected argument cannot have both (T3). */
function clashOf({ input }: Tool, company: readonly AgentBinding[]): string | undefined {
  const properties = input.jsonSchema["properties"] ?? {};
  const injected = company.flatMap(({ definition }) => Object.keys(definition.injected_tool_args));
  const name = injected.find((key) => Object.hasOwn(properties as JsonObject, key)); // read as a schema, where they are one
  return name === undefined
    ? undefined
    : `a tool without an argument "${name}" of its own, which injected_tool_args adds`;
}

/** Tools as they were written down with a run, or what is wrong with them by now. */
export function madeAgain(
  written: readonly ClientTool[],
): { readonly tools: readonly Tool[] } | { readonly problem: string } {
  const issues: ConfigIssue[] = [];
  const tools = readClientTools(written, [], issues);
  const [first] = issues;
  return first === undefined ? { tools } : { problem: `${first.path}: ${first.allowed} expected` };
}

/** A tool of a request, to be written down. */
export function asWritten({ name, description, input }: Tool): ClientTool {
  return { name, ...(description === "" ? {} : { description }), inputSchema: input.jsonSchema };
}

/** An agent for one run, with the tools that came with the request. */
export function withClientTools(agent: AgentBinding, clientTools: readonly Tool[]): AgentBinding {
  if (clientTools.length === 0) return agent;
  const { definition, tools, models, planningModel, team, output, hookManager, pipeline, missing } = agent;
  const same = { definition, tools, models, planningModel, team, output, hookManager, pipeline, missing };
  return { ...same, clientTools };
}
