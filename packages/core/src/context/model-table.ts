/** What is known of a model: its window, the most it writes, and what a million tokens cost in US dollars. */
export interface ModelFacts {
  readonly window: number;
  readonly output: number;
  readonly price?: {
    readonly input: number;
    readonly output: number;
    readonly cachedInput?: number;
    readonly cacheWrite?: number;
  };
}

export type ModelTable = Readonly<Record<string, ModelFacts>>;

const k = 1_000;
const anthropic = (input: number, output: number, window = 200 * k, most = 64 * k): ModelFacts => ({
  window,
  output: most,
  price: { input, output, cachedInput: input / 10, cacheWrite: input * 1.25 },
});

/**
 * Well-known models by `provider:model`; a key ending in `*` is a prefix. Providers change prices and windows: bring your
 * own table for what must be exact, it comes first.
 */
export const MODEL_TABLE: ModelTable = {
  "openai:gpt-4o-mini*": {
    window: 128 * k,
    output: 16_384,
    price: { input: 0.15, output: 0.6, cachedInput: 0.075 },
  },
  "openai:gpt-4o*": { window: 128 * k, output: 16_384, price: { input: 2.5, output: 10, cachedInput: 1.25 } },
  "openai:gpt-4.1-nano*": {
    window: 1_047_576,
    output: 32_768,
    price: { input: 0.1, output: 0.4, cachedInput: 0.025 },
  },
  "openai:gpt-4.1-mini*": {
    window: 1_047_576,
    output: 32_768,
    price: { input: 0.4, output: 1.6, cachedInput: 0.1 },
  },
  "openai:gpt-4.1*": { window: 1_047_576, output: 32_768, price: { input: 2, output: 8, cachedInput: 0.5 } },
  "openai:o4-mini*": {
    window: 200 * k,
    output: 100 * k,
    price: { input: 1.1, output: 4.4, cachedInput: 0.275 },
  },
  "openai:o3*": { window: 200 * k, output: 100 * k, price: { input: 2, output: 8, cachedInput: 0.5 } },
  "openai:gpt-5-nano*": {
    window: 400 * k,
    output: 128 * k,
    price: { input: 0.05, output: 0.4, cachedInput: 0.005 },
  },
  "openai:gpt-5-mini*": {
    window: 400 * k,
    output: 128 * k,
    price: { input: 0.25, output: 2, cachedInput: 0.025 },
  },
  "openai:gpt-5*": { window: 400 * k, output: 128 * k },
  "anthropic:claude-haiku-4*": anthropic(1, 5),
  "anthropic:claude-sonnet-4*": anthropic(3, 15),
  "anthropic:claude-opus-4*": anthropic(15, 75, 200 * k, 32 * k),
  "anthropic:claude-3-5-haiku*": anthropic(0.8, 4, 200 * k, 8_192),
  "anthropic:claude-*": { window: 200 * k, output: 64 * k },
  "google:gemini-2.5-flash-lite*": {
    window: 1_048_576,
    output: 65_536,
    price: { input: 0.1, output: 0.4, cachedInput: 0.025 },
  },
  "google:gemini-2.5-flash*": {
    window: 1_048_576,
    output: 65_536,
    price: { input: 0.3, output: 2.5, cachedInput: 0.075 },
  },
  "google:gemini-2.5-pro*": {
    window: 1_048_576,
    output: 65_536,
    price: { input: 1.25, output: 10, cachedInput: 0.31 },
  },
  "google:gemini-*": { window: 1_048_576, output: 65_536 },
  "mistral:mistral-large*": { window: 128 * k, output: 32 * k, price: { input: 2, output: 6 } },
  "mistral:mistral-small*": { window: 128 * k, output: 32 * k, price: { input: 0.1, output: 0.3 } },
  "deepseek:deepseek-chat*": {
    window: 128 * k,
    output: 8_192,
    price: { input: 0.28, output: 0.42, cachedInput: 0.028 },
  },
  "deepseek:deepseek-reasoner*": {
    window: 128 * k,
    output: 64 * k,
    price: { input: 0.28, output: 0.42, cachedInput: 0.028 },
  },
  "groq:llama-3.3-70b*": { window: 131_072, output: 32_768, price: { input: 0.59, output: 0.79 } },
  "xai:grok-4*": { window: 256 * k, output: 64 * k, price: { input: 3, output: 15, cachedInput: 0.75 } },
};

/** Finds a model: exact names before prefixes, longer prefixes before shorter. */
export function factsOf(model: string, own: ModelTable = {}): ModelFacts | undefined {
  return find(model, own) ?? find(model, MODEL_TABLE);
}

function find(model: string, table: ModelTable): ModelFacts | undefined {
  if (Object.hasOwn(table, model)) return table[model];
  const prefixes = Object.keys(table).filter(
    (key) => key.endsWith("*") && model.startsWith(key.slice(0, -1)),
  );
  const longest = prefixes.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : table[longest];
}

/** The tokens a request may have: the window less what the answer needs, at most a quarter of it (H6). */
export function requestBudget({ window, output }: ModelFacts, maxTokens: number | null): number {
  return window - Math.min(maxTokens ?? output, Math.floor(window / 4));
}

/** What a call cost in US dollars; null when the price is not known. */
export function costOf(
  usage: {
    input_tokens: number;
    cached_input_tokens: number;
    cache_write_tokens: number;
    output_tokens: number;
  },
  facts: ModelFacts | undefined,
): number | null {
  const price = facts?.price;
  if (price === undefined) return null;
  const fresh = Math.max(0, usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens);
  const cached = usage.cached_input_tokens * (price.cachedInput ?? price.input);
  const written = usage.cache_write_tokens * (price.cacheWrite ?? price.input);
  return (fresh * price.input + cached + written + usage.output_tokens * price.output) / 1_000_000;
}
