import type { ClientTool, JsonObject, UserPart } from "trackside";
import * as z from "zod";
import { filePart } from "../shared/files.ts";
import { Refusal } from "../shared/refusal.ts";
import type { Answers, Verdict } from "../shared/turn.ts";

const id = z.string().min(1).max(200);

const source = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("data"), value: z.string(), mimeType: z.string().max(200) }),
  z.looseObject({ type: z.literal("url"), value: z.string(), mimeType: z.string().max(200).optional() }),
]);
const part = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text"), text: z.string() }),
  z.looseObject({ type: z.literal("image"), source }),
  z.looseObject({ type: z.literal("audio"), source }),
  z.looseObject({ type: z.literal("video"), source }),
  z.looseObject({ type: z.literal("document"), source }),
]);
const content = z.union([z.string(), z.array(part).max(100)]);

const message = z.looseObject({
  id: z.string().max(500),
  role: z.enum(["user", "assistant", "system", "developer", "tool", "activity", "reasoning"]),
});

const inputShape = z.strictObject({
  threadId: id,
  runId: id,
  parentRunId: id.optional(),
  protocolVersion: z.string().max(50).optional(),
  state: z.unknown().optional(),
  messages: z.array(message).max(10_000),
  tools: z
    .array(
      z.looseObject({
        name: z.string(),
        description: z.string().nullish(),
        parameters: z.record(z.string(), z.unknown()).nullish(),
      }),
    )
    .max(256)
    .default([]),
  context: z
    .array(z.looseObject({ description: z.string(), value: z.string() }))
    .max(256)
    .default([]),
  forwardedProps: z.unknown().optional(),
  resume: z
    .array(
      z.looseObject({
        interruptId: z.string().max(500),
        status: z.enum(["resolved", "cancelled"]),
        payload: z.unknown().optional(),
      }),
    )
    .max(256)
    .default([]),
});

const NO_ARGUMENTS: JsonObject = { type: "object", properties: {} };

export interface AgUiRequest {
  readonly threadId: string;
  readonly runId: string;
  readonly state: unknown;
  readonly messages: readonly z.infer<typeof message>[];
  /** Tools of the frontend. */
  readonly tools: readonly ClientTool[];
  readonly forwardedProps: JsonObject | null;
  /** The user's newest messages, with the context of the application. */
  readonly parts: readonly UserPart[];
  readonly answers: Answers;
}

export function readAgUi(body: Record<string, unknown>): AgUiRequest {
  const found = inputShape.safeParse(body);
  if (!found.success) throw refusal(found.error, "");
  const { threadId, runId, state, messages, tools, context, forwardedProps, resume } = found.data;
  const from =
    messages.findLastIndex(({ role }) => role !== "user" && role !== "system" && role !== "developer") + 1;
  const said = messages.slice(from).flatMap((one, i) => read(one, `messages.${from + i}`));
  const about = context.map(({ description, value }) => `${description}: ${value}`).join("\n");
  const given: UserPart[] =
    about === "" ? [] : [{ type: "text", text: `Context of the application:\n${about}` }];
  const results = messages.slice(0, from);
  const asked = results.findLastIndex(({ role }) => role !== "tool" && role !== "activity") + 1;
  const outputs = new Map(results.slice(asked).flatMap((one, i) => result(one, `messages.${asked + i}`)));
  const verdicts = new Map(resume.map((entry) => [entry.interruptId, verdictOf(entry)]));
  return {
    threadId,
    runId,
    state,
    messages,
    tools: tools.map(({ name, description, parameters }) => ({
      name,
      ...(description ? { description } : {}),
      inputSchema: (parameters ?? NO_ARGUMENTS) as JsonObject, // it was JSON, and is read with care where it is used
    })),
    forwardedProps:
      isObject(forwardedProps) && Object.keys(forwardedProps).length > 0 ? forwardedProps : null,
    parts: said.length === 0 ? [] : [...given, ...said],
    answers: { outputs, verdicts, echoes: true },
  };
}

function read(one: z.infer<typeof message>, where: string): readonly UserPart[] {
  const found = content.safeParse(one["content"]);
  if (!found.success) throw refusal(found.error, `${where}.content`);
  if (typeof found.data === "string") return found.data === "" ? [] : [{ type: "text", text: found.data }];
  return found.data.map((given, i) => {
    if (given.type === "text") return { type: "text", text: given.text };
    const { value, mimeType } = given.source;
    const url = given.source.type === "data" ? `data:${mimeType};base64,${value}` : value;
    return filePart(url, mimeType, `${where}.content.${i}`);
  });
}

function result(one: z.infer<typeof message>, where: string): readonly (readonly [string, string])[] {
  if (one.role !== "tool") return [];
  const found = z.looseObject({ toolCallId: z.string().max(500), content }).safeParse(one);
  if (!found.success) throw refusal(found.error, where);
  const { toolCallId, content: said } = found.data;
  const text =
    typeof said === "string" ? said : said.map((given) => (given.type === "text" ? given.text : "")).join("");
  return [[toolCallId, text]];
}

/** `true`, `{ approved: true, reason }`, or for a question its answer. */
function verdictOf({ status, payload }: { status: string; payload?: unknown }): Verdict {
  if (status === "cancelled") return { approve: false, reason: "cancelled" };
  if (!isObject(payload)) return { approve: payload === true };
  const { approved, reason, ...rest } = payload;
  if (typeof approved !== "boolean") return { approve: true, content: payload };
  return {
    approve: approved,
    ...(typeof reason === "string" ? { reason } : {}),
    ...(Object.keys(rest).length > 0 ? { content: rest } : {}),
  };
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function refusal(error: z.ZodError, where: string): Refusal {
  const lines = error.issues.slice(0, 20).map(({ path, message: problem }) => {
    const at = [where, ...path].filter((one) => one !== "").join(".");
    return `${at || "body"}: ${problem}`;
  });
  return new Refusal(400, "body_invalid", lines.join("\n"), error.issues[0]?.path.join(".") ?? null);
}
