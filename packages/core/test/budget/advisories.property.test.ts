import * as fc from "fast-check";
import { Conversation, localEngine } from "trackside";
import { hostileEngine, type ScriptedRequest } from "trackside/testing";
import { expect, test } from "vitest";
import { countOf, TAIL, type Talk, talk, talks } from "./talk.ts";

const PER_MESSAGE = { budgetAwareness: "per-message" };
const ADVISORY = /\[context: (\d+) of (\d+) tokens used; best kept below (\d+)\]/g;

function bytes({ prompt }: ScriptedRequest): string {
  return JSON.stringify(prompt.filter((message) => !JSON.stringify(message).includes(TAIL))).slice(0, -1);
}

/** What was sent once never changes, whatever comes later, until room is made (H5). */
function expectStable({ moments, requests }: Talk): void {
  let before: string | undefined;
  let i = 0;
  for (const { kind } of moments) {
    const now: string | undefined = kind === "room" ? undefined : bytes(requests[i++] as ScriptedRequest);
    if (before !== undefined) expect(now === undefined || now.startsWith(before)).toBe(true);
    before = now;
  }
}

test("B2 H5 X1 every message and result that goes back has one advisory, the same bytes on every engine", {
  timeout: 120_000,
}, async () => {
  let stamps = 0;
  await fc.assert(
    fc.asyncProperty(talks(fc.constantFrom(null, 0.9, 1.3)), fc.nat(1_000), async (script, seed) => {
      const options = { retry: { retries: 0 } };
      const here = await talk(script, localEngine(options), PER_MESSAGE);
      const there = await talk(script, hostileEngine({ ...options, seed }), PER_MESSAGE);
      expect(there.requests.map(bytes)).toEqual(here.requests.map(bytes));
      expectStable(here);

      for (const { prompt } of here.requests) {
        for (const { role, content } of prompt) {
          const found = [...JSON.stringify(content).matchAll(ADVISORY)];
          const isStamped = role === "assistant" || role === "tool";
          const expected = !isStamped ? 0 : role === "tool" ? content.length : 1;
          expect(found.length).toBe(expected);
          for (const [, , window, working] of found)
            expect([window, working]).toEqual([
              `${script.window}`,
              `${Math.floor((script.window * 60) / 100)}`,
            ]);
          stamps += found.length;
        }
      }
      // What is said of a request is what the provider said, or near what it comes to.
      for (const [i, request] of here.requests.entries()) {
        const next = here.requests[i + 1];
        if (next === undefined || !bytes(next).startsWith(bytes(request))) continue;
        const [used = "0"] = [...bytes(next).slice(bytes(request).length).matchAll(ADVISORY)].map(
          (found) => found[1],
        );
        const size = countOf(request);
        if (script.factor !== null)
          expect(Number(used)).toBe(Math.max(1, Math.round(size * script.factor)) + 20);
        else expect(Number(used)).toBeGreaterThanOrEqual(size * 0.95);
      }
      // For the model alone; and a stored conversation keeps them.
      const { conversation, messages } = here.results.at(-1) ?? {};
      expect(JSON.stringify([here.events, messages, conversation?.messages])).not.toContain("[context:");
      const stored = JSON.stringify(conversation);
      expect(JSON.stringify(Conversation.fromJSON(JSON.parse(stored)))).toBe(stored);
    }),
    { numRuns: 80 },
  );
  expect(stamps).toBeGreaterThan(100);
});
