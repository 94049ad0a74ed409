import * as fc from "fast-check";
import { localEngine } from "trackside";
import { hostileEngine, type ScriptedRequest } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { correction } from "../../src/context/anchor.ts";
import { TokenCounter } from "../../src/local/token-counter.ts";
import { countOf, TAIL, type Talk, type TalkScript, talk, talks } from "./talk.ts";

/** A count of the same kind as the engine's, of what rails were shown and the provider was sent. */
function ownCount({ moments, requests }: Talk): number[] {
  const counter = new TokenCounter("scripted:scripted");
  const shown = moments.flatMap((moment) => (moment.kind === "request" ? [moment.messages] : []));
  expect(shown.length).toBe(requests.length);
  return requests.map(({ prompt: [system], tools }, i) => {
    const fixed = counter.request({
      system: system?.role === "system" ? system.content : "",
      tools: tools.flatMap((tool) =>
        tool.type === "function"
          ? [{ name: tool.name, description: tool.description ?? "", inputSchema: tool.inputSchema }]
          : [],
      ),
    });
    return (shown[i] ?? []).reduce((tokens, message) => tokens + counter.message(message), fixed);
  });
}

/** Each call has its result right behind it, and each result its call. */
function expectPaired({ prompt }: ScriptedRequest): void {
  let open: string[] = [];
  for (const message of prompt) {
    if (message.role === "tool") {
      const results = message.content.flatMap((part) =>
        part.type === "tool-result" ? [part.toolCallId] : [],
      );
      expect(results).toEqual(open);
      open = [];
      continue;
    }
    expect(open).toEqual([]);
    if (message.role === "assistant")
      open = message.content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []));
  }
  expect(open).toEqual([]);
}

function withoutTail({ prompt }: ScriptedRequest): string {
  return JSON.stringify(prompt.filter((message) => !JSON.stringify(message).includes(TAIL))).slice(0, -1);
}

/** What was sent is a prefix of what is sent next, unless room was made in between (H5). */
function expectStable({ moments, requests }: Talk): void {
  let before: string | undefined;
  let i = 0;
  for (const moment of moments) {
    if (moment.kind === "room") {
      before = undefined;
      continue;
    }
    const now = withoutTail(requests[i++] as ScriptedRequest);
    if (before !== undefined) expect(now.startsWith(before)).toBe(true);
    before = now;
  }
}

/** This turn's question and what its hook added are there, whole and side by side; the system prompt and tools never change. */
function expectKept({ moments, requests }: Talk): void {
  const turns = moments.flatMap((moment) => (moment.kind === "request" ? [moment.turn] : []));
  for (const [i, { prompt, tools }] of requests.entries()) {
    expect([prompt[0], tools]).toEqual([requests[0]?.prompt[0], requests[0]?.tools]);
    const at = prompt.findIndex((message) => JSON.stringify(message).includes(TAIL));
    expect(JSON.stringify(prompt[at - 1])).toContain(`"q${turns[i]}`);
    expect(prompt.findLastIndex((message) => JSON.stringify(message).includes(TAIL))).toBe(at);
  }
}

function expectEnded({ results, limit }: Talk, { turns }: TalkScript): void {
  for (const [i, result] of results.entries()) {
    expect(["answered", "budget"]).toContain(result.stopReason);
    // Whatever was done to requests, the log has all that was said.
    if (result.stopReason === "answered") expect(result.steps).toBe((turns[i]?.steps.length ?? 0) + 1);
    else expect(result.text).toContain(`and ${limit} are allowed`);
  }
}

function expectSound(played: Talk, script: TalkScript): void {
  played.requests.forEach(expectPaired);
  expectStable(played);
  expectKept(played);
  expectEnded(played, script);
  for (const { prompt, tools, options } of played.summaries) {
    expect(tools).toEqual([]);
    // By the count that was believed: a provider that counts less is taken at its word.
    const room = script.window - (options.maxOutputTokens ?? 0);
    const counted = countOf({ prompt, tools } as ScriptedRequest) * Math.min(1, script.factor ?? 1);
    expect(counted).toBeLessThanOrEqual(room);
  }
}

/** How far a provider that counts otherwise is believed after it has counted a request of this size. */
function believed(tokens: number, factor: number): number {
  return correction({ reported: tokens * factor, estimated: tokens });
}

const RUNS = { numRuns: 100 };
const engine = () => localEngine({ retry: { retries: 0 } });

describe("B3 whatever is said, fetched and allowed", () => {
  test("B3 B4 H5 no request above the limit is sent, and what is sent is sound", {
    timeout: 120_000,
  }, async () => {
    const seen = { sent: 0, compacted: 0, stopped: 0 };
    await fc.assert(
      fc.asyncProperty(talks(fc.constant(null)), async (script) => {
        const played = await talk(script, engine());
        for (const tokens of ownCount(played)) expect(tokens).toBeLessThanOrEqual(played.limit);
        // Counted from the bytes: what providers add around messages is not in it, so it is less than our count.
        for (const request of played.requests)
          expect(countOf(request)).toBeLessThanOrEqual(played.limit * 1.05 + 20);
        expectSound(played, script);
        seen.sent += played.requests.length;
        seen.compacted += played.moments.filter(({ kind }) => kind === "room").length;
        seen.stopped += played.results.filter(({ stopReason }) => stopReason === "budget").length;
      }),
      RUNS,
    );
    // A property that never came to the point proves nothing.
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(30);
  });

  test("B3 B6 providers that count otherwise are believed from their first answer on", {
    timeout: 120_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(talks(fc.double({ min: 0.7, max: 1.6, noNaN: true })), async (script) => {
        const played = await talk(script, engine());
        expectSound(played, script);
        const factor = script.factor ?? 1;
        const turns = played.moments.flatMap((moment) => (moment.kind === "request" ? [moment.turn] : []));
        for (const [i, request] of played.requests.entries()) {
          const before = turns[i] === turns[i - 1] ? played.requests[i - 1] : undefined;
          // Before it has said anything, ours is the only count there is; after, it is believed as far as one answer tells.
          const known = before === undefined ? 1 : believed(countOf(before), factor);
          expect(countOf(request) * factor).toBeLessThanOrEqual(
            played.limit * Math.max(1, factor / known) * 1.05 + 30,
          );
        }
      }),
      RUNS,
    );
  });

  test("X1 B3 the hostile world sends the same requests", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(talks(fc.constantFrom(null, 1.2)), fc.nat(1_000), async (script, seed) => {
        const here = await talk(script, engine());
        const there = await talk(script, hostileEngine({ seed, retry: { retries: 0 } }));
        const prompts = ({ requests, summaries }: Talk) =>
          [...requests, ...summaries].map(({ prompt }) => prompt);
        expect(JSON.stringify(prompts(there))).toBe(JSON.stringify(prompts(here)));
        expect(there.results.map(({ text }) => text)).toEqual(here.results.map(({ text }) => text));
      }),
      { numRuns: 30 },
    );
  });
});
