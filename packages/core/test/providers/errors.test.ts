import { APICallError, JSONParseError, LoadAPIKeyError, TypeValidationError } from "@ai-sdk/provider";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
  classifyModelError,
  incompleteFinish,
  type ModelFailureCode,
} from "../../src/local/providers/errors.ts";
import { redact } from "../../src/local/providers/redact.ts";

const REQUEST = { messages: [{ role: "user", content: "the user's private words" }] };

function http(status: number, body: unknown, headers: Record<string, string> = {}, message = "Bad Request") {
  return new APICallError({
    message,
    url: "https://api.example.com/v1/chat?key=abc",
    requestBodyValues: REQUEST,
    statusCode: status,
    responseHeaders: headers,
    responseBody: typeof body === "string" ? body : JSON.stringify(body),
    data: typeof body === "string" ? undefined : body,
  });
}

function system(code: string, more: object = {}) {
  return Object.assign(new Error(`connect ${code} 127.0.0.1:11434`), { code, ...more });
}

function fetchFailed(cause: unknown) {
  return Object.assign(new TypeError("fetch failed"), { cause });
}

describe("X8 a status code names the failure", () => {
  it.each<[number, ModelFailureCode, boolean]>([
    [400, "bad_request", false],
    [401, "auth", false],
    [402, "auth", false],
    [403, "auth", false],
    [404, "not_found", false],
    [408, "timeout", true],
    [409, "server_error", true],
    [413, "context_overflow", false],
    [422, "bad_request", false],
    [429, "rate_limited", true],
    [500, "server_error", true],
    [502, "server_error", true],
    [503, "overloaded", true],
    [504, "timeout", true],
    [529, "overloaded", true],
  ])("X8 %i is %s", (status, code, retryable) => {
    expect(classifyModelError(http(status, "<html>gateway</html>"))).toMatchObject({
      code,
      retryable,
      status,
    });
  });

  it.each<[string, unknown, number, ModelFailureCode, boolean]>([
    [
      "OpenAI quota",
      { error: { code: "insufficient_quota", message: "no money" } },
      429,
      "rate_limited",
      false,
    ],
    ["OpenAI key", { error: { type: "invalid_request_error", code: "invalid_api_key" } }, 401, "auth", false],
    [
      "Google key",
      { error: { status: "INVALID_ARGUMENT", details: [{ reason: "API_KEY_INVALID" }] } },
      400,
      "auth",
      false,
    ],
    ["Azure filter", { error: { code: "content_filter", innererror: {} } }, 400, "content_filter", false],
    ["Anthropic billing", { error: { type: "billing_error", message: "low" } }, 400, "auth", false],
    [
      "Bedrock throttling",
      { type: "ThrottlingException", message: "Too many tokens, wait" },
      400,
      "rate_limited",
      true,
    ],
  ])("X8 %s is told from its words", (_name, body, status, code, retryable) => {
    expect(classifyModelError(http(status, body))).toMatchObject({ code, retryable });
  });

  it("X8 the provider's own x-should-retry wins over the status", () => {
    expect(classifyModelError(http(500, {}, { "x-should-retry": "false" })).retryable).toBe(false);
    expect(classifyModelError(http(400, {}, { "X-Should-Retry": "true" })).retryable).toBe(true);
  });
});

