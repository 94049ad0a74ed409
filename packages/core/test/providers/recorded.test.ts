import { describe, expect, it } from "vitest";
import { consume } from "../support/consume.ts";
import { modelAt } from "../support/over-wire.ts";
import { recorded, recordedMissing } from "../support/recorded.ts";
import { type SseEvent, startWireServer } from "../support/wire-server.ts";

/** Recorded streams and the package that reads their wire. */
const STREAMS = [
  ["anthropic-text", "anthropic"],
  ["anthropic-tool-no-args", "anthropic"],
  ["anthropic-json-other-tool.1", "anthropic"],
  ["anthropic-clear-thinking.1", "anthropic"],
  ["openai-text", "openai-compatible"],
  ["xai-tool-call", "openai-compatible"],
  ["deepseek-tool-call", "deepseek"],
  ["deepseek-reasoning", "deepseek"],
  ["groq-tool-call", "groq"],
  ["mistral-incremental-tool-call", "mistral"],
  ["google-text", "google"],
  ["google-tool-call", "google"],
] as const;

if (recordedMissing) console.log(recordedMissing);

describe.skipIf(recordedMissing)("recorded provider streams", () => {
  it.each(STREAMS)(
    "%s through the %s package: what was said, and nothing less when cut",
    async (name, provider) => {
      const events = recorded(name);
      const said = saidIn(events);
      await using server = await startWireServer((_, request) => ({
        events,
        cutAfterEvents: Number(request.headers["x-cut"]),
      }));
      const model = await modelAt(provider, server);
      const upTo = (sent: number) => consume(model, { headers: { "x-cut": String(sent) } });

      const whole = await upTo(events.length);
      expect(whole.failure).toBeUndefined();
      expect(whole.text).toBe(said.text);
      expect(whole.calls.map((call) => JSON.parse(call.input))).toEqual(said.calls);

      const cuts = Array.from({ length: events.length }, (_, sent) => sent);
      for (const sent of cuts.filter(
        (_, at) => events.length < 100 || at % 9 === 0 || at > events.length - 9,
      )) {
        const answer = await upTo(sent);
        expect(said.text.startsWith(answer.text), `${sent} events`).toBe(true);
        if (answer.failure) expect(answer.failure, `${sent} events`).toMatchObject({ code: "stream_error" });
        else expect([answer.text, answer.calls], `${sent} events`).toEqual([whole.text, whole.calls]);
      }
    },
  );
});

/** What the events say, read without any package: the text, and the arguments of each call in order. */
function saidIn(events: SseEvent[]): { text: string; calls: unknown[] } {
  let text = "";
  const calls = new Map<number, string>();
  const append = (index: number, json: string) => calls.set(index, (calls.get(index) ?? "") + json);
  for (const { data } of events) {
    if (typeof data !== "object" || data === null) continue;
    const event = data as WireData; // recorded JSON, read field by field
    const block = event.content_block ?? event.delta;
    if (event.content_block?.type === "tool_use") append(event.index ?? 0, "");
    if (event.type === "content_block_delta") {
      text += block?.text ?? "";
      if (block?.partial_json !== undefined) append(event.index ?? 0, block.partial_json);
    }
    const delta = event.choices?.[0]?.delta;
    text += delta?.content ?? "";
    for (const call of delta?.tool_calls ?? []) append(call.index ?? 0, call.function?.arguments ?? "");
    for (const part of event.candidates?.[0]?.content?.parts ?? []) {
      if (!part.thought) text += part.text ?? "";
      if (part.functionCall) append(calls.size, JSON.stringify(part.functionCall.args));
    }
  }
  return { text, calls: [...calls.values()].map((json) => JSON.parse(json === "" ? "{}" : json)) };
}

type WireData = {
  type?: string;
  index?: number;
  content_block?: { type?: string; text?: string; partial_json?: string };
  delta?: { type?: string; text?: string; partial_json?: string };
  choices?: { delta?: { content?: string | null; tool_calls?: WireCall[] } }[];
  candidates?: {
    content?: { parts?: { text?: string; thought?: boolean; functionCall?: { args: unknown } }[] };
  }[];
};
type WireCall = { index?: number; function?: { arguments?: string } };
