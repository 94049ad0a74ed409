import { CursorError, parseCursor, type RunRecord, type Trackside } from "@trackside/host";
import { Hono } from "hono";
import { TracksideError, type UserPart } from "trackside";
import type { ProtocolContext, ProtocolEnv } from "../env.ts";
import { requireStart } from "../shared/access.ts";
import { clientTools, findAgent, toolsOf } from "../shared/agents.ts";
import { readJsonObject } from "../shared/body.ts";
import { branchAfter } from "../shared/branching.ts";
import { Connection } from "../shared/connection.ts";
import { decide } from "../shared/decide.ts";
import { activeRun, conversationOf, type Place, placeOf } from "../shared/place.ts";
import { asProblem, Refusal, refusalOf } from "../shared/refusal.ts";
import { requestIdOf } from "../shared/request-id.ts";
import { sse, sseResponse } from "../shared/sse.ts";
import { startTurn } from "../shared/start.ts";
import { positionOf, watchRun } from "../shared/watch.ts";
import { UiChunks } from "./chunks.ts";
import { type ChatRequest, readChatRequest, readCursor, readSaid, readUserParts } from "./request.ts";

const HEADERS = { "x-vercel-ai-ui-message-stream": "v1" };

/** Which run a request is about, and how much of it the client has. */
interface Shown {
  readonly runId: string;
  readonly conversationId: string;
  readonly after?: string | undefined;
  /** A message on its way to the run. */
  readonly beside?: Promise<unknown>;
}

/**
 * The AI SDK's UI message stream, for `useChat` with `new DefaultChatTransport({ api: "/v1/agents/<agent>/chat" })`. A chat
 * is a conversation; its history in a request says where the client stands, never what was said.
 */
export function uiMessageRoutes(): Hono<ProtocolEnv> {
  const app = new Hono<ProtocolEnv>();
  app.onError((error) => asProblem(error));

  app.post("/v1/agents/:agent/chat", async (c) => {
    const credential = c.get("credential");
    const trackside = c.get("trackside");
    const agent = c.req.param("agent");
    findAgent(trackside, agent);
    const request = readChatRequest(await readJsonObject(c.req.raw));
    const place = await placeOf(trackside, credential, request.id);
    const shown = await act(c, agent, request, place);
    const cancels = request.onDisconnect === "cancel";
    return stream(c, agent, shown, cancels);
  });

  app.get("/v1/agents/:agent/chat/:id/stream", async (c) => {
    const trackside = c.get("trackside");
    const agent = c.req.param("agent");
    findAgent(trackside, agent);
    const place = await placeOf(trackside, c.get("credential"), c.req.param("id"));
    const runId = activeRun(place);
    if (runId === undefined) return c.body(null, 204);
    return stream(c, agent, { runId, conversationId: place.conversationId }, false);
  });

  // For clients whose runs outlive their connection: `stop()` only ends the reading of them.
  app.delete("/v1/agents/:agent/chat/:id/stream", async (c) => {
    const credential = c.get("credential");
    requireStart(credential);
    const trackside = c.get("trackside");
    findAgent(trackside, c.req.param("agent"));
    const place = await placeOf(trackside, credential, c.req.param("id"));
    const runId = activeRun(place);
    if (runId !== undefined)
      await trackside.runs.cancel(runId, {
        tenant: credential.tenant,
        reason: `stopped by ${credential.user.id}`,
      });
    return c.body(null, 204);
  });
  return app;
}

/** Does what the client asks for, and answers which run it is now to be shown. */
async function act(c: ProtocolContext, agent: string, request: ChatRequest, place: Place): Promise<Shown> {
  const { trigger, messages, messageId } = request;
  if (trigger === "regenerate-message") return regenerate(c, request, place);
  const addressed = messages.findLast(({ id, role }) => id === messageId && role === "assistant");
  const last = addressed ?? messages.at(-1);
  if (last?.role === "assistant") return goOn(c, last, place);
  if (last?.role !== "user")
    throw new Refusal(
      400,
      "body_invalid",
      "messages: the last one has to be a user's or an assistant's",
      "messages",
    );
  const parts = readUserParts(last);
  const isEdit = messageId !== undefined && messageId !== null && messageId === last.id;
  return isEdit ? edit(c, agent, request, place, parts) : send(c, agent, request, place, parts);
}

async function send(
  c: ProtocolContext,
  agent: string,
  request: ChatRequest,
  place: Place,
  parts: readonly UserPart[],
  branch?: string,
): Promise<Shown> {
  const credential = c.get("credential");
  requireStart(credential);
  const trackside = c.get("trackside");
  const { tenant, user } = credential;
  const requestId = requestIdOf(c.req.raw.headers, credential);
  const active = activeRun(place);
  if (request.whenBusy === "steer" && active !== undefined) {
    const after = await positionOf(trackside, tenant, active);
    const beside = trackside.steer(active, parts, {
      tenant,
      ...(requestId === undefined ? {} : { requestId }),
    });
    beside.catch(() => {}); // whoever watches the run is told
    return { runId: active, conversationId: place.conversationId, after, beside };
  }
  const { runId, conversationId } = await startTurn(trackside, agent, parts, {
    conversation: branch ?? conversationOf(place),
    whenBusy: request.whenBusy === "queue" ? "queue" : "refuse",
    scope: { ...request.scope, tenant, user: user.id },
    ...(requestId === undefined ? {} : { requestId }),
  });
  return { runId, conversationId };
}

