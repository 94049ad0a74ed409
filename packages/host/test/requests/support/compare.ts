import type { ScriptedRequest } from "trackside/testing";
import type { SentRequest } from "../../../src/index.ts";

/** What is compared of a request: everything a provider is given that says something. */
export interface Compared {
  readonly system: string | null;
  readonly messages: unknown;
  readonly tools: unknown;
  readonly settings: unknown;
}

type Options = Pick<
  ScriptedRequest["options"],
  "prompt" | "tools" | "maxOutputTokens" | "temperature" | "responseFormat"
>;

/** A request as the model got it. */
export function received({ prompt, tools = [], ...options }: Options): Compared {
  const [first] = prompt;
  const system = first?.role === "system" ? first.content : null;
  const { maxOutputTokens = null, temperature = null, responseFormat } = options;
  const schema = responseFormat?.type === "json" ? (responseFormat.schema ?? null) : null;
  return json({
    system,
    messages: (system === null ? prompt : prompt.slice(1)).map(({ role, content }) => ({
      role,
      content: Array.isArray(content) ? content.map(shown) : content,
    })),
    tools: tools.map((tool) =>
      tool.type === "function" ? [tool.name, tool.description, tool.inputSchema] : [],
    ),
    settings: [maxOutputTokens, temperature, schema],
  });
}

/** The same request as it is rebuilt. */
export function rebuilt(request: SentRequest): Compared {
  const { system, messages, tools, max_output_tokens, temperature, output_schema } = request;
  return json({
    system,
    messages: messages.map(({ role, content }) => ({ role, content: content.map(shown) })),
    tools: tools.map(({ name, description, input_schema }) => [name, description, input_schema]),
    settings: [max_output_tokens ?? null, temperature ?? null, output_schema ?? null],
  });
}

/** Signatures stay with the provider, attachments in their store. */
function shown(part: object): object {
  if (!("type" in part)) return part;
  if (part.type === "reasoning") {
    const { providerOptions, signed, ...rest } = part as { providerOptions?: object; signed?: true };
    return providerOptions === undefined && signed === undefined ? rest : { ...rest, signed: true };
  }
  if (part.type !== "file" || !("data" in part)) return part;
  const { data, ...rest } = part;
  const { type, url = "" } = data as { type: string; url?: URL | string };
  return type === "data" || String(url).startsWith("artifact:") ? { ...rest, data: "attached" } : part;
}

function json<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}
