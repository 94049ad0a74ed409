import type { LanguageModelV4FinishReason } from "@ai-sdk/provider";
import { type ErrorFacts, errorFacts } from "./error-facts.ts";
import { redact } from "./redact.ts";

export type ModelFailureCode =
  | "rate_limited"
  | "overloaded"
  | "server_error"
  | "timeout"
  | "connection"
  | "context_overflow"
  | "auth"
  | "not_found"
  | "bad_request"
  | "content_filter"
  | "stream_error"
  | "unknown";

/** Why a model call failed, as a value that can be shown and stored: one bounded line, no keys, no request. */
export type ModelFailure = {
  code: ModelFailureCode;
  message: string;
  /** Whether the same request may succeed later. Whether to try again is the caller's decision (X8). */
  retryable: boolean;
  status?: number;
  /** How long the provider asked to wait. */
  retry_after_ms?: number;
};

type Finding = { code: ModelFailureCode; retryable: boolean; message?: string };

const MAX_MESSAGE = 500;

/**
 * Names the failure behind anything a provider package throws or puts into its stream's `error` parts.
 * Takes any value and never throws itself.
 */
export function classifyModelError(error: unknown): ModelFailure {
  try {
    const facts = errorFacts(error);
    const finding = find(facts);
    const failure: ModelFailure = {
      code: finding.code,
      message: oneLine(finding.message ?? bestMessage(facts)),
      retryable: finding.retryable,
    };
    if (facts.status !== undefined && facts.status >= 400) failure.status = facts.status;
    const wait = failure.retryable ? retryAfterMs(facts) : undefined;
    if (wait !== undefined) failure.retry_after_ms = wait;
    return failure;
  } catch {
    // A getter that throws, a revoked proxy: what cannot be read is still a failure.
    return { code: "unknown", message: "the model call failed with an unreadable error", retryable: false };
  }
}

/**
 * A stream that ended without saying why it is complete. Its text may be cut off and its tool calls may hold
 * part of their arguments, so neither may be acted on. Undefined when the answer is whole.
 * Packages differ in how they say it: no finish part at all, `interrupted`, `error`, or `other` with no raw reason.
 */
export function incompleteFinish(reason: LanguageModelV4FinishReason | undefined): ModelFailure | undefined {
  const incomplete =
    reason === undefined ||
    reason.unified === "interrupted" ||
    reason.unified === "error" ||
    (reason.unified === "other" && reason.raw === undefined);
  if (!incomplete) return undefined;
  return {
    code: "stream_error",
    message: "the model's answer ended before it was complete",
    retryable: true,
  };
}

function find(facts: ErrorFacts): Finding {
  const isHttpError = facts.status !== undefined && facts.status >= 400;
  const finding = (isHttpError ? undefined : fromNetwork(facts)) ??
    fromOverflow(facts) ??
    fromWords(facts.words, SPECIFIC_WORDS) ??
    (isHttpError ? fromStatus(facts.status) : undefined) ??
    fromWords(facts.words, REQUEST_WORDS) ??
    fromNames(facts.names) ??
    fromMessages(facts.messages) ?? { code: "unknown", retryable: facts.isRetryable === true };
  const said = isHttpError ? facts.headers?.("x-should-retry") : undefined;
  if (said === undefined || finding.code === "context_overflow") return finding;
  return { ...finding, retryable: said === "true" };
}

// --- The network -----------------------------------------------------------------------------------------------

const TIMEOUT_WORDS = [
  "etimedout",
  "und_err_connect_timeout",
  "und_err_headers_timeout",
  "und_err_body_timeout",
];
const LOST_WORDS = [
  ...[
    "econnreset",
    "econnaborted",
    "epipe",
    "ehostunreach",
    "enetunreach",
    "enetdown",
    "ehostdown",
    "eai_again",
  ],
  ...[
    "und_err_socket",
    "und_err_closed",
    "und_err_destroyed",
    "und_err_aborted",
    "und_err_res_content_length_mismatch",
  ],
];
const CERTIFICATE_WORD = /cert|self_signed|err_tls|err_ssl/;

function fromNetwork(facts: ErrorFacts): Finding | undefined {
  const { words, names } = facts;
  const origin = originOf(facts);
  const first = (list: string[]) => list.find((word) => words.has(word))?.toUpperCase();

  if (names.has("TimeoutError")) {
    return { code: "timeout", retryable: true, message: `no answer from ${origin} in time` };
  }
  const timeout = first(TIMEOUT_WORDS);
  if (timeout)
    return { code: "timeout", retryable: true, message: `no answer from ${origin} in time (${timeout})` };
  if (names.has("AbortError") || names.has("ResponseAborted")) {
    return { code: "connection", retryable: false, message: `the request to ${origin} was aborted` };
  }
  if (words.has("econnrefused")) {
    const message =
      `cannot reach ${origin}: connection refused. ` +
      "Start the server there, or set the provider's base URL to where it runs.";
    // Nothing listening on this machine stays so until somebody starts it; another machine may be restarting.
    return { code: "connection", retryable: !isLoopback(facts), message };
  }
  if (words.has("enotfound")) {
    const message = `cannot reach ${origin}: the host name does not resolve. Check the base URL and the network.`;
    return { code: "connection", retryable: false, message };
  }
  const certificate = [...words].find((word) => CERTIFICATE_WORD.test(word));
  if (certificate) {
    const message = `cannot reach ${origin}: its certificate was not accepted (${certificate.toUpperCase()})`;
    return { code: "connection", retryable: false, message };
  }
  const lost = first(LOST_WORDS);
  const isLost = lost !== undefined || names.has("HTTPParserError") || names.has("SocketError");
  if (isLost || facts.messages.some((message) => LOST_MESSAGE.test(message))) {
    const detail = lost === undefined ? "" : ` (${lost})`;
    return { code: "connection", retryable: true, message: `the connection to ${origin} was lost${detail}` };
  }
  return undefined;
}

