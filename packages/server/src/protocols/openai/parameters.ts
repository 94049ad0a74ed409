import { isDeepStrictEqual } from "node:util";
import type { AgentBinding, Tool } from "trackside";
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
const NEUTRAL = { parallel_tool_calls: true, top_p: 1, temperature: 1, tool_choice: "auto", top_logprobs: 0 };

export const CHAT: Allowed = {
  supported: ["messages", "model", "stream", "tools", "response_format", "metadata"],
  harmless: HARMLESS,
  neutral: { ...NEUTRAL, n: 1, frequency_penalty: 0, presence_penalty: 0, logprobs: false },
};

export const RESPONSES: Allowed = {
  supported: [
    "input",
    "model",
    "stream",
    "tools",
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

const functionTool = z.looseObject({
  type: z.literal("function"),
  name: z.string().optional(),
  function: z.looseObject({ name: z.string() }).optional(),
});

/** A client may say which of the agent's client tools it runs; it cannot bring others. */
export function checkTools(given: unknown, agent: AgentBinding, tools: ReadonlyMap<string, Tool>): void {
  if (given === undefined || given === null) return;
  const found = z.array(functionTool).max(256).safeParse(given);
  if (!found.success)
    throw new Refusal(400, "unsupported_tool", 'tools: only tools of type "function" are supported', "tools");
  const known = clientTools(tools);
  const names = found.data.map(({ name, function: inner }) => name ?? inner?.name ?? "");
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length === 0) return;
  const theirs = unknown.map((name) => JSON.stringify(name)).join(", ");
  const ours = [...known].map((name) => JSON.stringify(name)).join(", ") || "none";
  const message = `tools: ${theirs} ${unknown.length === 1 ? "is" : "are"} not defined on the agent "${agent.definition.name}". A run keeps the tools of its agent; define them there with executor "client". Its client tools: ${ours}.`;
  throw new Refusal(400, "unknown_tool", message, "tools");
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
