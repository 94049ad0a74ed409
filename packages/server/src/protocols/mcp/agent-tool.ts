import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Approval, DurableEvent, LiveEvent } from "trackside";
import * as z from "zod";
import type { ProtocolContext } from "../env.ts";
import { mayDecide, mayStart } from "../shared/access.ts";
import { isMain } from "../shared/beats.ts";
import { Connection, closing } from "../shared/connection.ts";
import { approvalLink } from "../shared/decide.ts";
import { conversationOf, placeOf } from "../shared/place.ts";
import { Refusal, refusalOf } from "../shared/refusal.ts";
import { begin, goOn, type Turn, type Verdict } from "../shared/turn.ts";
import { watchRun } from "../shared/watch.ts";
import { progressOf } from "./progress.ts";

export const toolInput = z.object({
  message: z.string().min(1).describe("What to say to the agent"),
  conversation: z
    .string()
    .min(1)
    .max(200)
    .optional()
    .describe("Goes on with the conversation of an earlier call; without it a new one begins"),
});

export const toolOutput = z.object({
  status: z.enum(["completed", "waiting"]),
  text: z.string(),
  conversation: z.string(),
  run: z.string(),
  approvals: z.array(z.object({ id: z.string(), tool: z.string().nullable(), url: z.string() })).optional(),
});

type Answer = CallToolResult | InputRequiredResult;

/** One call of an agent as a tool: a turn of its conversation, to its end or to where it waits for somebody. */
export async function callAgent(
  c: ProtocolContext,
  agent: string,
  input: z.infer<typeof toolInput>,
  context: ServerContext,
): Promise<Answer> {
  try {
    const turn = await turnOf(c, agent, input, context);
    return await follow(c, turn, context);
  } catch (error) {
    return { isError: true, content: [{ type: "text", text: refusalOf(error).message }] };
  }
}

const stateShape = z.object({ run: z.string(), asked: z.array(z.string()).max(1000) });

async function turnOf(
  c: ProtocolContext,
  agent: string,
  { message, conversation }: z.infer<typeof toolInput>,
  { mcpReq }: ServerContext,
): Promise<Turn> {
  const credential = c.get("credential");
  const trackside = c.get("trackside");
  const kept = stateOf(mcpReq.requestState());
  if (kept === undefined) {
    const place = conversation === undefined ? undefined : await placeOf(trackside, credential, conversation);
    const parts = [{ type: "text" as const, text: message }];
    return begin(c, agent, parts, place === undefined ? undefined : conversationOf(place));
  }
  // The state comes from the client: it may name a run of this user, and no other.
  const run = await trackside.runs.get(kept.run, { tenant: credential.tenant });
  if (run.scope["user"] !== credential.user.id || run.agent !== agent)
    throw new Refusal(404, "not_found", "There is no such run of yours.");
  const verdicts = new Map<string, Verdict>();
  for (const id of kept.asked) {
    const verdict = verdictOf(mcpReq.inputResponses?.[id], credential.user.id);
    if (verdict !== undefined) verdicts.set(id, verdict);
  }
  if (verdicts.size === 0) return { runId: run.id, conversationId: run.conversation_id };
  return goOn(c, run.id, { outputs: new Map(), verdicts }, []);
}

function stateOf(given: unknown): z.infer<typeof stateShape> | undefined {
  if (typeof given !== "string") return undefined;
  try {
    return stateShape.parse(JSON.parse(given));
  } catch {
    throw new Refusal(400, "state_invalid", "requestState: this server did not write it");
  }
}

const response = z.looseObject({
  action: z.enum(["accept", "decline", "cancel"]),
  content: z.record(z.string(), z.json()).optional(),
});

/** Who dismisses the question has not decided: it goes on waiting. */
function verdictOf(given: unknown, user: string): Verdict | undefined {
  const found = response.safeParse(given);
  if (!found.success || found.data.action === "cancel") return undefined;
  if (found.data.action === "decline") return { approve: false, reason: `declined by ${user}` };
  const content = found.data.content ?? {};
  const { approve, reason } = content;
  if (typeof approve !== "boolean") return { approve: true, content };
  return { approve, ...(typeof reason === "string" ? { reason } : {}), content };
}

