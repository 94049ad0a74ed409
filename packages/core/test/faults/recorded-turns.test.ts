import { Agent, defineTool, localEngine } from "trackside";
import { describe, expect, test } from "vitest";
import { loadModel } from "../../src/local/providers/registry.ts";
import { recorded, recordedMissing } from "../support/recorded.ts";
import { encodeEvents, type SseEvent, wires } from "../support/wire-server.ts";
import { randomChunks, startChunkServer } from "./chunk-server.ts";
import { expectSound } from "./soundness.ts";
import { forEach, range } from "./stage.ts";

type Called = [tool: string, args: unknown];

/** Recorded streams, the package that reads each, and the calls in it as anybody can read them there. */
const STREAMS: [name: string, provider: string, ...calls: Called[]][] = [
  ["anthropic-text", "anthropic"],
  ["anthropic-tool-no-args", "anthropic", ["updateIssueList", {}]],
  ["anthropic-json-other-tool.1", "anthropic", ["weather", { location: "San Francisco" }]],
  ["anthropic-clear-thinking.1", "anthropic"],
  ["openai-text", "openai-compatible"],
  ["xai-tool-call", "openai-compatible", ["weather", { location: "San Francisco" }]],
  ["deepseek-tool-call", "deepseek", ["weather", { location: "San Francisco" }]],
  ["deepseek-reasoning", "deepseek"],
  ["groq-tool-call", "groq", ["weather", {}]],
  ["mistral-incremental-tool-call", "mistral", ["webSearchTool", { query: "current Berlin weather" }]],
  ["google-text", "google"],
  ["google-tool-call", "google", ["weather", { location: "San Francisco" }]],
];
const CHUNKINGS = 12;

if (recordedMissing) console.log(recordedMissing);

describe.skipIf(recordedMissing)("recorded provider streams, as whole turns", () => {
  test.each(STREAMS)(
    "X8 %s through %s: the recorded turn, however its bytes arrive",
    async (name, provider, ...calls) => {
      const events = recorded(name);
      const wholeEvents = events.map((event) => encodeEvents([event]));
      const expected = { text: textIn(events), calls };

      const asSent = await turn(provider, wholeEvents);
      expect({ text: asSent.text, calls: asSent.calls }).toEqual(expected);
      expect(asSent.usage.output_tokens).toBeGreaterThan(0);
      await forEach(
        range(CHUNKINGS),
        async (seed) => {
          const chunks = randomChunks(Buffer.concat(wholeEvents), seed);
          expect(await turn(provider, chunks), `chunking ${seed}`).toEqual(asSent);
        },
        3,
      );
    },
  );
});

/** One turn in which the first answer arrives in these chunks; if it asks for tools, a short answer follows. */
async function turn(provider: string, chunks: Uint8Array[]) {
  await using server = await startChunkServer((number) =>
    number === 0 ? chunks : [encodeEvents(thanks(provider))],
  );
  const settings = { [provider]: { baseUrl: `${server.origin}/v1`, apiKey: "test-key" } };
  const loaded = await loadModel(`${provider}:recorded`, settings, { env: {} });
  if (!loaded.ok) throw new Error(loaded.failure.message);

  const calls: Called[] = [];
  const tools = ["weather", "updateIssueList", "webSearchTool"].map((tool) =>
    defineTool({ name: tool, input: { type: "object" }, execute: (args) => void calls.push([tool, args]) }),
  );
  const agent = new Agent({ name: "reader", model: loaded.model, tools });
  const stream = agent.stream("go", { engine: localEngine({ retry: { retries: 0 } }) });
  const seen = [];
  for await (const event of stream) seen.push(event);
  const { usage, steps } = await stream.result;
  expectSound({ events: seen }, "the recorded turn");
  expect(server.bodies).toHaveLength(steps);
  expect(steps).toBe(calls.length > 0 ? 2 : 1);
  const ofFirstStep = seen.slice(
    0,
    seen.findIndex((event) => event.type === "step" && event.state === "completed"),
  );
  const of = (type: "text" | "reasoning") =>
    ofFirstStep.map((event) => (event.type === type ? event.text : "")).join("");
  return { text: of("text"), reasoning: of("reasoning"), calls, usage };
}

function thanks(provider: string): SseEvent[] {
  if (provider === "google") return recorded("google-text");
  if (provider === "anthropic") return wires.anthropic.text("Thank you.");
  // Mistral's package cannot read the chunk without choices in which others report their usage.
  return wires.openaiChat
    .text("Thank you.")
    .filter(({ data }) => !JSON.stringify(data).includes('"choices":[]'));
}

/** The text in a recording, read without any package: it is in one of three places. */
function textIn(events: SseEvent[]): string {
  return events
    .map(({ data }) => {
      if (typeof data !== "object" || data === null) return "";
      const { delta, choices, candidates } = data as Recorded; // recorded JSON, read field by field
      const parts = candidates?.[0]?.content?.parts ?? [];
      const spoken = parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join("");
      return delta?.text ?? choices?.[0]?.delta?.content ?? spoken;
    })
    .join("");
}

type Recorded = {
  delta?: { text?: string };
  choices?: { delta?: { content?: string | null } }[];
  candidates?: { content?: { parts?: { text?: string; thought?: boolean }[] } }[];
};
