/** The tokenizers that exist as a package; see `local/tokenizers.ts`. */
export type Encoding = "o200k_base" | "cl100k_base";

/**
 * How a family of models counts: its tokenizer where one can be had, else factors on the estimate of `text-size.ts`, and
 * what a request costs beside its texts. Measured on requests recorded with the counts their providers reported.
 */
export interface ModelFamily {
  readonly name: string;
  /** Null where the provider publishes no tokenizer. */
  readonly encoding: Encoding | null;
  /** Tokens of this family for one of `o200k_base`, for ASCII text and for other writing. */
  readonly plain: number;
  readonly wide: number;
  /** Beside the content: for a request, a system prompt, a message, a call in it, a result. */
  readonly request: number;
  readonly system: number;
  readonly user: number;
  readonly assistant: number;
  readonly call: number;
  /** What a call costs more when it is not the only one of its message. */
  readonly besideOthers: number;
  readonly result: number;
  /** What one character costs of the signature that a model's thoughts leave on a call. */
  readonly signature: number;
  /** Tools: how the provider writes them for the model, what having any costs, what each does, and a factor on the text. */
  readonly tools: {
    readonly written: "declarations" | "json";
    readonly once: number;
    readonly each: number;
    readonly factor: number;
  };
  /** What an image of unknown size costs: a middling one, of about a megapixel. */
  readonly image: number;
}

const GPT_4O: ModelFamily = {
  name: "gpt-4o",
  encoding: "o200k_base",
  plain: 1,
  wide: 1,
  request: 3,
  system: 4,
  user: 4,
  assistant: 4,
  call: 3,
  besideOthers: 5,
  result: 11,
  signature: 0,
  tools: { written: "declarations", once: 3, each: -1, factor: 1 },
  image: 765,
};

/** From the o-series on, by the Responses API, which is what `openai:` and `azure:` speak. */
const GPT_5: ModelFamily = {
  ...GPT_4O,
  name: "gpt-5",
  request: 2,
  assistant: 6,
  call: 5,
  besideOthers: 0,
  result: 10,
  tools: { ...GPT_4O.tools, each: -0.5 },
  image: 1_000,
};

/** By Chat Completions these models are told more about their tools. */
const GPT_5_CHAT: ModelFamily = { ...GPT_5, name: "gpt-5-chat", tools: { ...GPT_5.tools, once: 84 } };
/** Begins with a system message of its own. */
const GPT_OSS: ModelFamily = { ...GPT_5, name: "gpt-oss", request: 64, tools: { ...GPT_5.tools, once: 20 } };
const GPT_4: ModelFamily = { ...GPT_4O, name: "gpt-4", encoding: "cl100k_base", plain: 1.02, wide: 1.35 };

const CLAUDE: ModelFamily = {
  name: "claude",
  encoding: null,
  plain: 1.13,
  wide: 1.3,
  request: 0,
  system: 1,
  user: 6,
  assistant: 4,
  call: 36,
  besideOthers: 2,
  result: 18,
  signature: 0,
  tools: { written: "json", once: 325, each: 0, factor: 1.02 },
  image: 1_400,
};
const CLAUDE_3: ModelFamily = { ...CLAUDE, name: "claude-3", tools: { ...CLAUDE.tools, once: 265 } };
const CLAUDE_4_5: ModelFamily = { ...CLAUDE, name: "claude-4.5", tools: { ...CLAUDE.tools, once: 505 } };
/** The tokenizer of 4.7 and later cuts finer. */
const CLAUDE_DENSE: ModelFamily = {
  ...CLAUDE,
  name: "claude-dense",
  plain: 1.4,
  wide: 1.45,
  user: 5,
  assistant: 2,
  tools: { ...CLAUDE.tools, once: 290, factor: 1 },
  image: 1_600,
};

const GEMINI: ModelFamily = {
  name: "gemini",
  encoding: null,
  plain: 1.05,
  wide: 0.9,
  request: 0,
  system: 0,
  user: 1,
  assistant: 1,
  call: 8,
  besideOthers: 0,
  result: 8,
  signature: 0,
  tools: { written: "json", once: 0, each: 0, factor: 0.88 },
  image: 1_032,
};
const GEMINI_3: ModelFamily = { ...GEMINI, name: "gemini-3", signature: 1 / 5.8, image: 1_120 };
const GEMINI_2_0: ModelFamily = {
  ...GEMINI,
  name: "gemini-2.0",
  call: 0,
  result: 0,
  tools: { ...GEMINI.tools, factor: 0.38 },
};

