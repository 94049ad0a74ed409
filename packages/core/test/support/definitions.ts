import { defineTool, type Tool } from "trackside";
import * as z from "zod";

export { SEED_EXAMPLE } from "./seed-example.ts";

/** A tool that answers with its own name. */
export function namedTool(name: string): Tool {
  return defineTool({ name, input: z.object({ target: z.string() }), execute: () => name });
}

export const REGISTRY = {
  tools: ["deploy_service", "rotate_credentials", "search", "mail"].map(namedTool),
};

type Fields = Record<string, unknown>;

/** The fields that are always written, with their defaults; `name` and `model` have none. */
export const ALWAYS_WRITTEN: Fields = {
  instructions: "",
  max_steps: 20,
  temperature: null,
  max_tokens: null,
  planning_enabled: false,
  planning_model: null,
  planning_instructions: "",
  budget_awareness: null,
  hitl_tools: [],
  emit_mcp_progress: true,
  injected_tool_args: {},
  allow_parallel_subagents: false,
  max_parallel_subagents: 3,
};

/** The fields that are written only where they differ from their default. */
export const OWN_DEFAULTS: Fields = {
  tools: null,
  mcp_servers: [],
  handoffs: [],
  rails: [],
  hooks: {},
  output_schema: null,
  context_window_tokens: null,
  injection_reserve_tokens: 4000,
  hitl_timeout_seconds: 3600,
  max_regenerations: 2,
  allow_self_spawn: false,
  offload_above_bytes: 32768,
  stream_release: "auto",
  fallback_models: [],
  audit_transient: false,
};

/** For each of them a value that is not its default. */
export const OWN_EXAMPLES: Fields = {
  tools: ["search", "mail"],
  mcp_servers: [
    { name: "files", command: "files-server", args: ["--root", "/srv"], env: { LOG_LEVEL: "debug" } },
    {
      name: "wiki",
      url: "https://wiki.example/mcp",
      headers: { authorization: { secret: "wiki_token" } },
      include: ["find_page"],
      exclude: ["delete_page"],
      rename: { find_page: "lookUp" },
      trusted: true,
    },
  ],
  handoffs: ["billing"],
  rails: [
    {
      use: "pii",
      name: "mask names",
      on: ["POST_LLM_CALL"],
      options: { maskWith: "***", keep_domains: true },
      priority: 15,
      mode: "shadow",
      on_error: "continue",
      timeout_ms: 500,
    },
  ],
  hooks: {
    pre: [
      { use: "memory", options: { topK: 3 }, durable: true, timeout_ms: 900 },
      { parallel: [{ use: "news" }, { use: "weather", critical: true }] },
    ],
    post: [{ use: "tone" }],
    stream: [{ use: "citations", options: {} }],
    on: { PRE_LLM_CALL: [{ use: "trace", timeout_ms: 50 }] },
  },
  output_schema: { type: "object", properties: { the_answer: { type: "string" } } },
  context_window_tokens: 128000,
  injection_reserve_tokens: 0,
  hitl_timeout_seconds: null,
  max_regenerations: 0,
  allow_self_spawn: true,
  offload_above_bytes: 0,
  stream_release: "after_rails",
  fallback_models: ["anthropic:claude-sonnet-4-5"],
  audit_transient: true,
};

/** How a definition is written: everything that is always written, the rest where it differs, keys in no order. */
export function canonical(definition: Fields): string {
  const written: Fields = { ...ALWAYS_WRITTEN };
  for (const [key, value] of Object.entries(definition)) {
    if (!(key in OWN_DEFAULTS) || sorted(value) !== sorted(OWN_DEFAULTS[key])) written[key] = value;
  }
  return sorted(written);
}

/** JSON with the keys of every object in order, for comparing what means the same. */
export function sorted(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

const THEIR_OWN = ["options", "env", "headers", "rename", "injected_tool_args", "output_schema", "on"];

/** A definition as one would write it in code. */
export function inCode(definition: Fields): Fields {
  const respelt = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(respelt);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const camel = key.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase());
        if (key === "on" && !Array.isArray(inner))
          return [
            key,
            Object.fromEntries(Object.entries(inner).map(([point, refs]) => [point, respelt(refs)])),
          ];
        return [camel, THEIR_OWN.includes(key) ? inner : respelt(inner)];
      }),
    );
  };
  return Object.fromEntries(Object.entries(respelt(definition) as Fields)); // an object went in
}
