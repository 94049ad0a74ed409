import type { ElicitRequest } from "@modelcontextprotocol/client";
import type { JsonObject, ToolContext } from "trackside";
import type { CallDeadline } from "./deadline.ts";
import { asJsonObject, cut, isObject, problemOfJson } from "./untrusted-json.ts";

/** A call under way, and whom it may ask. */
export interface RunningCall {
  readonly context: Pick<ToolContext, "elicit" | "signal">;
  readonly deadline: Pick<CallDeadline, "pause" | "resume">;
  questions: number;
}

type Content = Record<string, string | number | boolean | string[]>;
export type Answer = { action: "accept"; content: Content } | { action: "decline" | "cancel" };

const SCHEMA_LIMITS = { depth: 8, nodes: 2_000, chars: 32_000 };
const MAX_MESSAGE = 8_000;
/** A server that asks more often than this is not after an answer. */
const MAX_QUESTIONS = 32;

/** Puts a server's question to the person behind the run. What cannot be asked is declined; never rejects. */
export async function answerElicitation(
  call: RunningCall | undefined,
  params: ElicitRequest["params"] | Record<string, unknown>,
): Promise<Answer> {
  if (call === undefined || call.context.signal.aborted) return { action: "cancel" };
  const question = readQuestion(params);
  if (question === null || ++call.questions > MAX_QUESTIONS) return { action: "decline" };
  call.deadline.pause();
  try {
    const answer = await call.context.elicit(question);
    if (answer.action === "accept")
      return { action: "accept", content: withDefaults(question.schema, answer.content) };
    return { action: answer.action };
  } catch {
    return { action: "cancel" }; // nobody could be asked
  } finally {
    call.deadline.resume();
  }
}

/** A form with a bounded schema; links to open elsewhere are not offered. */
function readQuestion(params: unknown): { message: string; schema: JsonObject } | null {
  if (!isObject(params) || (params["mode"] ?? "form") !== "form") return null;
  const { message, requestedSchema } = params;
  if (typeof message !== "string" || !isObject(requestedSchema)) return null;
  if (problemOfJson(requestedSchema, SCHEMA_LIMITS) !== null) return null;
  return { message: cut(message, MAX_MESSAGE), schema: asJsonObject(requestedSchema) };
}

/** What a form starts with is what it says where nobody wrote anything else. */
function withDefaults({ properties }: JsonObject, content: JsonObject): Content {
  const filled: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(isObject(properties) ? properties : {}))
    if (isObject(field) && field["default"] !== undefined) filled[key] = field["default"];
  // The person answered what the schema asks for, which has only such values; the client checks them again.
  return { ...filled, ...content } as Content;
}