/** Models we know nothing of. */
const UNKNOWN: ModelFamily = {
  name: "unknown",
  encoding: null,
  plain: 1.05,
  wide: 1,
  request: 0,
  system: 4,
  user: 4,
  assistant: 4,
  call: 15,
  besideOthers: 0,
  result: 10,
  signature: 0,
  tools: { written: "json", once: 60, each: 0, factor: 1 },
  image: 1_100,
};
const MISTRAL: ModelFamily = { ...UNKNOWN, name: "mistral", wide: 1.1, system: 2 };
const DEEPSEEK: ModelFamily = {
  ...UNKNOWN,
  name: "deepseek",
  plain: 1,
  wide: 0.8,
  user: 5,
  assistant: 1,
  call: 25,
  tools: { ...UNKNOWN.tools, once: 250 },
};
/** Told more about how to answer than its elders are. */
const DEEPSEEK_4: ModelFamily = {
  ...DEEPSEEK,
  name: "deepseek-v4",
  request: 79,
  tools: { ...DEEPSEEK.tools, once: 230 },
};
const LLAMA: ModelFamily = { ...UNKNOWN, name: "llama", plain: 1, wide: 1.2, request: 31, user: 5 };
const NOVA: ModelFamily = {
  ...UNKNOWN,
  name: "nova",
  system: 0,
  user: 1,
  assistant: 5,
  tools: { ...UNKNOWN.tools, once: 370 },
};
/** Qwen, GLM, Kimi: large vocabularies made with Chinese in mind. */
const QWEN: ModelFamily = {
  ...UNKNOWN,
  name: "qwen",
  plain: 1,
  wide: 0.8,
  tools: { ...UNKNOWN.tools, once: 110 },
};

/** By what a model's name says, the first that fits; names of deployments say what people chose to. */
const BY_NAME: readonly (readonly [pattern: RegExp, family: ModelFamily])[] = [
  [/gpt-oss/, GPT_OSS],
  [/distill-qwen|qwen|qwq|\bglm\b|\bglm-|kimi|minimax/, QWEN],
  [/llama/, LLAMA],
  [/deepseek-v[4-9]/, DEEPSEEK_4],
  [/deepseek/, DEEPSEEK],
  [/gpt-?4o|gpt-?4\.[1-9]|chatgpt-4o/, GPT_4O],
  [/gpt-?(?:4|3\.?5)(?![0-9])/, GPT_4],
  [/gpt-?[5-9]|\bo[1-9](?![0-9a-z])/, GPT_5],
  [/gemini-(?:1|2\.0)/, GEMINI_2_0],
  [/gemini-2/, GEMINI],
  [/gemini|gemma-[3-9]/, GEMINI_3],
  [/mistral|magistral|ministral|devstral|codestral|pixtral|mixtral/, MISTRAL],
  [/\bnova\b/, NOVA],
];

/** By the provider, where the name says nothing. */
const BY_PROVIDER: Readonly<Record<string, ModelFamily>> = {
  openai: GPT_5,
  azure: GPT_5,
  anthropic: CLAUDE_DENSE,
  google: GEMINI_3,
  mistral: MISTRAL,
  deepseek: DEEPSEEK,
};

/** `claude-sonnet-4-5-20250929`, `anthropic.claude-opus-4-7-v1:0`, `claude-sonnet-4.6`: the version, not the date. */
const CLAUDE_VERSION = /claude-(?:[a-z]+-)?(\d)(?:[-.](\d)(?!\d))?/;

/** Providers that speak the Responses API, and what was made for it: the o-series is told no more by the older one. */
const RESPONSES = /^(?:openai|azure)(?!-compatible|\.chat)/;
const GPT = /gpt/;

/** The family of a `provider:model`. */
export function familyOf(model: string): ModelFamily {
  const colon = model.indexOf(":");
  const provider = model.slice(0, Math.max(colon, 0)).toLowerCase();
  const name = model.slice(colon + 1).toLowerCase();
  if (name.includes("claude")) return claudeOf(name);
  const found =
    BY_NAME.find(([pattern]) => pattern.test(name))?.[1] ??
    BY_PROVIDER[provider.split(".")[0] ?? ""] ??
    UNKNOWN;
  return found === GPT_5 && !RESPONSES.test(provider) && GPT.test(name) ? GPT_5_CHAT : found;
}

function claudeOf(name: string): ModelFamily {
  const [, major, minor] = CLAUDE_VERSION.exec(name) ?? [];
  // Without a version it is `claude-opus-latest` or the like: the newest.
  const version = major === undefined ? 9 : Number(major) + Number(minor ?? 0) / 10;
  if (version >= 4.7) return CLAUDE_DENSE;
  if (version >= 4.5) return CLAUDE_4_5;
  return version >= 3.7 ? CLAUDE : CLAUDE_3;
}
