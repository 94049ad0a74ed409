import type { UserPart } from "trackside";
import * as z from "zod";
import { Refusal } from "../shared/refusal.ts";
import type { Answers } from "../shared/turn.ts";
import { readContent, readText, withInstructions } from "./content.ts";
import type { Said } from "./history.ts";
import { metadataShape } from "./parameters.ts";

const call = z.looseObject({
  id: z.string().max(500),
  type: z.literal("function").optional(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const message = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("system"), content: z.unknown() }),
  z.looseObject({ role: z.literal("developer"), content: z.unknown() }),
  z.looseObject({ role: z.literal("user"), content: z.unknown() }),
  z.looseObject({
    role: z.literal("assistant"),
    content: z.unknown().optional(),
    tool_calls: z.array(call).max(256).nullish(),
  }),
  z.looseObject({ role: z.literal("tool"), tool_call_id: z.string().max(500), content: z.unknown() }),
]);

const requestShape = z.looseObject({
  model: z.string(),
  messages: z.array(message).min(1).max(10_000),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  metadata: metadataShape,
});

export interface ChatRequest {
  readonly model: string;
  readonly isStreamed: boolean;
  readonly wantsUsage: boolean;
  readonly metadata: Readonly<Record<string, string>>;
  /** What came before the newest turn, as the client has it. */
  readonly history: readonly Said[];
  /** The newest messages of the user, with what the application says. */
  readonly parts: readonly UserPart[];
  /** Results at the end of the messages: of calls that this server may be waiting for. */
  readonly answers: Answers;
}

export function readChat(body: Record<string, unknown>): ChatRequest {
  const found = requestShape.safeParse(body);
  if (!found.success) throw shapeRefusal(found.error);
  const { model, messages, stream, stream_options, metadata } = found.data;
  const instructions: string[] = [];
  const history: Said[] = [];
  for (const [i, one] of messages.entries()) {
    const where = `messages[${i}].content`;
    if (one.role === "system" || one.role === "developer") instructions.push(readText(one.content, where));
    else if (one.role === "user") history.push({ role: "user", parts: readContent(one.content, where) });
    else if (one.role === "tool")
      history.push({ role: "tool", callId: one.tool_call_id, output: readText(one.content, where) });
    else {
      const calls = (one.tool_calls ?? []).map((made) => ({ id: made.id, ...made.function }));
      history.push({ role: "assistant", text: readText(one.content, where), calls });
    }
  }
  const { before, parts, outputs } = newest(history);
  return {
    model,
    isStreamed: stream === true,
    wantsUsage: stream_options?.include_usage === true,
    metadata: metadata ?? {},
    history: before,
    parts: parts.length === 0 ? [] : withInstructions(parts, instructions),
    answers: { outputs, verdicts: new Map() },
  };
}

/** Parts the newest turn from what came before: the user's last messages, and results right before them. */
export function newest(history: readonly Said[]): {
  readonly before: readonly Said[];
  readonly parts: readonly UserPart[];
  readonly outputs: ReadonlyMap<string, string>;
} {
  const from = history.findLastIndex(({ role }) => role !== "user") + 1;
  const before = history.slice(0, from);
  const parts = history.slice(from).flatMap((one) => (one.role === "user" ? one.parts : []));
  const asked = before.findLastIndex(({ role }) => role !== "tool") + 1;
  const outputs = new Map(
    before.slice(asked).flatMap((one) => (one.role === "tool" ? [[one.callId, one.output] as const] : [])),
  );
  return { before, parts, outputs };
}

export function shapeRefusal(error: z.ZodError): Refusal {
  const lines = error.issues
    .slice(0, 20)
    .map(({ path, message: problem }) => `${path.join(".") || "body"}: ${problem}`);
  return new Refusal(400, "invalid_request", lines.join("\n"), error.issues[0]?.path.join(".") || null);
}
