import { type CallToolResult, isInputRequiredResult, SdkHttpError } from "@modelcontextprotocol/client";
import type { JsonObject, ToolContext } from "trackside";
import { TracksideError } from "trackside";
import { type Connection, NO_TIMEOUT } from "./connection.ts";
import { CallDeadline } from "./deadline.ts";
import { answerElicitation, type RunningCall } from "./elicitation.ts";
import { explain, isBroken } from "./failure.ts";
import type { Lease } from "./lease.ts";
import type { Deadlines } from "./options.ts";
import { redact } from "./server-config.ts";
import { forClient, type ServerTool } from "./tool-listing.ts";
import { type Returned, readResult } from "./tool-result.ts";
import { cut, isObject } from "./untrusted-json.ts";

/** How often a call may come back with a question before it comes back with a result. */
const MAX_ROUNDS = 16;
const MAX_PROGRESS_MESSAGE = 2_000;

/** Calls a tool of a server, once. */
export async function callTool(
  lease: Lease,
  tool: ServerTool,
  args: JsonObject,
  context: ToolContext,
  deadlines: Deadlines,
): Promise<Returned> {
  let connection = await lease.ready(context.signal);
  checkUnchanged(connection, tool);
  let result: CallToolResult;
  try {
    result = await callOnce(lease, connection, tool, args, context, deadlines);
  } catch (error) {
    if (!isLostSession(error, connection)) throw error;
    // The server forgot us and refused the call unread; with a new session it is the first attempt.
    await connection.close();
    connection = await lease.ready(context.signal);
    checkUnchanged(connection, tool);
    result = await callOnce(lease, connection, tool, args, context, deadlines);
  }
  lease.report(true);
  return readAnswer(lease, tool, result);
}

function readAnswer({ config }: Lease, tool: ServerTool, result: CallToolResult): Returned {
  try {
    return readResult(result);
  } catch (error) {
    const said = `The tool "${tool.name}" of the MCP server "${config.name}" failed: ${error instanceof Error ? error.message : String(error)}`;
    throw new Error(redact(config, said));
  }
}

async function callOnce(
  lease: Lease,
  connection: Connection,
  tool: ServerTool,
  args: JsonObject,
  context: ToolContext,
  deadlines: Deadlines,
): Promise<CallToolResult> {
  const deadline = new CallDeadline(deadlines, context.signal);
  const call: RunningCall = { context, deadline, questions: 0 };
  const { token, end } = connection.begin(call, (update) => {
    deadline.touch();
    const read = readProgress(update);
    if (read !== null && !context.signal.aborted) context.progress(read);
  });
  try {
    return await rounds(connection, tool, args, token, call, deadline.signal);
  } catch (error) {
    if (isLostSession(error, connection)) throw error;
    if (context.signal.aborted) throw context.signal.reason ?? error;
    if (deadline.expired !== undefined) connection.doubt();
    if (deadline.expired !== undefined || !connection.alive || isBroken(error)) lease.report(false);
    throw explain(error, tool.name, connection, deadline);
  } finally {
    end();
    deadline.end();
  }
}

/** Calls until the answer is no question. */
async function rounds(
  connection: Connection,
  tool: ServerTool,
  args: JsonObject,
  progressToken: string,
  call: RunningCall,
  signal: AbortSignal,
): Promise<CallToolResult> {
  const params = { name: tool.name, arguments: { ...args }, _meta: { progressToken } };
  const options = {
    signal,
    timeout: NO_TIMEOUT,
    toolDefinition: forClient(tool),
    allowInputRequired: true,
  };
  let answers: Record<string, unknown> = {};
  for (let round = 0; round <= MAX_ROUNDS; round++) {
    const result: unknown = await connection.client.callTool({ ...params, ...answers }, options);
    if (!isInputRequiredResult(result)) return result as CallToolResult; // checked by the client
    const { inputRequests = {}, requestState } = result;
    const given: Record<string, unknown> = {};
    for (const [key, request] of Object.entries(inputRequests)) {
      if (key === "__proto__") continue;
      given[key] = await answerInput(call, request);
    }
    signal.throwIfAborted();
    answers = { inputResponses: given, ...(requestState === undefined ? {} : { requestState }) };
  }
  throw new Error(`it asked ${MAX_ROUNDS} times and never answered`);
}

async function answerInput(call: RunningCall, request: unknown): Promise<unknown> {
  const method = isObject(request) ? request["method"] : undefined;
  if (method !== "elicitation/create")
    throw new Error(`it asks for ${cut(String(method), 100)}, which it was not offered`);
  const params = isObject(request) ? request["params"] : undefined;
  return await answerElicitation(call, isObject(params) ? params : {});
}

/** The definition that was offered is the one that is called (M5). */
function checkUnchanged(connection: Connection, tool: ServerTool): void {
  const now = connection.listing.tools.find(({ name }) => name === tool.name);
  if (now?.digest === tool.digest) return;
  const server = connection.config.name;
  throw new TracksideError(
    "mcp_tool_held",
    now === undefined
      ? `The MCP server "${server}" no longer has the tool "${tool.name}", or no longer a usable one`
      : `The MCP server "${server}" changed the definition of "${tool.name}"; the tool is held until somebody approves the new one`,
  );
}

/** A site may forget a session at any time; it says so with 404. */
function isLostSession(error: unknown, connection: Connection): boolean {
  return error instanceof SdkHttpError && error.status === 404 && connection.hasSession;
}

function readProgress(update: unknown): { progress: number; total?: number; message?: string } | null {
  if (!isObject(update)) return null;
  const { progress, total, message } = update;
  if (typeof progress !== "number" || !Number.isFinite(progress)) return null;
  return {
    progress,
    ...(typeof total === "number" && Number.isFinite(total) ? { total } : {}),
    ...(typeof message === "string" ? { message: cut(message, MAX_PROGRESS_MESSAGE) } : {}),
  };
}