describe("X8 the wait a provider asks for", () => {
  it.each<[string, Record<string, string>, number]>([
    ["seconds", { "retry-after": "3" }, 3000],
    ["part of a second", { "Retry-After": "0.25" }, 250],
    ["milliseconds, in any case", { "Retry-After-Ms": "1500", "retry-after": "9" }, 1500],
  ])("X8 in %s", (_how, headers, wait) => {
    expect(classifyModelError(http(429, {}, headers)).retry_after_ms).toBe(wait);
  });

  it("X8 as a date", () => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_700_000_000_000 });
    onTestFinished(() => void vi.useRealTimers());
    const soon = new Date(Date.now() + 20_000).toUTCString();
    expect(classifyModelError(http(503, {}, { "retry-after": soon })).retry_after_ms).toBe(20_000);
    const past = classifyModelError(http(503, {}, { "retry-after": "Wed, 21 Oct 2015 07:28:00 GMT" }));
    expect(past.retry_after_ms).toBe(0);
  });

  it("X8 in the body, where Google puts it, and in OpenAI's sentence", () => {
    const google = { error: { code: 429, status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "38s" }] } };
    expect(classifyModelError(http(429, google)).retry_after_ms).toBe(38_000);
    const openai = { message: "Rate limit reached. Please try again in 1.2s.", code: "rate_limit_exceeded" };
    expect(classifyModelError(openai)).toMatchObject({ code: "rate_limited", retry_after_ms: 1200 });
  });

  it.each(["soon", "-1", "", "NaN"])("X8 not from %j", (value) => {
    expect(classifyModelError(http(429, {}, { "retry-after": value }))).not.toHaveProperty("retry_after_ms");
  });
});

describe("X8 failures of the network", () => {
  it.each<[string, unknown, ModelFailureCode, boolean]>([
    ["a reset", fetchFailed(system("ECONNRESET")), "connection", true],
    [
      "a closed socket",
      fetchFailed({ name: "SocketError", code: "UND_ERR_SOCKET", message: "other side closed" }),
      "connection",
      true,
    ],
    [
      "a body cut off",
      Object.assign(new TypeError("terminated"), { cause: new Error("x") }),
      "connection",
      true,
    ],
    ["slow headers", fetchFailed(system("UND_ERR_HEADERS_TIMEOUT")), "timeout", true],
    ["a slow connect", fetchFailed(system("UND_ERR_CONNECT_TIMEOUT")), "timeout", true],
    ["a timeout signal", new DOMException("The operation timed out", "TimeoutError"), "timeout", true],
    ["an abort", new DOMException("This operation was aborted", "AbortError"), "connection", false],
    ["an unknown host", fetchFailed(system("ENOTFOUND", { hostname: "nowhere.test" })), "connection", false],
    ["a bad certificate", fetchFailed(system("DEPTH_ZERO_SELF_SIGNED_CERT")), "connection", false],
  ])("X8 %s", (_what, error, code, retryable) => {
    expect(classifyModelError(error)).toMatchObject({ code, retryable });
  });

  it("X8 a time limit is told in the words of whoever set it", () => {
    const silent = new DOMException("The model sent nothing for 30 s", "TimeoutError");
    expect(classifyModelError(silent).message).toBe("The model sent nothing for 30 s");
    const bare = new DOMException("The operation was aborted due to timeout", "TimeoutError");
    expect(classifyModelError(bare).message).toBe("no answer from the provider in time");
  });

  it("X8 a connection refused says where and what to do", () => {
    const refused = new AggregateError([system("ECONNREFUSED"), system("ECONNREFUSED")], "");
    const error = new APICallError({
      message: "Cannot connect to API: ",
      cause: refused,
      url: "http://localhost:11434/v1/chat/completions",
      requestBodyValues: REQUEST,
      isRetryable: true,
    });
    const failure = classifyModelError(error);
    expect(failure).toMatchObject({ code: "connection", retryable: false });
    expect(failure.message).toMatch(
      /http:\/\/localhost:11434: connection refused.*Start the server.*base URL/,
    );

    const remote = new APICallError({
      message: "x",
      cause: refused,
      url: "https://api.example.com/v1",
      requestBodyValues: {},
    });
    expect(classifyModelError(remote).retryable).toBe(true);
    expect(
      classifyModelError(fetchFailed(system("ECONNREFUSED", { address: "10.0.0.9", port: 80 }))).message,
    ).toContain("10.0.0.9:80");
  });
});

