/** What an error says about itself, wherever in it that was said. */
export type ErrorFacts = {
  /** The nearest first. */
  messages: string[];
  /** Machine words in lower case: `code`, `type`, `status` and `reason` fields, system error codes. */
  words: Set<string>;
  /** Class names, such as `AbortError` or `AI_TypeValidationError`. */
  names: Set<string>;
  status?: number;
  url?: string;
  headers?: (name: string) => string | undefined;
  /** `host:port` of a connection that failed. */
  peer?: string;
  /** The provider package's own opinion. */
  isRetryable?: boolean;
  /** A waiting time in the body (Google puts it there instead of in a header). */
  retryDelayMs?: number;
};

// Errors nest without bound (causes, aggregates, bodies that quote other bodies); more than this says nothing new.
const MAX_NODES = 40;
const MAX_BODY_CHARS = 100_000;

// Where the next layer is. What was sent (`requestBodyValues`) and what the model wrote (`text`) are never opened.
const LAYERS = [
  "cause",
  "error",
  "data",
  "response",
  "lastError",
  "innererror",
  "details",
  "errors",
] as const;

/** Reads an error of any shape: a thrown Error, an event's payload, a response body, a plain string. */
export function errorFacts(error: unknown): ErrorFacts {
  const facts: ErrorFacts = { messages: [], words: new Set(), names: new Set() };
  const queue: unknown[] = [error];
  const seen = new Set<unknown>();
  while (queue.length > 0 && seen.size < MAX_NODES) {
    const next = queue.shift();
    if (typeof next === "string") facts.messages.push(next);
    if (typeof next !== "object" || next === null || seen.has(next)) continue;
    seen.add(next);
    if (Array.isArray(next)) queue.push(...next.slice(0, MAX_NODES));
    else queue.push(...readLayer(next, facts));
  }
  return facts;
}

function readLayer(layer: object, facts: ErrorFacts): unknown[] {
  const get = (key: string): unknown => Reflect.get(layer, key);
  const name = get("name");
  if (typeof name === "string") facts.names.add(name);

  for (const key of ["code", "type", "status", "reason", "error_code"]) {
    const value = get(key);
    if (typeof value === "string") facts.words.add(value.toLowerCase());
    const status = httpErrorStatus(value);
    if (status !== undefined) facts.status ??= status;
  }
  const statusCode = get("statusCode");
  if (typeof statusCode === "number") facts.status ??= statusCode;

  const quotesWhatItRead = name === "AI_TypeValidationError" || name === "AI_JSONParseError";
  for (const key of ["message", "detail", "msg"]) {
    const value = get(key);
    if (typeof value === "string" && value !== "" && !quotesWhatItRead) facts.messages.push(value);
  }

  const url = get("url");
  if (typeof url === "string") facts.url ??= url;
  const isRetryable = get("isRetryable");
  if (typeof isRetryable === "boolean") facts.isRetryable ??= isRetryable;
  const address = get("address") ?? get("hostname");
  if (typeof address === "string") facts.peer ??= get("port") ? `${address}:${get("port")}` : address;
  const delay = get("retryDelay");
  if (typeof delay === "string" && /^\d+(\.\d+)?s$/.test(delay))
    facts.retryDelayMs ??= Number.parseFloat(delay) * 1000;
  const headers = headerReader(get("responseHeaders") ?? get("headers"));
  if (headers) facts.headers ??= headers;

  const layers = LAYERS.map(get);
  // An event that fits no known shape is carried whole by this error; it may be a failure in disguise.
  if (name === "AI_TypeValidationError") layers.push(get("value"));
  layers.push(parsedBody(get("responseBody")));
  return layers;
}

function httpErrorStatus(value: unknown): number | undefined {
  const number = typeof value === "string" && /^[45]\d\d$/.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 400 && number <= 599
    ? number
    : undefined;
}

function parsedBody(body: unknown): unknown {
  if (typeof body !== "string" || body.length > MAX_BODY_CHARS) return undefined;
  try {
    const parsed: unknown = JSON.parse(body);
    return typeof parsed === "object" ? parsed : undefined;
  } catch {
    return undefined; // an HTML page of some proxy
  }
}

function headerReader(headers: unknown): ErrorFacts["headers"] {
  if (typeof headers !== "object" || headers === null) return undefined;
  if (headers instanceof Headers) return (name) => headers.get(name) ?? undefined;
  const lower = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string") lower.set(name.toLowerCase(), value);
  }
  return (name) => lower.get(name);
}