/** Somebody changed a message they had sent: the conversation goes on from before it, on a branch (X7). */
async function edit(
  c: ProtocolContext,
  agent: string,
  request: ChatRequest,
  place: Place,
  parts: readonly UserPart[],
): Promise<Shown> {
  requireStart(c.get("credential"));
  if (place.record === undefined) return send(c, agent, request, place, parts);
  const trackside = c.get("trackside");
  const { tenant } = c.get("credential");
  const before = request.messages.findLast(({ role }) => role === "assistant");
  if (before?.id === undefined)
    throw new Refusal(
      409,
      "edit_first",
      "The first message of a chat cannot be changed, since nothing comes before it to go on from. Start a chat with another id.",
      "messageId",
    );
  const run = await runOfChat(trackside, tenant, before.id, place);
  const branch = await branchAfter(trackside, tenant, run);
  return send(c, agent, request, place, parts, branch);
}

/** The answer again, from the run's first step, on a branch of its own (X13). */
async function regenerate(c: ProtocolContext, request: ChatRequest, place: Place): Promise<Shown> {
  const credential = c.get("credential");
  requireStart(credential);
  const trackside = c.get("trackside");
  const { tenant } = credential;
  const named = request.messageId ?? undefined;
  const run =
    named === undefined || !named.startsWith("run_")
      ? place.latest
      : await runOfChat(trackside, tenant, named, place);
  if (run === undefined) throw new Refusal(404, "not_found", "There is nothing in this chat to do again.");
  if (run.ended_at === null) {
    await trackside.runs.cancel(run.id, { tenant, reason: "regenerated" });
    await trackside.runs.result(run.id, { tenant }).catch(() => {}); // it rejects, being cancelled
  }
  const again = await trackside.runs.retry(run.id, { tenant, fromStep: 1 });
  return { runId: again.id, conversationId: again.conversation_id };
}

/** The client answers what its last message asked: verdicts on approvals, results of its own tools. */
async function goOn(
  c: ProtocolContext,
  message: ChatRequest["messages"][number],
  place: Place,
): Promise<Shown> {
  const credential = c.get("credential");
  const trackside = c.get("trackside");
  const { tenant } = credential;
  const run = await runOfChat(trackside, tenant, message.id ?? "", place);
  const after = (await seenUpTo(message)) ?? (await positionOf(trackside, tenant, run.id));
  const { byApproval, byCall } = readSaid(message);
  const pending = await trackside.approvals.list({ tenant, rootRunId: run.id, limit: 1000 });
  for (const approval of pending) {
    const said =
      approval.kind === "tool_call"
        ? byApproval.get(approval.id)
        : approval.kind === "client_tool"
          ? byCall.get(approval.call_id ?? "")
          : undefined;
    if (said !== undefined) await decide(trackside, credential, approval, said);
  }
  return { runId: run.id, conversationId: run.conversation_id, after };
}

async function seenUpTo(message: ChatRequest["messages"][number]): Promise<string | undefined> {
  const cursor = readCursor(message);
  if (cursor === undefined) return undefined;
  try {
    parseCursor(cursor);
    return cursor;
  } catch (error) {
    if (error instanceof CursorError) return undefined;
    throw error;
  }
}

/** A run that a message of the chat stands for: its id is the message's. */
async function runOfChat(trackside: Trackside, tenant: string, id: string, place: Place): Promise<RunRecord> {
  const unknown = new Refusal(
    404,
    "message_unknown",
    `There is no message ${JSON.stringify(id.slice(0, 100))} in this chat.`,
    "messageId",
  );
  if (place.record === undefined) throw unknown;
  try {
    const run = await trackside.runs.get(id, { tenant });
    if (run.conversation_id === place.record.id && run.parent_run_id === null) return run;
  } catch (error) {
    if (!(error instanceof TracksideError && error.code === "not_found")) throw error;
  }
  throw unknown;
}

function stream(c: ProtocolContext, agent: string, shown: Shown, cancels: boolean): Response {
  const trackside = c.get("trackside");
  const { tenant } = c.get("credential");
  const { runId, conversationId, after, beside } = shown;
  const connection = new Connection(c, runId);
  const { signal } = connection;
  const chunks = new UiChunks({
    runId,
    conversationId,
    agent,
    clientTools: clientTools(toolsOf(trackside, agent)),
    publicUrl: c.get("publicUrl"),
  });
  async function* source(): AsyncGenerator<string> {
    yield sse(chunks.start());
    try {
      for await (const moment of watchRun(trackside, { tenant, runId, after, beside, signal })) {
        const isPast = moment.kind === "event" && moment.isPast;
        for (const chunk of chunks.read(moment)) if (!isPast) yield sse(chunk);
      }
      for (const chunk of chunks.end()) yield sse(chunk);
    } catch (error) {
      yield sse({ type: "error", errorText: refusalOf(error).message });
    }
    yield sse("[DONE]");
  }
  return sseResponse(source(), { headers: HEADERS, onGone: () => connection.gone(cancels) });
}
