import type { UserPart } from "trackside";
import * as z from "zod";
import { Refusal } from "../shared/refusal.ts";
import type { Answers } from "../shared/turn.ts";
import { newest, shapeRefusal } from "./chat-request.ts";
import { readContent, readText, withInstructions } from "./content.ts";
import type { Said } from "./history.ts";
import { metadataShape } from "./parameters.ts";

const item = z.looseObject({ type: z.string().optional(), role: z.string().optional() });

const requestShape = z.looseObject({
  model: z.string(),
  input: z.union([z.string(), z.array(item).max(10_000)]),
  stream: z.boolean().nullish(),
  instructions: z.string().nullish(),
  previous_response_id: z.string().max(300).nullish(),
  conversation: z.union([z.string(), z.looseObject({ id: z.string() })]).nullish(),
  metadata: metadataShape,
  store: z.boolean().nullish(),
  text: z.looseObject({ format: z.unknown().optional(), verbosity: z.null().optional() }).nullish(),
});

export interface ResponseRequest {
  readonly model: string;
  readonly isStreamed: boolean;
  readonly instructions: string | null;
  readonly previous: string | null;
  readonly conversation: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly store: boolean;
  readonly format: unknown;
  readonly history: readonly Said[];
  readonly parts: readonly UserPart[];
  readonly answers: Answers;
}

const functionCall = z.looseObject({ call_id: z.string().max(500), name: z.string(), arguments: z.string() });
const functionOutput = z.looseObject({ call_id: z.string().max(500), output: z.unknown() });
const approvalResponse = z.looseObject({
  approval_request_id: z.string().max(500),
  approve: z.boolean(),
  reason: z.string().max(10_000).nullish(),
});

/** Items of earlier responses that say nothing to a model here: the server's own log has them. */
const OURS = ["reasoning", "mcp_call", "mcp_approval_request", "mcp_list_tools"];

export function readResponseRequest(body: Record<string, unknown>): ResponseRequest {
  const found = requestShape.safeParse(body);
  if (!found.success) throw shapeRefusal(found.error);
  const { data } = found;
  const instructions: string[] = data.instructions ? [data.instructions] : [];
  const verdicts = new Map<string, { approve: boolean; reason?: string | undefined }>();
  const given = typeof data.input === "string" ? [{ role: "user", content: data.input }] : data.input;
  const history: Said[] = [];
  for (const [i, one] of given.entries()) {
    const where = `input[${i}]`;
    const type = one.type ?? "message";
    if (type === "message") readMessage(one, where, history, instructions);
    else if (type === "function_call") {
      const { call_id: id, name, arguments: args } = parsed(functionCall, one, where);
      history.push({ role: "assistant", text: "", calls: [{ id, name, arguments: args }] });
    } else if (type === "function_call_output") {
      const { call_id, output } = parsed(functionOutput, one, where);
      history.push({ role: "tool", callId: call_id, output: readText(output, `${where}.output`) });
    } else if (type === "mcp_approval_response") {
      const { approval_request_id: id, approve, reason } = parsed(approvalResponse, one, where);
      verdicts.set(id, { approve, reason: reason ?? undefined });
    } else if (!OURS.includes(type)) {
      const problem = `${where}: items of type ${JSON.stringify(type.slice(0, 100))} are not supported`;
      throw new Refusal(400, "unsupported_item", problem, where);
    }
  }
  const { before, parts, outputs } = newest(history);
  return {
    model: data.model,
    isStreamed: data.stream === true,
    instructions: data.instructions ?? null,
    previous: data.previous_response_id ?? null,
    conversation: typeof data.conversation === "string" ? data.conversation : (data.conversation?.id ?? null),
    metadata: data.metadata ?? {},
    store: data.store ?? true,
    format: data.text?.format,
    history: before,
    parts: parts.length === 0 ? [] : withInstructions(parts, instructions),
    answers: { outputs, verdicts },
  };
}

function readMessage(
  one: z.infer<typeof item>,
  where: string,
  history: Said[],
  instructions: string[],
): void {
  const content = one["content"];
  if (one.role === "user") history.push({ role: "user", parts: readContent(content, `${where}.content`) });
  else if (one.role === "assistant")
    history.push({ role: "assistant", text: readText(content, `${where}.content`), calls: [] });
  else if (one.role === "system" || one.role === "developer")
    instructions.push(readText(content, `${where}.content`));
  else
    throw new Refusal(
      400,
      "invalid_request",
      `${where}.role: user, assistant, system or developer expected`,
      where,
    );
}

function parsed<S extends z.ZodType>(schema: S, value: unknown, where: string): z.output<S> {
  const found = schema.safeParse(value);
  if (found.success) return found.data;
  const [problem] = found.error.issues;
  throw new Refusal(
    400,
    "invalid_request",
    `${where}.${problem?.path.join(".")}: ${problem?.message}`,
    where,
  );
}
