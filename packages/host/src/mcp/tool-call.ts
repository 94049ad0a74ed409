import { type CallToolResult, isInputRequiredResult, SdkHttpError } from "@modelcontextprotocol/client";
import type { JsonObject, ToolContext } from "trackside";
import { TracksideError } from "trackside";
import { abortable } from "./abortable.ts";
import { type Connection, NO_TIMEOUT } from "./connection.ts";
import { CallDeadline } from "./deadline.ts";
import { answerElicitation, type RunningCall } from "./elicitation.ts";
import { explain, isBroken } from "./failure.ts";
import type { Lease } from "./lease.ts";
import type { Deadlines } from "./options.ts";
import { ProgressPace, readProgress } from "./progress.ts";
import { redact } from "./server-config.ts";
import { forClient, type ServerTool } from "./tool-listing.ts";
import { type Returned, readResult } from "./tool-result.ts";
import { cut, isObject } from "./untrusted-json.ts";

/** How often a call may come back with a question before it comes back with a result. */
const MAX_ROUNDS = 16;

/** A call to be made. */
export interface ToolCall {
  readonly lease: Lease;
  readonly tool: ServerTool;
  readonly args: JsonObject;
  readonly context: ToolContext;
  readonly deadlines: Deadlines;
}

/** Calls a tool of a server, once. */
export async function callTool(call: ToolCall): Promise<Returned> {
  const { lease, tool } = call;
  // A server that forgot its session refused the call unread: with a new one it is still the first attempt.
  const result = (await attempt(call, true)) ?? (await attempt(call, false));
  lease.report(true);
  try {
    return readResult(result as CallToolResult); // the second attempt has a result or throws
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const told = `The tool "${tool.name}" of the MCP server "${lease.config.name}" failed: ${said}`;
    throw new Error(redact(lease.config, told));
  }
}

/** One attempt; nothing if the server had forgotten us and another may be made. */
async function attempt(call: ToolCall, mayRepeat: boolean): Promise<CallToolResult | undefined> {
  const { lease, tool, context } = call;
  const connection = await lease.ready(context.signal);
  checkUnchanged(connection, tool);
  const deadline = new CallDeadline(call.deadlines, context.signal);
  const running: RunningCall = { context, deadline, questions: 0 };
  const pace = new ProgressPace((update) => {
    if (!context.signal.aborted) context.progress(update);
  });
  const { token, end } = connection.begin(running, (update) => {
    deadline.touch();
    const read = readProgress(update);
    if (read !== null) pace.offer(read);
  });
  try {
    const result = await rounds(call, connection, token, running, deadline.signal);
    pace.flush();
    return result;
  } catch (error) {
    if (context.signal.aborted) throw context.signal.reason ?? error;
    const failure = explain(error, tool.name, connection, deadline);
    const broken = !connection.alive || isBroken(error);
    const forgotten = isForgotten(error, connection);
    if (broken) void connection.close(); // the next one gets a new connection
    if (forgotten && mayRepeat) return undefined;
    if (deadline.expired !== undefined) connection.doubt();
    if (deadline.expired !== undefined || broken) lease.report(false);
    throw failure;
  } finally {
    end();
    deadline.end();
  }
}

/** Calls until the answer is no question. */
async function rounds(
  { tool, args }: ToolCall,
  connection: Connection,
  progressToken: string,
  running: RunningCall,
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
      given[key] = await abortable(answerInput(running, request), signal);
    }
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
function isForgotten(error: unknown, connection: Connection): boolean {
  return error instanceof SdkHttpError && error.status === 404 && connection.hasSession;
}