describe("errors inside a stream, as the provider packages surface them", () => {
  it.each<[string, unknown, ModelFailureCode, boolean]>([
    [
      "Anthropic overload",
      { message: "Overloaded", type: "overloaded_error", statusCode: 529, isRetryable: true, data: {} },
      "overloaded",
      true,
    ],
    [
      "Anthropic rate limit",
      { message: "Slow", type: "rate_limit_error", statusCode: 429, data: {} },
      "rate_limited",
      true,
    ],
    [
      "Anthropic bug",
      { message: "Internal", type: "api_error", statusCode: 500, data: {} },
      "server_error",
      true,
    ],
    [
      "OpenAI Responses",
      { message: "x", type: "response.failed", code: "rate_limit_exceeded", statusCode: 429, data: {} },
      "rate_limited",
      true,
    ],
    [
      "OpenAI overload",
      { message: "x", type: "error", code: "server_is_overloaded", statusCode: 503, data: {} },
      "overloaded",
      true,
    ],
    [
      "OpenAI prompt",
      { message: "x", type: "error", code: "invalid_prompt", statusCode: 400, data: {} },
      "bad_request",
      false,
    ],
    [
      "Google",
      { message: "x", type: "UNAVAILABLE", code: 503, statusCode: 503, data: { status: "UNAVAILABLE" } },
      "overloaded",
      true,
    ],
    [
      "Bedrock",
      { message: "x", type: "modelStreamErrorException", statusCode: 424, data: {} },
      "server_error",
      true,
    ],
    [
      "an OpenAI-compatible server",
      { message: "queue full", type: "BadRequestError", code: 503 },
      "overloaded",
      true,
    ],
    ["a server with words only", { message: "rate limit reached" }, "rate_limited", true],
    ["a server with a string", "upstream timed out", "timeout", true],
    [
      "Mistral, in an event its package does not know",
      unknownEvent({
        object: "error",
        message: "full",
        type: "service_tier_capacity_exceeded",
        code: "3505",
      }),
      "rate_limited",
      true,
    ],
    ["an event in no known format", unknownEvent({ hello: "world" }), "stream_error", true],
    [
      "an event that is not JSON",
      new JSONParseError({ text: "<html>", cause: new Error("x") }),
      "stream_error",
      true,
    ],
  ])("%s", (_what, error, code, retryable) => {
    expect(classifyModelError(error)).toMatchObject({ code, retryable });
  });

  it("does not repeat what the model or the user wrote in an event it cannot read", () => {
    const event = unknownEvent({ choices: [{ delta: { content: "secret plan" } }] });
    expect(classifyModelError(event).message).toBe("the provider sent an event that is not in its format");
  });

  function unknownEvent(value: unknown) {
    return new TypeValidationError({ value, cause: new Error("no match") });
  }
});

