import type { AgentBinding, ClientTool } from "trackside";
import type { ProtocolContext } from "../env.ts";
import { findAgent, toolsOf } from "../shared/agents.ts";
import { readJsonObject } from "../shared/body.ts";
import { broughtTools } from "../shared/client-tools.ts";
import { Connection, closing } from "../shared/connection.ts";
import { conversationOf, placeOf } from "../shared/place.ts";
import { Refusal, refusalOf } from "../shared/refusal.ts";
import { requestIdOf } from "../shared/request-id.ts";
import { sse, sseResponse } from "../shared/sse.ts";
import { begin, goOn, runOfAnswers, type Turn } from "../shared/turn.ts";
import { watchRun } from "../shared/watch.ts";
import { type ChatRequest, readChat } from "./chat-request.ts";
import { Completion } from "./completion.ts";
import { errorBody, failureBody, failureResponse } from "./errors.ts";
import { importedConversation } from "./history.ts";
import { CHAT, checkFormat, checkToolChoice, readTools, refuseUnsupported } from "./parameters.ts";

/** POST /v1/chat/completions */
export async function chatCompletions(c: ProtocolContext): Promise<Response> {
  const trackside = c.get("trackside");
  const body = await readJsonObject(c.req.raw);
  const request = readChat(body);
  const agent = findAgent(trackside, request.model);
  refuseUnsupported(body, CHAT, agent);
  const tools = toolsOf(trackside, request.model);
  const brought = broughtTools(readTools(body["tools"]), tools);
  const choice = body["tool_choice"];
  checkToolChoice(choice, runOfAnswers(request.answers) !== undefined, tools);
  checkFormat(body["response_format"], agent, "response_format");
  const turn = await turnOf(c, request, choice === "none" ? [] : brought);
  const completion = new Completion({
    ...turn,
    model: request.model,
    created: Math.floor(Date.now() / 1000),
    holdsText: holdsText(agent),
    publicUrl: c.get("publicUrl"),
  });
  return request.isStreamed ? streamed(c, turn, completion, request.wantsUsage) : whole(c, turn, completion);
}

/** Text that may be taken back cannot be streamed to somebody who cannot take it back. */
export function holdsText({ definition, pipeline }: AgentBinding): boolean {
  return definition.output_schema !== null || pipeline.post.length > 0;
}

async function turnOf(
  c: ProtocolContext,
  request: ChatRequest,
  clientTools: readonly ClientTool[],
): Promise<Turn> {
  const { model, parts, answers, history, metadata } = request;
  const runId = runOfAnswers(answers);
  if (runId !== undefined) return goOn(c, runId, answers, parts);
  if (parts.length === 0)
    throw new Refusal(
      400,
      "invalid_request",
      "messages: the last one has to be a user's, or the result of a call",
      "messages",
    );
  const credential = c.get("credential");
  const named = metadata["conversation_id"];
  if (named !== undefined) {
    const place = await placeOf(c.get("trackside"), credential, named);
    return begin(c, model, parts, conversationOf(place), { clientTools });
  }
  // The same request again has to be the same conversation (X10).
  const requestId = requestIdOf(c.req.raw.headers, credential);
  const id = requestId && `conv_${requestId.slice(5, 45)}`;
  return begin(c, model, parts, importedConversation(history, id), { clientTools });
}

async function whole(
  c: ProtocolContext,
  { runId, after, beside }: Turn,
  completion: Completion,
): Promise<Response> {
  const { tenant } = c.get("credential");
  await reading(c, runId, async (signal) => {
    for await (const moment of watchRun(c.get("trackside"), { tenant, runId, after, beside, signal }))
      for (const _ of completion.read(moment));
  });
  if (completion.failure) return failureResponse(completion.failure);
  if (!completion.isOver) throw closing();
  return Response.json(completion);
}

/** Reads a run for a client that waits for all of it. */
export async function reading(
  c: ProtocolContext,
  runId: string,
  read: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { signal } = c.req.raw;
  const connection = new Connection(c, runId);
  const gone = () => connection.gone(true);
  signal.addEventListener("abort", gone, { once: true });
  try {
    if (signal.aborted) gone();
    await read(connection.signal);
  } finally {
    signal.removeEventListener("abort", gone);
  }
}

function streamed(
  c: ProtocolContext,
  { runId, after, beside }: Turn,
  completion: Completion,
  wantsUsage: boolean,
): Response {
  const { tenant } = c.get("credential");
  const connection = new Connection(c, runId);
  const { signal } = connection;
  async function* source(): AsyncGenerator<string> {
    try {
      yield sse(completion.chunk({ role: "assistant", content: "" }));
      for await (const moment of watchRun(c.get("trackside"), {
        tenant,
        runId,
        after,
        beside,
        signal,
      })) {
        for (const content of completion.read(moment)) yield sse(completion.chunk({ content }));
        if (completion.failure) break;
      }
      if (completion.failure) {
        connection.cancel(); // what was taken back is not waited for
        yield sse(failureBody(completion.failure));
        return;
      }
      if (!completion.isOver) throw closing();
      for (const chunk of completion.last()) yield sse(chunk);
      if (wantsUsage) yield sse(completion.usageChunk());
      yield sse("[DONE]");
    } catch (error) {
      yield sse(errorBody(refusalOf(error)));
    }
  }
  return sseResponse(source(), { onGone: () => connection.gone(true) });
}
