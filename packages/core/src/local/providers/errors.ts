import type { LanguageModelV4FinishReason } from "@ai-sdk/provider";
import { type ErrorFacts, errorFacts } from "./error-facts.ts";
import { fromNetwork } from "./network-errors.ts";
import {
  fromMessages,
  fromNames,
  fromOverflow,
  fromStatus,
  fromWords,
  REQUEST_WORDS,
  SPECIFIC_WORDS,
} from "./provider-errors.ts";
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

/** A code and a verdict; without a message the provider's own words are shown. */
export type Finding = { code: ModelFailureCode; retryable: boolean; message?: string };

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

// What packages say when they could not read the provider's own words.
const EMPTY_WORDS = /^(?:failed to process (?:error|successful) response|invalid json response)$/i;

// "Bad Request", "Not Found": what the status says already.
const STATUS_TEXT = /^[A-Z][A-Za-z' -]{2,30}$/;

function bestMessage(facts: ErrorFacts): string {
  const told = facts.messages.filter((message) => !EMPTY_WORDS.test(message));
  const [first = "", second] = told;
  if (second === undefined && facts.status === 404 && (first === "" || STATUS_TEXT.test(first))) {
    const url = facts.url === undefined ? null : URL.parse(facts.url);
    const where = url ? `${url.origin}${url.pathname}` : "the provider's address";
    return `there is nothing at ${where} (status 404). Check the provider's base URL and the model's name.`;
  }
  const message = (STATUS_TEXT.test(first) ? second : undefined) ?? told[0] ?? facts.messages[0];
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
  const inMs = decimal(facts.headers?.("retry-after-ms"));
  if (inMs !== undefined) return Math.ceil(inMs);
  const header = facts.headers?.("retry-after")?.trim();
  const inSeconds = decimal(header);
  if (inSeconds !== undefined) return Math.ceil(inSeconds * 1000);
  const date = header && HTTP_DATE.test(header) ? Date.parse(header) : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - Date.now());
  return facts.retryDelayMs ?? delayInMessage(facts.messages);
}

// Date.parse alone reads a year in nearly everything.
const HTTP_DATE = /^[A-Za-z]{3,9},? .+ GMT$/;

function decimal(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}(?:\.\d+)?$/.test(text.trim()) ? Number(text) : undefined;
}

/** OpenAI's rate limit inside a stream has no header, only "Please try again in 1.2s". */
function delayInMessage(messages: readonly string[]): number | undefined {
  for (const message of messages) {
    const [, amount, unit] = /try again in (\d+(?:\.\d+)?)\s?(ms|s)\b/i.exec(message) ?? [];
    if (amount !== undefined) return Math.ceil(Number(amount) * (unit?.toLowerCase() === "ms" ? 1 : 1000));
  }
  return undefined;
}