const LOST_MESSAGE =
  /^(?:terminated|fetch failed|failed to fetch|other side closed|socket hang up|network error)$/i;

function originOf(facts: ErrorFacts): string {
  const url = facts.url === undefined ? null : URL.parse(facts.url);
  return url?.origin ?? facts.peer ?? "the provider";
}

function isLoopback(facts: ErrorFacts): boolean {
  const host = (facts.url === undefined ? null : URL.parse(facts.url))?.hostname ?? facts.peer ?? "";
  return /^(?:localhost|127\.|\[?::1\]?)/.test(host);
}

// --- Too much context ------------------------------------------------------------------------------------------

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

function fromOverflow({ status, words, messages }: ErrorFacts): Finding | undefined {
  const overflow: Finding = { code: "context_overflow", retryable: false };
  if ([...words].some((word) => OVERFLOW_WORD.test(word)) || status === 413) return overflow;
  // "Too many tokens" of a rate limit are a matter of waiting, not of length.
  if (status === 429 || fromWords(words, SPECIFIC_WORDS)?.code === "rate_limited") return undefined;
  return messages.some((message) => OVERFLOW_MESSAGE.some((pattern) => pattern.test(message)))
    ? overflow
    : undefined;
}

// --- What providers call it ------------------------------------------------------------------------------------

type WordTable = ReadonlyArray<readonly [words: string, code: ModelFailureCode, retryable: boolean]>;

/** These say more than the status that comes with them. */
const SPECIFIC_WORDS: WordTable = [
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
const REQUEST_WORDS: WordTable = [
  [
    "invalid_request_error invalid_request invalid_prompt invalid_argument bad_request badrequesterror " +
      "validationexception failed_precondition out_of_range",
    "bad_request",
    false,
  ],
];

function fromWords(words: ReadonlySet<string>, table: WordTable): Finding | undefined {
  for (const [row, code, retryable] of table) {
    if (row.split(" ").some((word) => words.has(word))) return { code, retryable };
  }
  return undefined;
}

function fromStatus(status = 0): Finding {
  if (status === 401 || status === 402 || status === 403) return { code: "auth", retryable: false };
  if (status === 404) return { code: "not_found", retryable: false };
  if (status === 408 || status === 504) return { code: "timeout", retryable: true };
  if (status === 409 || status === 424) return { code: "server_error", retryable: true };
  if (status === 429) return { code: "rate_limited", retryable: true };
  if (status === 503 || status === 529) return { code: "overloaded", retryable: true };
  if (status >= 500) return { code: "server_error", retryable: true };
  return { code: "bad_request", retryable: false };
}

function fromNames(names: ReadonlySet<string>): Finding | undefined {
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
    "AI_InvalidResponseDataError",
    "AI_EmptyResponseBodyError",
    "AI_NoContentGeneratedError",
  ]) {
    if (names.has(name)) return { code: "stream_error", retryable: true };
  }
  return undefined;
}

/** Servers that answer with a sentence and nothing else. */
function fromMessages(messages: readonly string[]): Finding | undefined {
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

// --- What is told ----------------------------------------------------------------------------------------------

// What packages say when they could not read the provider's own words.
const EMPTY_WORDS = /^(?:failed to process (?:error|successful) response|invalid json response)$/i;

function bestMessage(facts: ErrorFacts): string {
  const told = facts.messages.filter((message) => !EMPTY_WORDS.test(message));
  const statusText = told.length > 1 && /^[A-Z][A-Za-z' -]{2,30}$/.test(told[0] ?? "") ? 1 : 0; // "Bad Request", then more
  const message = told[statusText] ?? facts.messages[0];
  if (message !== undefined) return message;
  return facts.status === undefined
    ? "the model call failed and said nothing"
    : `HTTP status ${facts.status}`;
}

function oneLine(message: string): string {
  // Cut before the patterns run as well: a message may be a whole document.
  const line = redact(
    message
      .slice(0, 4 * MAX_MESSAGE)
      .replace(/[\s\p{Cc}]+/gu, " ")
      .trim(),
  );
  return line.length > MAX_MESSAGE ? `${line.slice(0, MAX_MESSAGE - 1)}…` : line;
}

function retryAfterMs(facts: ErrorFacts): number | undefined {
  const inMs = seconds(facts.headers?.("retry-after-ms"));
  if (inMs !== undefined) return inMs;
  const header = facts.headers?.("retry-after")?.trim();
  const inSeconds = seconds(header);
  if (inSeconds !== undefined) return Math.ceil(inSeconds * 1000);
  const date = header && HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - Date.now());
  return facts.retryDelayMs ?? delayInMessage(facts.messages);
}

// Date.parse alone reads a year in nearly everything.
const HTTP_DATE = /^[A-Za-z]{3,9},? .+ GMT$/;

function seconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+(?:\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}

/** OpenAI's rate limit inside a stream has no header, only "Please try again in 1.2s". */
function delayInMessage(messages: readonly string[]): number | undefined {
  for (const message of messages) {
    const [, amount, unit] = /try again in (\d+(?:\.\d+)?)\s?(ms|s)\b/i.exec(message) ?? [];
    if (amount !== undefined) return Math.ceil(Number(amount) * (unit?.toLowerCase() === "ms" ? 1 : 1000));
  }
  return undefined;
}
