import type { ErrorFacts } from "./error-facts.ts";
import type { Finding, ModelFailureCode } from "./errors.ts";

const OVERFLOW_WORD =
  /^(?:context_length_exceeded|(?:model_)?context_window_exceeded|exceed_context_size_error|request_too_large|string_above_max_length|input_too_long|prompt_too_long)$/;
const OVERFLOW_MESSAGE = [
  /maximum context length/i, // OpenAI, DeepSeek, vLLM, OpenRouter, Mistral
  /exceeds? (?:the|this model's) (?:maximum )?context (?:window|length|size|limit)/i, // OpenAI Responses, gateways
  /(?:prompt|input) (?:is )?too long/i, // Anthropic, Bedrock, Ollama
  /input length and `?max_tokens`? exceed context limit/i, // Anthropic
  /input token count.{0,40}exceeds the maximum/i, // Google
  /maximum (?:prompt|model|input) length/i, // xAI, vLLM
  /reduce the length of the messages/i, // Groq
  /exceeds the available context size/i, // llama.cpp
  /(?:greater|longer) than the (?:context|maximum model) length/i, // LM Studio, vLLM
  /loaded with context length of only/i, // LM Studio
  /number of input tokens exceeds|input tokens exceed/i, // Bedrock
  /context (?:window|length) (?:exceed|overflow)|context the overflows/i, // MiniMax, LM Studio
  /exceeded (?:model )?token limit|prompt token count of \d+ exceeds/i, // Moonshot, Copilot
  /request too large for model/i, // Groq, when one request is above the per-minute limit
];

export function fromOverflow({ status, words, messages }: ErrorFacts): Finding | undefined {
  const overflow: Finding = { code: "context_overflow", retryable: false };
  if ([...words].some((word) => OVERFLOW_WORD.test(word)) || status === 413) return overflow;
  // "Too many tokens" of a rate limit are a matter of waiting, not of length.
  if (status === 429 || fromWords(words, SPECIFIC_WORDS)?.code === "rate_limited") return undefined;
  return messages.some((message) => OVERFLOW_MESSAGE.some((pattern) => pattern.test(message)))
    ? overflow
    : undefined;
}

type WordTable = ReadonlyArray<readonly [words: string, code: ModelFailureCode, retryable: boolean]>;

/** These say more than the status that comes with them. */
export const SPECIFIC_WORDS: WordTable = [
  [
    "content_filter content_policy_violation responsibleaipolicyviolation prohibited_content",
    "content_filter",
    false,
  ],
  ["insufficient_quota quota_exceeded billing_hard_limit_reached", "rate_limited", false],
  ["billing_error insufficient_balance", "auth", false],
  [
    "rate_limit_exceeded rate_limit_error rate_limited too_many_requests resource_exhausted throttlingexception " +
      "service_tier_capacity_exceeded",
    "rate_limited",
    true,
  ],
  [
    "overloaded_error overloaded server_is_overloaded engine_overloaded service_unavailable unavailable slow_down " +
      "serviceunavailableexception modelnotreadyexception",
    "overloaded",
    true,
  ],
  ["timeout timeout_error request_timeout deadline_exceeded modeltimeoutexception", "timeout", true],
  [
    "authentication_error invalid_api_key api_key_invalid permission_error permission_denied unauthenticated " +
      "accessdeniedexception unrecognizedclientexception expiredtokenexception",
    "auth",
    false,
  ],
  [
    "not_found_error model_not_found model_not_found_error not_found deploymentnotfound resourcenotfoundexception",
    "not_found",
    false,
  ],
  [
    "server_error api_error internal_error internal_server_error internal internalserverexception " +
      "modelstreamerrorexception",
    "server_error",
    true,
  ],
];

/** These come with every kind of refusal, so they count only when the status says nothing. */
export const REQUEST_WORDS: WordTable = [
  [
    "invalid_request_error invalid_request invalid_prompt invalid_argument bad_request badrequesterror " +
      "validationexception failed_precondition out_of_range",
    "bad_request",
    false,
  ],
];

export function fromWords(words: ReadonlySet<string>, table: WordTable): Finding | undefined {
  for (const [row, code, retryable] of table) {
    if (row.split(" ").some((word) => words.has(word))) return { code, retryable };
  }
  return undefined;
}

export function fromStatus(status = 0): Finding {
  if (status === 401 || status === 402 || status === 403) return { code: "auth", retryable: false };
  if (status === 404) return { code: "not_found", retryable: false };
  if (status === 408 || status === 504) return { code: "timeout", retryable: true };
  if (status === 409 || status === 424) return { code: "server_error", retryable: true };
  if (status === 429) return { code: "rate_limited", retryable: true };
  if (status === 503 || status === 529) return { code: "overloaded", retryable: true };
  if (status >= 500) return { code: "server_error", retryable: true };
  return { code: "bad_request", retryable: false };
}

export function fromNames(names: ReadonlySet<string>): Finding | undefined {
  if (names.has("AI_LoadAPIKeyError") || names.has("AI_LoadSettingError"))
    return { code: "auth", retryable: false };
  if (names.has("AI_NoSuchModelError")) return { code: "not_found", retryable: false };
  for (const name of [
    "AI_InvalidPromptError",
    "AI_InvalidArgumentError",
    "AI_UnsupportedFunctionalityError",
  ]) {
    if (names.has(name)) return { code: "bad_request", retryable: false };
  }
  for (const name of ["AI_JSONParseError", "AI_TypeValidationError"]) {
    const message = "the provider sent an event that is not in its format";
    if (names.has(name)) return { code: "stream_error", retryable: true, message };
  }
  for (const name of [
    "MalformedPart",
    "AI_InvalidResponseDataError",
    "AI_EmptyResponseBodyError",
    "AI_NoContentGeneratedError",
  ]) {
    if (names.has(name)) return { code: "stream_error", retryable: true };
  }
  return undefined;
}

/** Servers that answer with a sentence and nothing else. */
export function fromMessages(messages: readonly string[]): Finding | undefined {
  const says = (pattern: RegExp) => messages.some((message) => pattern.test(message));
  if (says(/rate limit|too many requests/i)) return { code: "rate_limited", retryable: true };
  if (says(/overloaded|at capacity/i)) return { code: "overloaded", retryable: true };
  if (says(/timed? ?out/i)) return { code: "timeout", retryable: true };
  if (says(/normalized Anthropic stream error/)) {
    // What @ai-sdk/anthropic throws when the first event of a stream cannot be parsed.
    const message = "the provider sent an event that is not in its format";
    return { code: "stream_error", retryable: true, message };
  }
  return undefined;
}
