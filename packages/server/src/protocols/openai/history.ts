import { Conversation, type JsonObject, type Message, type UserPart } from "trackside";
import { Refusal } from "../shared/refusal.ts";
import { jsonOf } from "../shared/tool-output.ts";

/** A message as a client keeps it: what it says was said before. */
export type Said =
  | { readonly role: "user"; readonly parts: readonly UserPart[] }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
    }
  | { readonly role: "tool"; readonly callId: string; readonly output: string };

/**
 * A conversation with the history that a client sends along, for APIs in which the client keeps it. It stands in the log of
 * a new conversation as what the client says it is; nothing of it is taken for a run of ours.
 */
export function importedConversation(said: readonly Said[], id?: string): Conversation {
  const empty = new Conversation();
  const own = id ?? empty.id;
  const messages: Message[] = [];
  const names = new Map<string, string>();
  for (const [i, one] of said.entries()) {
    const at = `${own}.import.${i}`;
    if (one.role === "user") messages.push({ id: at, role: "user", parts: one.parts });
    else if (one.role === "assistant") {
      if (one.text === "" && one.calls.length === 0) continue;
      for (const call of one.calls) names.set(call.id, call.name);
      messages.push({
        id: at,
        role: "assistant",
        parts: [
          ...(one.text === "" ? [] : [{ type: "text" as const, text: one.text }]),
          ...one.calls.map((call) => ({
            type: "tool_call" as const,
            call_id: call.id,
            wire_id: call.id,
            tool: call.name,
            arguments: objectOf(call.arguments),
          })),
        ],
      });
    } else messages.push(result(at, one, names.get(one.callId)));
  }
  refuseOpenCalls(said);
  return Conversation.fromJSON({ v: 1, id: own, messages });
}

function result(
  id: string,
  { callId, output }: Extract<Said, { role: "tool" }>,
  tool: string | undefined,
): Message {
  if (tool === undefined) {
    const problem = `messages: there is a result for the call ${JSON.stringify(callId)}, but no such call before it`;
    throw new Refusal(400, "call_unknown", problem, "messages");
  }
  return {
    id,
    role: "tool",
    call_id: callId,
    wire_id: callId,
    tool,
    output: { type: "text", value: output },
    metadata: {
      status: "success",
      started_at: 0,
      completed_at: 0,
      execution_time_ms: 0,
      approval_status: "not_required",
      approval_id: null,
      injected_args: {},
      offloaded_artifact_id: null,
      approval_wait_ms: 0,
      attempts: 1,
      skipped_by: null,
      original_args: null,
    },
  };
}

/** Providers refuse a call without its result. */
function refuseOpenCalls(said: readonly Said[]): void {
  const done = new Set(said.flatMap((one) => (one.role === "tool" ? [one.callId] : [])));
  const open = said
    .flatMap((one) => (one.role === "assistant" ? one.calls : []))
    .filter(({ id }) => !done.has(id));
  if (open.length === 0) return;
  const ids = open.map(({ id }) => JSON.stringify(id)).join(", ");
  throw new Refusal(400, "call_open", `messages: the calls ${ids} have no result`, "messages");
}

function objectOf(text: string): JsonObject {
  const value = jsonOf(text);
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return isObject ? (value as JsonObject) : {}; // no list, as was just seen
}
