/** Prices in US dollars for a million tokens. */
export interface TokenPrice {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
}

/** What is known of a model: its window, the most it writes, and what its tokens cost. */
export interface ModelFacts {
  readonly window: number;
  readonly output: number;
  /** The most tokens a request may have, where that is less than what the window leaves beside an answer. */
  readonly input?: number;
  readonly price?: TokenPrice & {
    /** What the whole request costs once its input has more tokens than `above`. */
    readonly long?: TokenPrice & { readonly above: number };
  };
}

export type ModelTable = Readonly<Record<string, ModelFacts>>;

const k = 1_000;
const M = 1_048_576;

/** Anthropic charges a tenth for what it reads from its cache and a quarter more for what it writes to it. */
const claude = (input: number, output: number, window = 200 * k, most = 64 * k): ModelFacts => ({
  window,
  output: most,
  price: { input, output, cachedInput: input / 10, cacheWrite: input * 1.25 },
});

/** Input, output, and where they are known cached input and what is written to the cache. */
type Prices = readonly [
  input: number,
  output: number,
  cached?: number | undefined,
  written?: number | undefined,
];

const model = (window: number, output: number, prices?: Prices): ModelFacts => ({
  window,
  output,
  ...(prices === undefined ? {} : { price: priceOf(prices) }),
});

/** The models that reason leave room for it: of 400,000 tokens a request may have 272,000. */
const gpt5 = (prices: Prices): ModelFacts => ({ ...model(400 * k, 128 * k, prices), input: 272 * k });

/** From 5.4 on the window is larger, and what is beyond the former one dearer. */
const gptLong = (prices: Prices): ModelFacts => ({
  window: 1_050 * k,
  output: 128 * k,
  input: 922 * k,
  price: dearerAbove(272 * k, priceOf(prices)),
});

const gemini = (prices: Prices, output = 65_536): ModelFacts => model(M, output, prices);
const geminiPro = (prices: Prices): ModelFacts => ({
  ...gemini(prices),
  price: dearerAbove(200 * k, priceOf(prices)),
});

