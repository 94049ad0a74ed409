import { describe, expect, test } from "vitest";
import { OVER_WIRE } from "../support/over-wire.ts";
import { encodeEvents, type Fault, type SseEvent } from "../support/wire-server.ts";
import { expectSound, retriesOf } from "./soundness.ts";
import { forEach, type Played, Stage } from "./stage.ts";

// Characters of two, three and four bytes, a quote and an escape: every way in which half a character can be cut.
const FIRST = { city: "Tromsø", note: '雨🌧"\\' };
const SECOND = { city: "Zürich" };

/**
 * Cuts answers with tool calls at the bytes that `choose` names, each cut in a run of its own, with every provider. The
 * tool runs once for each call, with the arguments that the model wrote, or not at all.
 */
export function cutAnswers(
  choose: (events: readonly SseEvent[]) => readonly number[],
  timeout: number,
): void {
  describe.each(OVER_WIRE)("$provider, cut in the middle of an answer", (over) => {
    const one = over.wire.toolCall({ name: "book", args: FIRST }, { chunks: 2 });
    const calls = [FIRST, SECOND].map((args) => ({ name: "book", args }));
    const two = over.wire.toolCall(calls, { chunks: 2 });

    async function cutEverywhere(events: SseEvent[], meant: unknown[], fault: Fault): Promise<Set<Ending>> {
      await using stage = await Stage.open(over);
      const seen = new Set<Ending>();
      await forEach(choose(events), async (byte) => {
        const replies = [{ events, ...fault, cutAtByte: byte }, { events }];
        const played = await stage.play(replies, { maxSteps: 1 });
        expectSound(played, `cut at byte ${byte}`);
        const ending = endingOf(played);
        seen.add(ending);
        expect(played.executed, `cut at byte ${byte}, ${ending}`).toEqual(ending === "failed" ? [] : meant);
        const requests = ending === "again" ? 2 : 1;
        if (played.requests.length !== requests)
          expect.fail(`cut at byte ${byte}: ${played.requests.length} requests`);
      });
      return seen;
    }

    // "failed": something had been shown. "again": nothing had been. "whole": only the end was missing.
    test("X8 an answer with a call that ends politely: the call is made as meant, or not", {
      timeout,
    }, async () => {
      expect(await cutEverywhere(one, [FIRST], { cut: "clean" })).toEqual(
        new Set(["again", "failed", "whole"]),
      );
    });

    test("X8 an answer with a call whose connection drops: the call is made as meant, or not", {
      timeout,
    }, async () => {
      const seen = await cutEverywhere(one, [FIRST], { cut: "close" });
      expect([...seen]).toEqual(expect.arrayContaining(["again", "failed"]));
    });

    test("X8 an answer with two calls: both are made as meant, or neither", { timeout }, async () => {
      const seen = await cutEverywhere(two, [FIRST, SECOND], { cut: "clean" });
      expect([...seen]).toEqual(expect.arrayContaining(["failed", "whole"]));
    });
  });
}

/** The first byte of every event, and the end of the stream. */
export function boundaries(events: readonly SseEvent[]): number[] {
  let at = 0;
  return [0, ...events.map((event) => (at += encodeEvents([event]).length))];
}

type Ending = "failed" | "again" | "whole";

function endingOf({ error, events }: Played): Ending {
  if (error) {
    if (error.code !== "model_failed") throw error;
    return "failed";
  }
  return retriesOf(events).length > 0 ? "again" : "whole";
}
