import type { ErrorFacts } from "./error-facts.ts";
import type { Finding } from "./errors.ts";

const TIMEOUT_WORDS = [
  "etimedout",
  "und_err_connect_timeout",
  "und_err_headers_timeout",
  "und_err_body_timeout",
];
const LOST_WORDS = [
  "econnreset",
  "econnaborted",
  "epipe",
  "ehostunreach",
  "enetunreach",
  "enetdown",
  "ehostdown",
  "eai_again",
  "und_err_socket",
  "und_err_closed",
  "und_err_destroyed",
  "und_err_aborted",
  "und_err_res_content_length_mismatch",
];
const BARE_TIMEOUT = /^the operation (?:was aborted due to timeout|timed out)/i;
const LOST_MESSAGE =
  /^(?:terminated|fetch failed|failed to fetch|other side closed|socket hang up|network error)$/i;
const CERTIFICATE_WORD = /cert|self_signed|err_tls|err_ssl/;

/** Failures of reaching a provider, from the codes of fetch, undici and the system. */
export function fromNetwork(facts: ErrorFacts): Finding | undefined {
  const { words, names } = facts;
  const origin = originOf(facts);
  const first = (list: string[]) => list.find((word) => words.has(word))?.toUpperCase();

  if (names.has("TimeoutError")) {
    const own = facts.messages.find((message) => !BARE_TIMEOUT.test(message)); // who set the limit may say which
    return { code: "timeout", retryable: true, message: own ?? `no answer from ${origin} in time` };
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

function originOf(facts: ErrorFacts): string {
  const url = facts.url === undefined ? null : URL.parse(facts.url);
  return url?.origin ?? facts.peer ?? "the provider";
}

function isLoopback(facts: ErrorFacts): boolean {
  const host = (facts.url === undefined ? null : URL.parse(facts.url))?.hostname ?? facts.peer ?? "";
  return /^(?:localhost|127\.|\[?::1\]?)/.test(host);
}
