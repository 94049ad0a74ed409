import { createHash } from "node:crypto";
import type { ConversationRecord, RunRecord, Trackside } from "@trackside/host";
import { Conversation, TracksideError } from "trackside";
import type { ProtocolCredential } from "../env.ts";
import { Refusal } from "./refusal.ts";

/** The conversation that a client's chat or thread stands for. */
export interface Place {
  readonly conversationId: string;
  /** Undefined until its first turn. */
  readonly record: ConversationRecord | undefined;
  /** Its newest run, which also says on which branch it goes on. */
  readonly latest: RunRecord | undefined;
}

const MAX_ID = 200;

/**
 * Finds what a client calls by an id of its own choice. A conversation of the tenant is meant by its own id; any other id
 * belongs to the user who sends it, so that nobody can name, guess or hit upon another's (H1).
 */
export async function placeOf(
  trackside: Trackside,
  { tenant, user }: ProtocolCredential,
  id: string,
): Promise<Place> {
  if (id.length === 0 || id.length > MAX_ID)
    throw new Refusal(400, "id_invalid", `id: 1 to ${MAX_ID} characters expected`, "id");
  const own = `chat_${createHash("sha256")
    .update(JSON.stringify([tenant, user.id, id]))
    .digest("hex")
    .slice(0, 40)}`;
  const named = /^(conv|chat)_/.test(id) ? await find(trackside, tenant, id) : undefined;
  const record = named ?? (await find(trackside, tenant, own));
  if (record === undefined) return { conversationId: own, record: undefined, latest: undefined };
  const [latest] = await trackside.runs.list({ tenant, conversation: record.id, limit: 1 });
  return { conversationId: record.id, record, latest };
}

/** What to start a run on: the branch where the conversation stands, or a new conversation of this id. */
export function conversationOf({ conversationId, record, latest }: Place): Conversation | string {
  if (record !== undefined) return latest?.branch_id ?? record.id;
  return Conversation.fromJSON({ v: 1, id: conversationId, messages: [] });
}

/** The run that is at work on the conversation, waiting ones included; the newest, where branches have one each. */
export function activeRun({ record }: Place): string | undefined {
  const active = record?.branches.findLast(({ active_run_id }) => active_run_id !== null);
  return active?.active_run_id ?? undefined;
}

async function find(trackside: Trackside, tenant: string, id: string) {
  try {
    return await trackside.conversations.get(id, { tenant });
  } catch (error) {
    if (error instanceof TracksideError && error.code === "not_found") return undefined;
    throw error;
  }
}
