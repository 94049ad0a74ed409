import { describe, expect, test } from "vitest";
import { OVER_WIRE } from "../support/over-wire.ts";
import { encodeEvents, type Fault, type SseEvent } from "../support/wire-server.ts";
import { expectSound, retriesOf } from "./soundness.ts";
import { forEach, type Played, range, Stage } from "./stage.ts";

// Characters of two, three and four bytes, a quote and an escape: every way in which half a character can be cut.
const FIRST = { city: "Tromsø", note: '雨🌧"\\' };
const SECOND = { city: "Zürich" };

// Thousands of runs each; a busy machine may take a while.
const PATIENCE = { timeout: 240_000 };

describe.each(OVER_WIRE)("$provider, cut at every byte", (over) => {
  const one = over.wire.toolCall({ name: "book", args: FIRST }, { chunks: 2 });
  const calls = [FIRST, SECOND].map((args) => ({ name: "book", args }));
  const two = over.wire.toolCall(calls, { chunks: 2 });

  /** Every cut of an answer, each in a run of its own. The tool sees what the model meant, once, or nothing. */
  async function cutEverywhere(
    events: SseEvent[],
    meant: unknown[],
    fault: Fault,
    every = 1,
  ): Promise<Record<Ending, number>> {
    await using stage = await Stage.open(over);
    const seen = { failed: 0, again: 0, whole: 0 };
    const { length } = encodeEvents(events);
    const bytes = range(length + 1).filter((byte) => (length - byte) % every === 0);
    await forEach(bytes, async (byte) => {
      const replies = [{ events, ...fault, cutAtByte: byte }, { events }];
      const played = await stage.play(replies, { maxSteps: 1 });
      expectSound(played, `cut at byte ${byte}`);
      const ending = endingOf(played);
      seen[ending] += 1;
      expect(played.executed, `cut at byte ${byte}, ${ending}`).toEqual(ending === "failed" ? [] : meant);
      const requests = ending === "again" ? 2 : 1;
      if (played.requests.length !== requests)
        expect.fail(`cut at byte ${byte}: ${played.requests.length} requests`);
    });
    return seen;
  }

  test(
    "X8 an answer with a call that ends politely: the call is made as meant, or not",
    PATIENCE,
    async () => {
      const seen = await cutEverywhere(one, [FIRST], { cut: "clean" });
      expect(seen.failed, "something had been shown").toBeGreaterThan(100);
      expect(seen.again, "nothing had been shown").toBeGreaterThan(100);
      expect(seen.whole, "only the end was missing").toBeGreaterThan(0);
    },
  );

  test(
    "X8 an answer with a call whose connection drops: the call is made as meant, or not",
    PATIENCE,
    async () => {
      // What was sent is the same as before; how it ends differs, so not every byte has to be tried again.
      const seen = await cutEverywhere(one, [FIRST], { cut: "close" }, 3);
      expect(seen.failed).toBeGreaterThan(30);
      expect(seen.again).toBeGreaterThan(30);
    },
  );

  test("X8 an answer with two calls: both are made as meant, or neither", PATIENCE, async () => {
    const seen = await cutEverywhere(two, [FIRST, SECOND], { cut: "clean" }, 3);
    expect(seen.failed).toBeGreaterThan(30);
    expect(seen.whole).toBeGreaterThan(0);
  });
});

type Ending = "failed" | "again" | "whole";

function endingOf({ error, events }: Played): Ending {
  if (error) {
    if (error.code !== "model_failed") throw error;
    return "failed";
  }
  return retriesOf(events).length > 0 ? "again" : "whole";
}
