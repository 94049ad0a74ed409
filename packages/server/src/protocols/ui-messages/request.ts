import type { Json, UserPart } from "trackside";
import * as z from "zod";
import type { Said } from "../shared/decide.ts";
import { filePart } from "../shared/files.ts";
import { Refusal } from "../shared/refusal.ts";

const MAX_MESSAGES = 10_000;

/** What `DefaultChatTransport` sends, and what of ours may stand beside it in `body`. */
const requestShape = z.strictObject({
  id: z.string().min(1).max(200),
  messages: z
    .array(z.looseObject({ role: z.string(), id: z.string().max(500).optional() }))
    .max(MAX_MESSAGES),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  messageId: z.string().max(500).nullish(),
  /** What becomes of the run when the connection does: `cancel` (so that `stop()` stops it) or `continue`. */
  onDisconnect: z.enum(["cancel", "continue"]).default("cancel"),
  whenBusy: z.enum(["refuse", "steer", "queue"]).default("refuse"),
  scope: z.record(z.string(), z.unknown()).default({}),
});
export type ChatRequest = z.infer<typeof requestShape>;

const textPart = z.looseObject({ type: z.literal("text"), text: z.string() });
const uiFile = z.looseObject({
  type: z.literal("file"),
  mediaType: z.string().min(1).max(200),
  url: z.string(),
  filename: z.string().max(500).nullish(),
});

const toolPart = z.looseObject({
  type: z.string(),
  toolCallId: z.string(),
  state: z.string(),
  output: z.unknown().optional(),
  errorText: z.string().nullish(),
  approval: z
    .looseObject({ id: z.string(), approved: z.boolean().optional(), reason: z.string().nullish() })
    .nullish(),
});

export function readChatRequest(body: Record<string, unknown>): ChatRequest {
  const found = requestShape.safeParse(body);
  if (!found.success) throw invalid(found.error, "");
  for (const key of ["tenant", "user"])
    if (Object.hasOwn(found.data.scope, key))
      throw new Refusal(400, "body_invalid", `scope.${key}: it comes from the credential`, `scope.${key}`);
  return found.data;
}

/** The user's newest message. Nothing before it is read: the server's log is what was said. */
export function readUserParts(message: ChatRequest["messages"][number]): readonly UserPart[] {
  const parts = z
    .array(z.looseObject({ type: z.string() }))
    .min(1)
    .max(100)
    .safeParse(message["parts"]);
  if (!parts.success) throw invalid(parts.error, "messages.parts");
  return parts.data.map((part, i) => {
    const where = `messages.parts.${i}`;
    if (part.type === "text") {
      const text = textPart.safeParse(part);
      if (!text.success) throw invalid(text.error, where);
      return { type: "text", text: text.data.text };
    }
    if (part.type === "file") {
      const file = uiFile.safeParse(part);
      if (!file.success) throw invalid(file.error, where);
      const { url, mediaType, filename } = file.data;
      return filePart(url, mediaType, where, filename ?? undefined);
    }
    const given = JSON.stringify(part.type.slice(0, 100));
    throw new Refusal(400, "body_invalid", `${where}: a text or file part expected, ${given} given`, where);
  });
}

/** What the client says about calls of an assistant's message, by call id and by approval id. */
export function readSaid(message: ChatRequest["messages"][number]): {
  readonly byApproval: ReadonlyMap<string, Said>;
  readonly byCall: ReadonlyMap<string, Said>;
} {
  const byApproval = new Map<string, Said>();
  const byCall = new Map<string, Said>();
  const parts: unknown = message["parts"];
  for (const part of Array.isArray(parts) ? parts : []) {
    const found = toolPart.safeParse(part);
    if (!found.success) continue; // text, data and the like
    const { approval, state, toolCallId, output, errorText } = found.data;
    if (typeof approval?.approved === "boolean")
      byApproval.set(approval.id, {
        type: "verdict",
        approved: approval.approved,
        reason: approval.reason ?? undefined,
      });
    if (state === "output-available")
      byCall.set(toolCallId, { type: "output", output: (output ?? null) as Json }); // it came as JSON
    if (state === "output-error")
      byCall.set(toolCallId, { type: "failed", reason: errorText ?? "the client could not run it" });
  }
  return { byApproval, byCall };
}

const seen = z.looseObject({ cursor: z.string().max(65_536) });

/** Where the client stopped reading, as its message's metadata says. */
export function readCursor(message: ChatRequest["messages"][number]): string | undefined {
  const found = seen.safeParse(message["metadata"]);
  return found.success ? found.data.cursor : undefined;
}

function invalid(error: z.ZodError, where: string): Refusal {
  const lines = error.issues.slice(0, 20).map(({ path, message }) => {
    const at = [where, ...path].filter((one) => one !== "").join(".");
    return `${at || "body"}: ${message}`;
  });
  return new Refusal(400, "body_invalid", lines.join("\n"), error.issues[0]?.path.join(".") ?? null);
}
