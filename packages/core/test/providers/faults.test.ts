import { describe, expect, it } from "vitest";
import { consume } from "../support/consume.ts";
import { modelAt, OVER_WIRE, overWire } from "../support/over-wire.ts";
import { encodeEvents, type Fault, startWireServer, type WireErrorKind } from "../support/wire-server.ts";

// Characters of two, three and four bytes, a quote and an escape: every way in which half a character can be cut.
const ARGS = { city: "Tromsø", days: 3, note: '雨🌧"\\' };
const ANSWER = "one two three";
const ERRORS: WireErrorKind[] = ["rate_limited", "overloaded", "server_error", "context_overflow"];

describe.each(OVER_WIRE)("$provider, when something goes wrong", ({ provider, wire }) => {
  const run = (reply: Fault & { events?: ReturnType<typeof wire.text> }) =>
    overWire(provider, reply, (model) => consume(model));

  it.each([
    [429, "rate_limited", "rate_limited"],
    [500, "server_error", "server_error"],
    [503, "overloaded", "overloaded"],
    [529, "overloaded", "overloaded"],
    [400, "context_overflow", "context_overflow"],
  ] as const)("X8 status %i is %s and its Retry-After is read", async (status, kind, code) => {
    const { failure, parts } = await run({
      status,
      body: wire.errorBody(kind),
      headers: { "Retry-After": "7" },
    });
    const retryable = code !== "context_overflow";
    expect(failure).toMatchObject({ code, status, retryable });
    expect(failure?.retry_after_ms).toBe(retryable ? 7000 : undefined);
    expect(parts).toEqual([]);
  });

  it("X8 an empty or foreign error body is classified by its status", async () => {
    expect((await run({ status: 502 })).failure).toMatchObject({ code: "server_error", status: 502 });
    const { failure } = await run({ status: 404, body: { detail: "model wire-model is not here" } });
    expect(failure).toMatchObject({ code: "not_found", message: "model wire-model is not here" });
  });

  it.each(ERRORS)("X8 an error event of kind %s inside a 200 stream, at every index", async (kind) => {
    const events = wire.text(ANSWER);
    for (let at = 0; at < events.length; at++) {
      const answer = await run({ events, errorEventAt: at, errorEvent: wire.errorEvent(kind) });
      expect(answer.failure, `event ${at}`).toMatchObject({
        code: kind,
        retryable: kind !== "context_overflow",
      });
      expect(ANSWER.startsWith(answer.text), `event ${at}`).toBe(true);
    }
  });

  it.each([
    ["ends politely", {}, "stream_error"],
    ["is closed", { cut: "close" }, "connection"],
    ["is reset", { reset: true }, "connection"],
  ] as const)("X8 a stream that %s after any number of events", async (_how, fault, code) => {
    const events = wire.text(ANSWER);
    const complete = wholeAt(provider, events.length);
    for (let sent = 0; sent < events.length; sent++) {
      const answer = await run({ events, cutAfterEvents: sent, ...fault });
      expect(ANSWER.startsWith(answer.text), `${sent} events`).toBe(true);
      if (sent >= complete && answer.failure === undefined) expect(answer.text).toBe(ANSWER);
      else expect(answer.failure, `${sent} events`).toMatchObject({ code, retryable: true });
    }
  });

  it("X8 a reset before any answer", async () => {
    expect((await run({ reset: true })).failure).toMatchObject({ code: "connection", retryable: true });
  });

  it("X8 a server that is not there is named, with what to do", async () => {
    const gone = await startWireServer([]);
    await gone.close();
    const { failure } = await consume(await modelAt(provider, gone));
    expect(failure).toMatchObject({ code: "connection", retryable: false });
    expect(failure?.message).toContain(`${gone.origin}: connection refused`);
    expect(failure?.message).toContain("base URL");
  });

  it("X8 a tool call cut at any byte is whole or a failure, never something in between", async () => {
    const events = wire.toolCall({ name: "weather", args: ARGS }, { chunks: 4 });
    const length = encodeEvents(events).length;
    await using server = await startWireServer((_, request) => ({
      events,
      cutAtByte: Number(request.headers["x-cut"]),
    }));
    const model = await modelAt(provider, server);
    const cutAt = async (byte: number) => {
      const answer = await consume(model, { headers: { "x-cut": String(byte) } });
      if (answer.failure) expect(answer.failure, `cut at ${byte}`).toMatchObject({ code: "stream_error" });
      else expect(answer.calls, `cut at ${byte}`).toEqual([{ name: "weather", input: JSON.stringify(ARGS) }]);
      return answer.failure === undefined;
    };
    let whole = 0;
    for (let from = 0; from <= length; from += 50) {
      const bytes = Array.from({ length: Math.min(50, length + 1 - from) }, (_, n) => from + n);
      whole += (await Promise.all(bytes.map(cutAt))).filter(Boolean).length;
    }
    expect(whole).toBeGreaterThan(0);
    expect(whole).toBeLessThan(length / 3);
  });
});

/** How many events make an answer whole: what follows is bookkeeping that its package does not insist on. */
function wholeAt(provider: string, events: number): number {
  return provider === "openai-compatible" ? events - 2 : events; // usage and [DONE]
}

it("X8 no failure repeats the key or the request", async () => {
  const body = {
    error: { message: "Incorrect API key provided: sk-test-1234567890abcdef", code: "invalid_api_key" },
  };
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "private words" }] }];
  const { failure } = await overWire("openai", { status: 401, body }, (model) => consume(model, { prompt }));
  expect(failure).toMatchObject({ code: "auth", retryable: false });
  expect(JSON.stringify(failure)).not.toMatch(/1234567890abcdef|private words|test-key/);
});
