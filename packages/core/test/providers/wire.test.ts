import { describe, expect, it } from "vitest";
import { consume } from "../support/consume.ts";
import { OVER_WIRE, overWire } from "../support/over-wire.ts";
import { PATIENT } from "../support/patience.ts";

const ARGS = { city: "Oslo", days: 3, note: 'a "quoted" \\ 🌧' };
const TOOL = { type: "function" as const, name: "weather", inputSchema: { type: "object" as const } };

describe.each(OVER_WIRE)("$provider over HTTP", ({ provider, path, wire }) => {
  it("answers with text, usage and a finish, to a request that carries the key", async () => {
    await overWire(provider, { events: wire.text("It rains in Oslo.") }, async (model, server) => {
      const answer = await consume(model, { tools: [TOOL] });
      expect(answer).toMatchObject({ text: "It rains in Oslo.", calls: [], finish: { unified: "stop" } });
      expect(answer.failure).toBeUndefined();
      expect(answer.parts.at(-1)).toMatchObject({
        usage: { inputTokens: { total: 11 }, outputTokens: { total: 7 } },
      });
      const [request] = server.requests;
      expect(request?.path).toBe(path);
      expect(JSON.stringify(request?.headers)).toContain("test-key");
      expect(request?.body).toMatchObject({ model: "wire-model", stream: true });
    });
  });

  it("asks for tools with exactly the arguments the model wrote", async () => {
    const calls = [
      { name: "weather", args: ARGS },
      { name: "weather", args: {} },
    ];
    await overWire(provider, { events: wire.toolCall(calls, { chunks: 7 }) }, async (model) => {
      const answer = await consume(model, { tools: [TOOL] });
      expect(answer.calls.map((call) => JSON.parse(call.input))).toEqual([ARGS, {}]);
      expect(answer.finish?.unified).toBe("tool-calls");
      expect(answer.failure).toBeUndefined();
    });
  });

  it("X8 a stream that goes silent ends with the caller's abort, and the connection with it", async () => {
    const events = wire.text("one two three four");
    const stalls = [undefined, 0, 2, events.length - 2];
    for (const at of stalls) {
      const stall = at === undefined ? { stall: true as const } : { stall: true as const, stallAtEvent: at };
      await overWire(provider, { events, ...stall }, async (model, server) => {
        const { failure } = await consume(model, { abortSignal: AbortSignal.timeout(150) });
        expect(failure, `silent before event ${at}`).toMatchObject({ code: "timeout", retryable: true });
        await expect.poll(() => server.openStreams, PATIENT).toBe(0);
      });
    }
  });
});
