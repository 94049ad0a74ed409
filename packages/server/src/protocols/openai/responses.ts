import { parseCursor, type RunRecord, type Trackside } from "@trackside/host";
import type { ClientTool } from "trackside";
import type { ProtocolContext } from "../env.ts";
import { findAgent, toolsOf } from "../shared/agents.ts";
import { readJsonObject } from "../shared/body.ts";
import { branchAfter } from "../shared/branching.ts";
import { broughtTools, clientToolsOf } from "../shared/client-tools.ts";
import { Connection, closing } from "../shared/connection.ts";
import { conversationOf, placeOf } from "../shared/place.ts";
import { Refusal, refusalOf } from "../shared/refusal.ts";
import { requestIdOf } from "../shared/request-id.ts";
import { sse, sseResponse } from "../shared/sse.ts";
import { begin, goOn, runOfAnswers, type Turn } from "../shared/turn.ts";
import { watchRun } from "../shared/watch.ts";
import { holdsText, reading } from "./chat.ts";
import { errorBody, failureResponse } from "./errors.ts";
import { importedConversation } from "./history.ts";
import { checkFormat, checkToolChoice, RESPONSES, readTools, refuseUnsupported } from "./parameters.ts";
import { ResponseBuilder } from "./response.ts";
import { type ResponseRequest, readResponseRequest } from "./response-request.ts";

/** POST /v1/responses */
export async function responses(c: ProtocolContext): Promise<Response> {
  const trackside = c.get("trackside");
  const body = await readJsonObject(c.req.raw);
  const request = readResponseRequest(body);
  const agent = findAgent(trackside, request.model);
  const tools = toolsOf(trackside, request.model);
  refuseUnsupported(body, RESPONSES, agent);
  const brought = broughtTools(readTools(body["tools"]), tools);
  const choice = body["tool_choice"];
  checkToolChoice(choice, runOfAnswers(request.answers) !== undefined, tools);
  checkFormat(request.format, agent, "text.format");
  const turn = await turnOf(c, request, choice === "none" ? [] : brought);
  const builder = new ResponseBuilder({
    ...turn,
    id: responseId(turn),
    createdAt: Math.floor(Date.now() / 1000),
    request,
    clientTools: await clientToolsOf(trackside, c.get("credential").tenant, turn, tools),
    holdsText: holdsText(agent),
    publicUrl: c.get("publicUrl"),
  });
  return request.isStreamed ? streamed(c, turn, builder) : whole(c, turn, builder);
}

/** A run that waits is answered by several responses: each is named by where in the run it begins. */
function responseId({ runId, after }: Turn): string {
  return `resp_${runId.slice("run_".length)}_${after === undefined ? 0 : parseCursor(after).seq}`;
}

async function runOf(trackside: Trackside, tenant: string, responseId: string): Promise<RunRecord> {
  const [, id] = /^resp_([a-z0-9]+)_\d+$/.exec(responseId) ?? [];
  const unknown = new Refusal(
    404,
    "response_unknown",
    `There is no response ${JSON.stringify(responseId.slice(0, 100))}.`,
    "previous_response_id",
  );
  if (id === undefined) throw unknown;
  try {
    return await trackside.runs.get(`run_${id}`, { tenant });
  } catch (error) {
    throw refusalOf(error).status === 404 ? unknown : error;
  }
}

async function turnOf(
  c: ProtocolContext,
  request: ResponseRequest,
  clientTools: readonly ClientTool[],
): Promise<Turn> {
  const { model, parts, answers, history, previous, conversation } = request;
  const trackside = c.get("trackside");
  const credential = c.get("credential");
  const { tenant } = credential;
  const waiting = runOfAnswers(answers);
  if (waiting !== undefined) return goOn(c, waiting, answers, parts);
  if (answers.verdicts.size > 0)
    throw new Refusal(
      400,
      "approval_unknown",
      "input: mcp_approval_response names no approval of this server",
      "input",
    );
  if (parts.length === 0)
    throw new Refusal(
      400,
      "invalid_request",
      "input: a message of the user, or what a response asked for",
      "input",
    );
  if (previous !== null && conversation !== null)
    throw new Refusal(
      400,
      "invalid_request",
      "previous_response_id and conversation exclude each other",
      "conversation",
    );
  if (previous !== null) {
    const run = await runOf(trackside, tenant, previous);
    const branch = run.ended_at === null ? run.branch_id : await branchAfter(trackside, tenant, run);
    return begin(c, model, parts, branch, { clientTools }); // a run that is not over refuses, by its id
  }
  if (conversation !== null) {
    const place = await placeOf(trackside, credential, conversation);
    return begin(c, model, parts, conversationOf(place), { clientTools });
  }
  const requestId = requestIdOf(c.req.raw.headers, credential);
  const id = requestId && `conv_${requestId.slice(5, 45)}`;
  return begin(c, model, parts, importedConversation(history, id), { clientTools });
}

async function whole(
  c: ProtocolContext,
  { runId, after, beside }: Turn,
  builder: ResponseBuilder,
): Promise<Response> {
  const { tenant } = c.get("credential");
  await reading(c, runId, async (signal) => {
    for await (const moment of watchRun(c.get("trackside"), { tenant, runId, after, beside, signal }))
      for (const _ of builder.read(moment));
    for (const _ of builder.end());
  });
  if (builder.failure) return failureResponse(builder.failure);
  if (!builder.isOver) throw closing();
  return Response.json(builder);
}

function streamed(c: ProtocolContext, { runId, after, beside }: Turn, builder: ResponseBuilder): Response {
  const { tenant } = c.get("credential");
  const connection = new Connection(c, runId);
  const { signal } = connection;
  async function* source(): AsyncGenerator<string> {
    try {
      for (const event of builder.start()) yield sse(event, event.type);
      for await (const moment of watchRun(c.get("trackside"), {
        tenant,
        runId,
        after,
        beside,
        signal,
      })) {
        for (const event of builder.read(moment)) yield sse(event, event.type);
        if (builder.failure) break;
      }
      if (builder.failure) connection.cancel();
      if (!builder.isOver) throw closing();
      for (const event of builder.end()) yield sse(event, event.type);
    } catch (error) {
      const { message, code, param } = errorBody(refusalOf(error)).error;
      yield sse({ type: "error", code, message, param, sequence_number: 0 }, "error");
    }
  }
  return sseResponse(source(), { onGone: () => connection.gone(true) });
}
