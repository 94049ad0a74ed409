import type { Trackside } from "@trackside/host";
import {
  AgentConfigError,
  type ClientTool,
  type Conversation,
  type Json,
  type JsonObject,
  type UserPart,
} from "trackside";
import type { ProtocolContext } from "../env.ts";
import { requireStart } from "./access.ts";
import { decide, type Said } from "./decide.ts";
import { pausePoint } from "./pause-point.ts";
import { Refusal } from "./refusal.ts";
import { requestIdOf } from "./request-id.ts";
import { startTurn } from "./start.ts";
import { outputFor } from "./tool-output.ts";
import { positionOf } from "./watch.ts";

/** The run that a request is answered from, and how much of it the client has. */
export interface Turn {
  readonly runId: string;
  readonly conversationId: string;
  readonly after?: string | undefined;
  /** A message on its way to the run; it settles when the run has taken it, which may take long. */
  readonly beside?: Promise<unknown>;
}

/** What a client answers: results of its tools by call, verdicts and answers to questions by approval. */
export interface Answers {
  readonly outputs: ReadonlyMap<string, string>;
  readonly verdicts: ReadonlyMap<string, Verdict>;
  /** Results of calls that nobody asked for are our own, which the client keeps with its history. */
  readonly echoes?: boolean;
}

export interface Verdict {
  readonly approve: boolean;
  readonly reason?: string | undefined;
  /** What a question was answered with. */
  readonly content?: Json | undefined;
}

/** The run whose calls or approvals these are, if they are one's of ours: their ids begin with its id. */
export function runOfAnswers({ outputs, verdicts }: Answers): string | undefined {
  const [first] = [...outputs.keys(), ...verdicts.keys()];
  return first === undefined ? undefined : /^(run_[a-z0-9]+)\./.exec(first)?.[1];
}

export async function begin(
  c: ProtocolContext,
  agent: string,
  parts: readonly UserPart[],
  conversation: Conversation | string | undefined,
  {
    requestId,
    scope = {},
    clientTools = [],
  }: { requestId?: string; scope?: JsonObject; clientTools?: readonly ClientTool[] } = {},
): Promise<Turn> {
  const credential = c.get("credential");
  requireStart(credential);
  const { tenant, user } = credential;
  const id = requestIdOf(c.req.raw.headers, credential) ?? requestId;
  const starting = startTurn(c.get("trackside"), agent, parts, {
    ...(conversation === undefined ? {} : { conversation }),
    scope: { ...scope, tenant, user: user.id },
    ...(id === undefined ? {} : { requestId: id }),
    ...(clientTools.length === 0 ? {} : { clientTools }),
  });
  const { runId, conversationId } = await starting.catch((error: unknown) => {
    throw toolRefusal(error) ?? error;
  });
  return { runId, conversationId };
}

/** What is wrong with the tools of a request, in the client's words. */
function toolRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof AgentConfigError)) return undefined;
  const wrong = error.issues.filter(({ path }) => path.startsWith("clientTools"));
  if (wrong.length === 0) return undefined;
  const lines = wrong.map(({ message }) => message.replace("clientTools", "tools"));
  return new Refusal(400, "tool_invalid", lines.join("\n"), "tools");
}

/** Decides what the client answers, and goes on from where it was asked. `parts` join the run (X6). */
export async function goOn(
  c: ProtocolContext,
  runId: string,
  answers: Answers,
  parts: readonly UserPart[],
): Promise<Turn> {
  const credential = c.get("credential");
  const trackside = c.get("trackside");
  const { tenant } = credential;
  const run = await trackside.runs.get(runId, { tenant });
  const records = await trackside.approvals.list({ tenant, rootRunId: runId, state: "all", limit: 10_000 });
  const known = new Set(records.flatMap(({ id, call_id }) => (call_id === null ? [id] : [id, call_id])));
  const given = [...answers.outputs.keys(), ...answers.verdicts.keys()];
  const ids = given.filter((id) => known.has(id));
  const [stray] = given.filter((id) => !known.has(id));
  if (stray !== undefined && (answers.echoes !== true || ids.length === 0))
    throw new Refusal(400, "call_unknown", `Nobody asked for ${JSON.stringify(stray.slice(0, 200))}`);
  const after =
    (await pausePoint(trackside, tenant, runId, ids)) ?? (await positionOf(trackside, tenant, runId));
  if (parts.length > 0) requireStart(credential);
  // Sent first, so that it is there when the run goes on.
  const beside = parts.length > 0 ? trackside.steer(runId, parts, { tenant }) : undefined;
  beside?.catch(() => {}); // whoever watches the run is told
  for (const record of records) {
    if (record.state !== "pending") continue; // sent again, or somebody was first
    const said = saidOf(record, answers);
    if (said !== undefined) await decide(trackside, credential, record, said);
  }
  return { runId, conversationId: run.conversation_id, after, ...(beside === undefined ? {} : { beside }) };
}

type Record = Awaited<ReturnType<Trackside["approvals"]["list"]>>[number];

function saidOf(
  { id, kind, call_id, response_schema }: Record,
  { outputs, verdicts }: Answers,
): Said | undefined {
  if (kind === "client_tool") {
    const text = outputs.get(call_id ?? "");
    return text === undefined ? undefined : { type: "output", output: outputFor(text, response_schema) };
  }
  const verdict = verdicts.get(id);
  if (verdict === undefined) return undefined;
  if (kind === "tool_call") return { type: "verdict", approved: verdict.approve, reason: verdict.reason };
  if (kind === "elicitation")
    return { type: "answer", content: verdict.approve ? (verdict.content ?? {}) : null };
  return undefined; // for people who can see what happened, in the control room
}
