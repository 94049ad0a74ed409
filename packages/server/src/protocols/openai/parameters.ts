import { isDeepStrictEqual } from "node:util";
import type { AgentBinding, ClientTool, JsonObject, Tool } from "trackside";
import * as z from "zod";
import { clientTools } from "../shared/agents.ts";
import { Refusal } from "../shared/refusal.ts";

/** What a request of either API may have beside what it is about. */
interface Allowed {
  /** Read, and done. */
  readonly supported: readonly string[];
  /** They change nothing a client could notice. */
  readonly harmless: readonly string[];
  /** Belong to the agent's definition: only the value that says nothing is let through. */
  readonly neutral: Readonly<Record<string, unknown>>;
}

const HARMLESS = [
  "user",
  "seed",
  "store",
  "stream_options",
  "service_tier",
  "safety_identifier",
  "prompt_cache_key",
  "prompt_cache_retention",
  "prompt_cache_options",
];
const NEUTRAL = { parallel_tool_calls: true, top_p: 1, temperature: 1, top_logprobs: 0 };

export const CHAT: Allowed = {
  supported: ["messages", "model", "stream", "tools", "tool_choice", "response_format", "metadata"],
  harmless: HARMLESS,
  neutral: { ...NEUTRAL, n: 1, frequency_penalty: 0, presence_penalty: 0, logprobs: false },
};

export const RESPONSES: Allowed = {
  supported: [
    "input",
    "model",
    "stream",
    "tools",
    "tool_choice",
    "text",
    "metadata",
    "instructions",
    "previous_response_id",
    "conversation",
  ],
  harmless: HARMLESS,
  neutral: { ...NEUTRAL, background: false, truncation: "disabled" },
};

/** Refuses by name what would be ignored. */
export function refuseUnsupported(
  body: Readonly<Record<string, unknown>>,
  { supported, harmless, neutral }: Allowed,
  { definition }: AgentBinding,
): void {
  for (const [key, value] of Object.entries(body)) {
    if (value === null || supported.includes(key) || harmless.includes(key)) continue;
    if (Object.hasOwn(neutral, key) && neutral[key] === value) continue;
    if (key === "temperature" && value === definition.temperature) continue;
    const of = Object.hasOwn(neutral, key) ? ` other than ${JSON.stringify(neutral[key])}` : "";
    const message = `${key}${of} is not supported: the agent "${definition.name}" is defined on the server. Leave it out.`;
    throw new Refusal(400, "unsupported_parameter", message, key);
  }
}

const described = {
  name: z.string(),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish(),
};
const functionTool = z.union([
  z
    .looseObject({ type: z.literal("function"), function: z.looseObject(described) })
    .transform(({ function: inner }) => inner), // of chat completions
  z.looseObject({ type: z.literal("function"), ...described }), // of responses
]);

const NO_ARGUMENTS: JsonObject = { type: "object", properties: {} };

/** The tools of a request, which its client runs. */
export function readTools(given: unknown): readonly ClientTool[] {
  if (given === undefined || given === null) return [];
  const found = z.array(functionTool).max(256).safeParse(given);
  if (!found.success)
    throw new Refusal(
      400,
      "unsupported_tool",
      'tools: only tools of type "function" are supported, with a name and parameters that are a JSON Schema',
      "tools",
    );
  return found.data.map(({ name, description, parameters }) => {
    const isEmpty = !parameters || Object.keys(parameters).length === 0;
    return {
      name,
      ...(description ? { description } : {}),
      inputSchema: isEmpty ? NO_ARGUMENTS : (parameters as JsonObject), // it was JSON, and is read with care where it is used
    };
  });
}

/** Nobody can be made to call a tool here, nor kept from those of the agent: what cannot be done is refused. */
export function checkToolChoice(given: unknown, isWaiting: boolean, tools: ReadonlyMap<string, Tool>): void {
  if (given === undefined || given === null || given === "auto") return;
  const isFree = given === "none" && !isWaiting && clientTools(tools).size === 0;
  if (isFree) return;
  const why =
    given !== "none"
      ? "the model chooses among the tools there are"
      : isWaiting
        ? "a run keeps the tools it began with"
        : "the agent has client tools of its own";
  const said = typeof given === "string" ? JSON.stringify(given.slice(0, 100)) : "of this form";
  throw new Refusal(
    400,
    "unsupported_parameter",
    `tool_choice ${said} is not supported: ${why}. Leave it out.`,
    "tool_choice",
  );
}

const formatShape = z.looseObject({
  type: z.string(),
  schema: z.record(z.string(), z.unknown()).optional(),
  json_schema: z.looseObject({ schema: z.record(z.string(), z.unknown()).optional() }).optional(),
});

/** An agent answers in the form its definition says: a request may ask for that one, or for none. */
export function checkFormat(given: unknown, { definition }: AgentBinding, param: string): void {
  if (given === undefined || given === null) return;
  const found = formatShape.safeParse(given);
  if (!found.success) throw new Refusal(400, "format_invalid", `${param}: a format expected`, param);
  const { type, schema, json_schema } = found.data;
  const own = definition.output_schema;
  if (type === "text" && own === null) return;
  if (type === "json_object" && own !== null) return;
  if (
    type === "json_schema" &&
    own !== null &&
    isDeepStrictEqual(bare(schema ?? json_schema?.schema), bare(own))
  )
    return;
  const says = own === null ? "text" : "JSON of its own output_schema";
  const message = `${param}: the agent "${definition.name}" answers with ${says}. Set output_schema on the agent, or leave ${param} out.`;
  throw new Refusal(400, "format_unsupported", message, param);
}

/** The schema without what libraries add to it or leave out: spellings of one schema are the same. */
function bare(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(bare);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) => key !== "$schema" && !(key === "additionalProperties" && value === false),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, bare(value)]));
}

export const metadataShape = z.record(z.string().max(64), z.string().max(512)).nullish();
