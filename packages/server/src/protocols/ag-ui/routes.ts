import { createHash } from "node:crypto";
import { Hono } from "hono";
import type { ClientTool } from "trackside";
import type { ProtocolContext, ProtocolEnv } from "../env.ts";
import { findAgent, toolsOf } from "../shared/agents.ts";
import { readJsonObject } from "../shared/body.ts";
import { broughtTools, clientToolsOf } from "../shared/client-tools.ts";
import { Connection } from "../shared/connection.ts";
import { conversationOf, placeOf } from "../shared/place.ts";
import { asProblem, Refusal, refusalOf } from "../shared/refusal.ts";
import { sse, sseResponse } from "../shared/sse.ts";
import { begin, goOn, runOfAnswers, type Turn } from "../shared/turn.ts";
import { watchRun } from "../shared/watch.ts";
import { AgUiEvents } from "./events.ts";
import { type AgUiRequest, readAgUi } from "./request.ts";

/** AG-UI over server-sent events, for `new HttpAgent({ url: "…/v1/agents/<agent>/ag-ui" })` of `@ag-ui/client`. */
export function agUiRoutes(): Hono<ProtocolEnv> {
  const app = new Hono<ProtocolEnv>();
  app.onError((error) => asProblem(error));
  app.post("/v1/agents/:agent/ag-ui", async (c) => {
    const agent = c.req.param("agent");
    const trackside = c.get("trackside");
    findAgent(trackside, agent);
    const request = readAgUi(await readJsonObject(c.req.raw));
    const tools = toolsOf(trackside, agent);
    const turn = await turnOf(c, agent, request, broughtTools(request.tools, tools));
    const known = await clientToolsOf(trackside, c.get("credential").tenant, turn, tools);
    const { threadId, runId: clientRunId, state, messages } = request;
    const about = { threadId, clientRunId, state, messages, agent, clientTools: known };
    return stream(c, turn, new AgUiEvents({ ...turn, ...about, publicUrl: c.get("publicUrl") }));
  });
  return app;
}

async function turnOf(
  c: ProtocolContext,
  agent: string,
  request: AgUiRequest,
  clientTools: readonly ClientTool[],
): Promise<Turn> {
  const { answers, parts, threadId, forwardedProps } = request;
  const waiting = runOfAnswers(answers);
  if (waiting !== undefined) return goOn(c, waiting, answers, parts);
  if (parts.length === 0)
    throw new Refusal(
      400,
      "body_invalid",
      "messages: the last one has to be a user's, or what a run waits for",
      "messages",
    );
  const credential = c.get("credential");
  const place = await placeOf(c.get("trackside"), credential, threadId);
  // A run has one id there: sent again it is the same run (X10).
  const named = JSON.stringify([credential.user.id, threadId, request.runId]);
  const requestId = `agui_${createHash("sha256").update(named).digest("hex")}`;
  const scope = forwardedProps === null ? {} : { forwarded_props: forwardedProps };
  return begin(c, agent, parts, conversationOf(place), { requestId, scope, clientTools });
}

function stream(c: ProtocolContext, { runId, after, beside }: Turn, events: AgUiEvents): Response {
  const { tenant } = c.get("credential");
  const connection = new Connection(c, runId);
  const { signal } = connection;
  async function* source(): AsyncGenerator<string> {
    yield sse(events.start());
    try {
      for await (const moment of watchRun(c.get("trackside"), {
        tenant,
        runId,
        after,
        beside,
        signal,
      }))
        for (const event of events.read(moment)) yield sse(event);
      for (const event of events.end()) yield sse(event);
    } catch (error) {
      const { message, code } = refusalOf(error);
      yield sse({ type: "RUN_ERROR", message, code });
    }
  }
  return sseResponse(source(), { onGone: () => connection.gone(true) }); // `abortRun()` is nothing else
}