function priceOf([input, output, cachedInput, cacheWrite]: Prices): TokenPrice {
  return {
    input,
    output,
    ...(cachedInput === undefined ? {} : { cachedInput }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
}

/** Long requests cost twice as much to read and half as much again to answer, with OpenAI and Google alike. */
function dearerAbove(above: number, price: TokenPrice): NonNullable<ModelFacts["price"]> {
  return { ...price, long: { above, ...scaled(price, 2), output: price.output * 1.5 } };
}

function scaled({ input, output, cachedInput, cacheWrite }: TokenPrice, factor: number): TokenPrice {
  const times = (price: number | undefined) => (price === undefined ? undefined : price * factor);
  return priceOf([input * factor, output * factor, times(cachedInput), times(cacheWrite)]);
}

/**
 * Well-known models by `provider:model`; a key ending in `*` is a prefix. Providers change prices and windows: bring your
 * own table for what must be exact, it comes first. As of November 2026.
 */
export const MODEL_TABLE: ModelTable = {
  "openai:gpt-3.5-turbo*": model(16_385, 4_096, [0.5, 1.5]),
  "openai:gpt-4": model(8_192, 8_192, [30, 60]),
  "openai:gpt-4-0613": model(8_192, 8_192, [30, 60]),
  "openai:gpt-4-turbo*": model(128 * k, 4_096, [10, 30]),
  "openai:gpt-4o*": model(128 * k, 16_384, [2.5, 10, 1.25]),
  "openai:gpt-4o-2024-05-13": model(128 * k, 4_096, [5, 15]),
  "openai:gpt-4o-mini*": model(128 * k, 16_384, [0.15, 0.6, 0.075]),
  "openai:gpt-4.1*": model(1_047_576, 32_768, [2, 8, 0.5]),
  "openai:gpt-4.1-mini*": model(1_047_576, 32_768, [0.4, 1.6, 0.1]),
  "openai:gpt-4.1-nano*": model(1_047_576, 32_768, [0.1, 0.4, 0.025]),
  "openai:o1*": model(200 * k, 100 * k, [15, 60, 7.5]),
  "openai:o1-pro*": model(200 * k, 100 * k, [150, 600]),
  "openai:o3*": model(200 * k, 100 * k, [2, 8, 0.5]),
  "openai:o3-pro*": model(200 * k, 100 * k, [20, 80]),
  "openai:o3-deep-research*": model(200 * k, 100 * k, [10, 40, 2.5]),
  "openai:o3-mini*": model(200 * k, 100 * k, [1.1, 4.4, 0.55]),
  "openai:o4-mini*": model(200 * k, 100 * k, [1.1, 4.4, 0.275]),
  "openai:o4-mini-deep-research*": model(200 * k, 100 * k, [2, 8, 0.5]),
  // What comes after those below is not priced: it is not known.
  "openai:gpt-5*": { window: 400 * k, output: 128 * k, input: 272 * k },
  "openai:gpt-5": gpt5([1.25, 10, 0.125]),
  "openai:gpt-5-2025*": gpt5([1.25, 10, 0.125]),
  "openai:gpt-5-codex*": gpt5([1.25, 10, 0.125]),
  "openai:gpt-5-mini*": gpt5([0.25, 2, 0.025]),
  "openai:gpt-5-nano*": gpt5([0.05, 0.4, 0.005]),
  "openai:gpt-5-pro*": { ...gpt5([15, 120]), output: 272 * k },
  "openai:gpt-5-chat*": model(128 * k, 16_384, [1.25, 10, 0.125]),
  "openai:gpt-5.1*": gpt5([1.25, 10, 0.125]),
  "openai:gpt-5.1-chat*": model(128 * k, 16_384, [1.25, 10, 0.125]),
  "openai:gpt-5.1-codex-mini*": gpt5([0.25, 2, 0.025]),
  "openai:gpt-5.2*": gpt5([1.75, 14, 0.175]),
  "openai:gpt-5.2-chat*": model(128 * k, 16_384, [1.75, 14, 0.175]),
  "openai:gpt-5.2-pro*": gpt5([21, 168]),
  "openai:gpt-5.3-codex*": gpt5([1.75, 14, 0.175]),
  "openai:gpt-5.3-chat*": model(128 * k, 16_384, [1.75, 14, 0.175]),
  "openai:gpt-5.4*": gptLong([2.5, 15, 0.25]),
  "openai:gpt-5.4-mini*": gpt5([0.75, 4.5, 0.075]),
  "openai:gpt-5.4-nano*": gpt5([0.2, 1.25, 0.02]),
  "openai:gpt-5.4-pro*": gptLong([30, 180]),
  "openai:gpt-5.5*": { ...model(1_050 * k, 128 * k, [5, 30, 0.5]), input: 922 * k },
  "openai:gpt-5.5-pro*": { ...model(1_050 * k, 128 * k, [30, 180]), input: 922 * k },
  "openai:gpt-5.6": gptLong([5, 30, 0.5, 6.25]),
  "openai:gpt-5.6-sol*": gptLong([5, 30, 0.5, 6.25]),
  "openai:gpt-5.6-terra*": gptLong([2.5, 15, 0.25, 3.125]),
  "openai:gpt-5.6-luna*": gptLong([1, 6, 0.1, 1.25]),

  "anthropic:claude-3-haiku*": claude(0.25, 1.25, 200 * k, 4_096),
  "anthropic:claude-3-sonnet*": claude(3, 15, 200 * k, 4_096),
  "anthropic:claude-3-opus*": claude(15, 75, 200 * k, 4_096),
  "anthropic:claude-3-5-haiku*": claude(0.8, 4, 200 * k, 8_192),
  "anthropic:claude-3-5-sonnet*": claude(3, 15, 200 * k, 8_192),
  "anthropic:claude-3-7-sonnet*": claude(3, 15),
  "anthropic:claude-haiku-4*": claude(1, 5),
  // "From" a tenth of a dollar, the rest depends on how it is asked.
  "anthropic:claude-haiku-5*": { window: 1_000 * k, output: 128 * k },
  "anthropic:claude-sonnet-4*": claude(3, 15),
  "anthropic:claude-sonnet-4-6*": claude(3, 15, 1_000 * k),
  "anthropic:claude-sonnet-5*": claude(2, 10, 1_000 * k, 128 * k),
  "anthropic:claude-opus-4*": claude(15, 75, 200 * k, 32 * k),
  "anthropic:claude-opus-4-5*": claude(5, 25),
  "anthropic:claude-opus-4-6*": claude(5, 25, 1_000 * k, 128 * k),
  "anthropic:claude-opus-4-7*": claude(5, 25, 1_000 * k, 128 * k),
  "anthropic:claude-opus-4-8*": claude(5, 25, 1_000 * k, 128 * k),
  "anthropic:claude-opus-5*": claude(5, 25, 1_000 * k, 128 * k),
  "anthropic:claude-opus-5-5*": claude(4, 20, 1_000 * k, 128 * k),
  "anthropic:claude-fable-5*": claude(10, 50, 1_000 * k, 128 * k),
  "anthropic:claude-*": { window: 200 * k, output: 64 * k },

  "google:gemini-*": { window: M, output: 65_536 },
  "google:gemini-1.5-*": { window: M, output: 8_192 },
  "google:gemini-2.0-flash*": gemini([0.1, 0.4, 0.025], 8_192),
  "google:gemini-2.0-flash-lite*": gemini([0.075, 0.3], 8_192),
  "google:gemini-2.5-flash*": gemini([0.3, 2.5, 0.03]),
  "google:gemini-2.5-flash-lite*": gemini([0.1, 0.4, 0.01]),
  "google:gemini-2.5-pro*": geminiPro([1.25, 10, 0.125]),
  "google:gemini-3-flash*": gemini([0.5, 3, 0.05]),
  "google:gemini-3-pro*": geminiPro([2, 12, 0.2]),
  "google:gemini-3.1-pro*": geminiPro([2, 12, 0.2]),
  "google:gemini-3.1-flash-lite*": gemini([0.25, 1.5, 0.025]),
  "google:gemini-3.5-flash*": gemini([1.5, 9, 0.15]),
  "google:gemini-3.5-flash-lite*": gemini([0.3, 2.5, 0.03]),
  "google:gemini-3.6-flash*": gemini([1.5, 7.5, 0.15]),

  "mistral:mistral-large*": model(256 * k, 32 * k, [0.5, 1.5, 0.05]),
  "mistral:mistral-large-24*": model(128 * k, 32 * k, [2, 6]),
  "mistral:mistral-medium*": model(128 * k, 32 * k, [0.4, 2]),
  "mistral:mistral-small*": model(128 * k, 32 * k, [0.1, 0.3]),
  "mistral:mistral-small-2603*": model(256 * k, 32 * k, [0.15, 0.6, 0.015]),
  "mistral:magistral-medium*": model(128 * k, 40 * k, [2, 5]),
  "mistral:magistral-small*": model(128 * k, 40 * k, [0.5, 1.5]),
  "mistral:devstral-2512*": model(256 * k, 32 * k, [0.4, 2, 0.04]),
  "mistral:codestral*": model(128 * k, 32 * k, [0.3, 0.9]),
  "mistral:ministral-*": model(128 * k, 32 * k),

  "deepseek:deepseek-chat*": model(128 * k, 8_192, [0.28, 0.42, 0.028]),
  "deepseek:deepseek-reasoner*": model(128 * k, 64 * k, [0.28, 0.42, 0.028]),
  "deepseek:deepseek-v4-flash*": model(1_000 * k, 64 * k, [0.14, 0.28, 0.0028]),
  "deepseek:deepseek-v4-pro*": model(1_000 * k, 64 * k, [0.435, 0.87, 0.003625]),

  "groq:llama-3.1-8b*": model(131_072, 131_072, [0.05, 0.08]),
  "groq:llama-3.3-70b*": model(131_072, 32_768, [0.59, 0.79]),
  "groq:meta-llama/llama-4-maverick*": model(131_072, 8_192, [0.2, 0.6]),
  "groq:meta-llama/llama-4-scout*": model(131_072, 8_192, [0.11, 0.34]),
  "groq:openai/gpt-oss-120b*": model(131_072, 65_536, [0.15, 0.6, 0.075]),
  "groq:openai/gpt-oss-20b*": model(131_072, 65_536, [0.075, 0.3, 0.0375]),
  "groq:qwen/qwen3-32b*": model(131_072, 40_960, [0.29, 0.59]),
  "groq:moonshotai/kimi-k2*": model(262_144, 16_384, [1, 3, 0.5]),

  "xai:grok-3*": model(131_072, 32 * k, [3, 15, 0.75]),
  "xai:grok-3-mini*": model(131_072, 32 * k, [0.3, 0.5, 0.075]),
  "xai:grok-4*": model(256 * k, 64 * k, [3, 15, 0.75]),
  "xai:grok-4-fast*": model(2_000 * k, 64 * k, [0.2, 0.5, 0.05]),
  "xai:grok-4-1-fast*": model(2_000 * k, 64 * k, [0.2, 0.5, 0.05]),
  "xai:grok-4.3*": model(1_000 * k, 64 * k, [1.25, 2.5, 0.2]),
  "xai:grok-4.5*": model(500 * k, 64 * k, [2, 6, 0.5]),
  "xai:grok-code-fast*": model(256 * k, 64 * k, [0.2, 1.5, 0.02]),

  "bedrock:amazon.nova-micro*": model(128 * k, 10 * k, [0.035, 0.14, 0.00875]),
  "bedrock:amazon.nova-lite*": model(300 * k, 10 * k, [0.06, 0.24, 0.015]),
  "bedrock:amazon.nova-pro*": model(300 * k, 10 * k, [0.8, 3.2, 0.2]),
  "bedrock:amazon.nova-premier*": model(1_000 * k, 32 * k, [2.5, 12.5, 0.625]),
  "bedrock:amazon.nova-2-lite*": model(1_000 * k, 64 * k),
  "bedrock:deepseek.r1*": model(128 * k, 32 * k, [1.35, 5.4]),
  "bedrock:meta.llama3-*": model(128 * k, 8_192),
  "bedrock:meta.llama4-*": model(128 * k, 8_192),
  "bedrock:openai.gpt-oss-120b*": model(128 * k, 64 * k, [0.15, 0.6]),
  "bedrock:openai.gpt-oss-20b*": model(128 * k, 64 * k, [0.07, 0.3]),
};

/** Finds a model: the user's own names before ours, exact ones before prefixes, longer prefixes before shorter. */
export function factsOf(model: string, own: ModelTable = {}): ModelFacts | undefined {
  const { name, surcharge } = canonical(model);
  const given = find(model, own) ?? find(name, own);
  if (given !== undefined) return given;
  const known = find(name, MODEL_TABLE);
  return known === undefined || surcharge === 1 ? known : withSurcharge(known, surcharge);
}

/** Amazon's ids say where a request may be served; what is bound to a region costs more since Claude 4.5. */
const SERVED_IN = /^(?:(global)|[a-z]{2,4}(?:-gov)?)\.(?=[a-z0-9]+\.)/;
const REGION_COSTS_MORE = /claude-(?:[a-z]+-)(?:4-[5-9]|[5-9])/;
const REGION_SURCHARGE = 1.1;

/**
 * A model under the name the table has it by. Model objects name their provider with the API they speak
 * (`openai.responses`), and on Bedrock the models of Anthropic are those of Anthropic.
 */
function canonical(model: string): { name: string; surcharge: number } {
  const colon = model.indexOf(":");
  const provider = (model.slice(0, Math.max(colon, 0)).split(".")[0] ?? "").replace(
    /^amazon-bedrock$/,
    "bedrock",
  );
  const id = model.slice(colon + 1);
  if (provider !== "bedrock") return { name: `${provider}:${id}`, surcharge: 1 };
  const served = SERVED_IN.exec(id);
  const bare = served === null ? id : id.slice(served[0].length);
  if (!bare.startsWith("anthropic.")) return { name: `bedrock:${bare}`, surcharge: 1 };
  const isBound = served !== null && served[1] === undefined && REGION_COSTS_MORE.test(bare);
  return {
    name: `anthropic:${bare.slice("anthropic.".length)}`,
    surcharge: isBound ? REGION_SURCHARGE : 1,
  };
}

/** Made once: who compares facts does so by identity. */
const surcharged = new WeakMap<ModelFacts, ModelFacts>();

function withSurcharge(facts: ModelFacts, factor: number): ModelFacts {
  if (facts.price === undefined) return facts;
  let dearer = surcharged.get(facts);
  if (dearer === undefined) {
    dearer = { ...facts, price: scaled(facts.price, factor) };
    surcharged.set(facts, dearer);
  }
  return dearer;
}

function find(model: string, table: ModelTable): ModelFacts | undefined {
  if (Object.hasOwn(table, model)) return table[model];
  const prefixes = Object.keys(table).filter(
    (key) => key.endsWith("*") && model.startsWith(key.slice(0, -1)),
  );
  const longest = prefixes.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : table[longest];
}

/**
 * The tokens a request may have: the window less what the answer needs, at most a quarter of it (H6), and never more than
 * the provider takes.
 */
export function requestBudget({ window, output, input }: ModelFacts, maxTokens: number | null): number {
  const left = window - Math.min(maxTokens ?? output, Math.floor(window / 4));
  return input === undefined ? left : Math.min(left, input);
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
  if (facts?.price === undefined) return null;
  const { long } = facts.price;
  const price: TokenPrice = long !== undefined && usage.input_tokens > long.above ? long : facts.price;
  const fresh = Math.max(0, usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens);
  const cached = usage.cached_input_tokens * (price.cachedInput ?? price.input);
  const written = usage.cache_write_tokens * (price.cacheWrite ?? price.input);
  return (fresh * price.input + cached + written + usage.output_tokens * price.output) / 1_000_000;
}