async function follow(c: ProtocolContext, turn: Turn, context: ServerContext): Promise<Answer> {
  const { runId, after, beside } = turn;
  const { tenant } = c.get("credential");
  const connection = new Connection(c, runId);
  const { signal } = connection;
  const asked = context.mcpReq.signal;
  const gone = () => connection.gone(true);
  asked.addEventListener("abort", gone, { once: true });
  const report = reporter(context);
  let text = "";
  try {
    if (asked.aborted) gone();
    for await (const moment of watchRun(c.get("trackside"), { tenant, runId, after, beside, signal })) {
      if (moment.kind === "paused") return paused(c, turn, moment.waiting, text, context);
      const { event, isPast } = moment;
      if (event.type === "text" && isMain(event, runId)) text = event.text;
      if (isPast) continue;
      await report(event);
      const end = event.type === "status" && isMain(event, runId) ? ended(turn, event, text) : undefined;
      if (end !== undefined) return end;
    }
  } finally {
    asked.removeEventListener("abort", gone);
  }
  throw closing();
}

type Status = Extract<DurableEvent, { type: "status" }>;

function ended(turn: Turn, { status, failure, reason, stop_reason }: Status, text: string) {
  if (status === "completed") {
    const why = stop_reason === "answered" || reason === undefined ? "" : `The run stopped: ${reason}`;
    return result(turn, "completed", stop_reason === "halted" ? why : text || why);
  }
  if (status !== "error" && status !== "cancelled" && status !== "parked") return undefined;
  const words = failure?.message ?? `The run is ${status}${reason === undefined ? "" : `: ${reason}`}`;
  return { isError: true, content: [{ type: "text" as const, text: words }] };
}

function result(
  { runId, conversationId }: Turn,
  status: "completed" | "waiting",
  text: string,
  approvals?: z.infer<typeof toolOutput>["approvals"],
): CallToolResult {
  const more = approvals === undefined ? {} : { approvals };
  return {
    content: [{ type: "text", text }],
    structuredContent: { status, text, conversation: conversationId, run: runId, ...more },
  };
}

/** Asks the client's user where they may decide and the client can ask; else says where somebody can. */
function paused(
  c: ProtocolContext,
  turn: Turn,
  waiting: readonly Approval[],
  text: string,
  { mcpReq }: ServerContext,
): Answer {
  const credential = c.get("credential");
  const mine = waiting.filter(
    ({ kind }) =>
      (kind === "tool_call" && mayDecide(credential)) ||
      (kind === "elicitation" && (mayDecide(credential) || mayStart(credential))),
  );
  const dismissed = mine.every(({ id }) => mcpReq.inputResponses?.[id] !== undefined);
  if (mine.length > 0 && !dismissed && canAsk(mcpReq.envelope)) {
    const asked = mine.map(({ id }) => id);
    const requests = mine.map((one) => [one.id, inputRequired.elicit(questionOf(one))]);
    return inputRequired({
      inputRequests: Object.fromEntries(requests),
      requestState: JSON.stringify({ run: turn.runId, asked }),
    });
  }
  const approvals = waiting.map(({ id, tool }) => ({ id, tool, url: approvalLink(c.get("publicUrl"), id) }));
  const lines = approvals.map(({ tool, url }) => `Waiting for a decision on ${tool ?? "a question"}: ${url}`);
  return result(turn, "waiting", [text, ...lines].filter((line) => line !== "").join("\n"), approvals);
}

const capable = z.looseObject({
  [CLIENT_CAPABILITIES_META_KEY]: z.looseObject({ elicitation: z.looseObject({}) }),
});

function canAsk(envelope: ServerContext["mcpReq"]["envelope"]): boolean {
  return capable.safeParse(envelope).success;
}

type Question = Parameters<typeof inputRequired.elicit>[0];

function questionOf({ kind, tool, arguments: args, reasons, response_schema }: Approval): Question {
  if (kind === "elicitation") {
    // As the tool that asks wrote it; clients check what they can show.
    const requestedSchema = (response_schema ?? {
      type: "object",
      properties: {},
    }) as Question["requestedSchema"];
    return { message: reasons.join("\n"), requestedSchema };
  }
  const message = `Allow ${tool} with ${JSON.stringify(args ?? {})}?\n${reasons.join("\n")}`;
  return {
    message,
    requestedSchema: {
      type: "object",
      properties: {
        approve: { type: "boolean", title: "Approve" },
        reason: { type: "string", title: "Reason" },
      },
      required: ["approve"],
    },
  };
}

/** Tells the client what the run does, if it asked to be told. */
function reporter({ mcpReq }: ServerContext): (event: DurableEvent | LiveEvent) => Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  return async (event) => {
    const message = progressToken === undefined ? undefined : progressOf(event);
    if (progressToken === undefined || message === undefined) return;
    progress += 1;
    await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
  };
}