describe("too much context is told from everything else", () => {
  it.each([
    ["OpenAI", { error: { code: "context_length_exceeded", message: "too long" } }],
    [
      "OpenAI Responses",
      { error: { message: "Your input exceeds the context window of this model. Please adjust" } },
    ],
    [
      "Anthropic",
      {
        error: {
          type: "invalid_request_error",
          message: "prompt is too long: 210000 tokens > 200000 maximum",
        },
      },
    ],
    [
      "Anthropic sum",
      { error: { message: "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000" } },
    ],
    [
      "Google",
      {
        error: {
          message: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
        },
      },
    ],
    [
      "Mistral",
      { message: "Prompt contains 40000 tokens, too large for model with 32768 maximum context length" },
    ],
    ["Bedrock", { message: "Input is too long for requested model." }],
    [
      "xAI",
      { error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens." },
    ],
    ["Groq", { error: { message: "Please reduce the length of the messages or completion." } }],
    [
      "llama.cpp",
      {
        error: {
          type: "exceed_context_size_error",
          message: "the request exceeds the available context size",
        },
      },
    ],
    [
      "LM Studio",
      { error: "The number of tokens to keep from the initial prompt is greater than the context length." },
    ],
    [
      "vLLM",
      { message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens" },
    ],
    ["Ollama", { error: "prompt too long; exceeded max context length by 12 tokens" }],
  ])("%s", (_provider, body) => {
    expect(classifyModelError(http(400, body))).toMatchObject({ code: "context_overflow", retryable: false });
  });

  it.each([
    [
      "Anthropic",
      {
        error: {
          type: "rate_limit_error",
          message:
            "This request would exceed your organization's rate limit of 30,000 input tokens per minute",
        },
      },
    ],
    ["Bedrock", { message: "Too many tokens, please wait before trying again." }],
  ])("a limit of tokens per minute is not one (%s)", (_provider, body) => {
    expect(classifyModelError(http(429, body)).code).toBe("rate_limited");
  });
});

describe("the message of a failure", () => {
  it("prefers the provider's sentence to the status text", () => {
    const failure = classifyModelError(http(404, { error: "model 'llama9' not found" }, {}, "Not Found"));
    expect(failure.message).toBe("model 'llama9' not found");
    expect(classifyModelError(http(502, "", {}, "")).message).toBe("HTTP status 502");
  });

  it("is one bounded line without the request", () => {
    const failure = classifyModelError(
      http(400, { error: { message: `line one\n\tline two ${"x ".repeat(5000)}` } }),
    );
    expect(failure.message).not.toMatch(/[\n\t]/);
    expect(failure.message.length).toBeLessThanOrEqual(500);
    expect(JSON.stringify(failure)).not.toContain("private words");
  });

  it.each([
    "Incorrect API key provided: sk-proj-abcDEF1234567890abcDEF. Find yours at https://platform.openai.com",
    "Incorrect API key provided: sk-abc1***************wxyz.",
    "API key not valid: AIzaSyA1234567890abcdefghijklmnopqrstuv",
    "invalid x-api-key sk-ant-api03-AbC_d-1234567890",
    "Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123",
    'header {"authorization":"Bearer 0123456789abcdef0123"}',
    "gsk_0123456789abcdefABCDEF is not allowed",
    "token=9f8e7d6c5b4a39281706f5e4d3c2b1a0 rejected",
    "signature of AKIAIOSFODNN7EXAMPLE does not match",
  ])("hides the key in %j", (message) => {
    const shown = redact(message);
    expect(shown).toContain("[redacted]");
    expect(shown).not.toMatch(/sk-|AIza|eyJ|gsk_|AKIA|9f8e7d6c|0123456789abcdef|wxyz/);
  });

  it.each([
    "model claude-sonnet-4-5-20250929 not found",
    "The model `accounts/fireworks/models/llama-v3p1-405b-instruct` does not exist",
    "see request req_011CSHoEeqs5C35K2UUqR7Fy",
    "This model's maximum context length is 128000 tokens",
    "key not found in the cache, token limit exceeded at token 128000",
    "api_key_not_valid or sk-and-so-on is missing",
    "deployment gpt-4.1-nano-2025-04-14 is at 7027d986-3c59-a37a-9a5f-50713e01c8a6",
  ])("leaves %j as it is", (message) => {
    expect(redact(message)).toBe(message);
  });
});

it("classifies anything without throwing", () => {
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error("no");
      },
    },
  );
  const cycle: { cause?: unknown; message: string } = { message: "loop" };
  cycle.cause = cycle;
  expect(classifyModelError(cycle).message).toBe("loop");
  expect(classifyModelError(new LoadAPIKeyError({ message: "missing" })).code).toBe("auth");
  for (const value of [hostile, undefined, null, 0, "", Symbol("x"), [], () => {}]) {
    expect(classifyModelError(value)).toMatchObject({ code: "unknown", retryable: false });
  }
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const failure = classifyModelError(value);
      expect(failure.message.length).toBeLessThanOrEqual(500);
    }),
  );
});

it("an answer is complete only when its stream said so", () => {
  for (const unified of ["stop", "length", "content-filter", "tool-calls"] as const) {
    expect(incompleteFinish({ unified, raw: undefined })).toBeUndefined();
  }
  expect(incompleteFinish({ unified: "other", raw: "eos" })).toBeUndefined();
  expect(incompleteFinish({ unified: "other", raw: undefined })?.code).toBe("stream_error");
  expect(incompleteFinish({ unified: "interrupted", raw: undefined })?.code).toBe("stream_error");
  expect(incompleteFinish({ unified: "error", raw: "error" })?.code).toBe("stream_error");
  expect(incompleteFinish(undefined)).toMatchObject({ code: "stream_error", retryable: true });
});
