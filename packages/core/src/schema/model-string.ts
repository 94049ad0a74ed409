/** The providers a model string may name, in the order messages list them. */
export const KNOWN_PROVIDERS = [
  "openai",
  "anthropic",
  "google",
  "mistral",
  "azure",
  "bedrock",
  "groq",
  "deepseek",
  "xai",
  "openai-compatible",
  "ollama",
  "lmstudio",
  "litellm",
  "vllm",
] as const;

export type KnownProvider = (typeof KNOWN_PROVIDERS)[number];

export type ParsedModelString =
  | { ok: true; provider: KnownProvider; model: string }
  | { ok: false; problem: string; allowed: string };

const ALLOWED = `"provider:model" with one of the known providers: ${KNOWN_PROVIDERS.join(", ")}`;

// Zero-width characters, tabs and newlines come along with pasted names and are invisible in an editor.
const BLANK_OR_INVISIBLE = /[\s\p{C}]/u;

/**
 * Splits `provider:model` at the first colon, because model names hold colons of their own
 * (`ollama:llama3.2:3b`, `bedrock:anthropic.claude-sonnet-4-5-v1:0`).
 */
export function parseModelString(text: string): ParsedModelString {
  const colon = text.indexOf(":");
  const provider = text.slice(0, Math.max(colon, 0));
  const model = text.slice(colon + 1);
  if (text === "") return rejected("the model string is empty");
  if (BLANK_OR_INVISIBLE.test(text)) {
    return rejected(`the model string ${shown(text)} holds whitespace or an invisible character`);
  }
  if (colon === -1) return rejected(`the model string ${shown(text)} has no provider in front of a colon`);
  if (provider === "") return rejected(`the model string ${shown(text)} names no provider before its colon`);
  if (!isKnownProvider(provider)) return rejected(`unknown provider ${shown(provider)}`);
  if (model === "") return rejected(`the model string ${shown(text)} names no model after its colon`);
  return { ok: true, provider, model };
}

export function isKnownProvider(name: string): name is KnownProvider {
  return (KNOWN_PROVIDERS as readonly string[]).includes(name); // widened: includes() only takes members
}

function rejected(what: string): ParsedModelString {
  return {
    ok: false,
    problem: `${what}; known providers are ${KNOWN_PROVIDERS.join(", ")}`,
    allowed: ALLOWED,
  };
}

function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
