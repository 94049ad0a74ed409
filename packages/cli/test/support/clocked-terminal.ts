import { afterEach, beforeEach, vi } from "vitest";
import { testIo } from "./test-io.ts";

const STEP_MS = 10;
const LONGEST_MS = 60_000;

/** Has the tests of a `describe` on a clock that moves only when they wait for something. */
export function onFakeClock(): void {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
}

/** Lets time pass, and everything happen that happens in it. */
export async function pass(ms = 60): Promise<void> {
  await streamsDelivered();
  await vi.advanceTimersByTimeAsync(ms);
  await streamsDelivered();
}

/** Streams hand on what they have within a few turns of the event loop, which no clock counts. */
async function streamsDelivered(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** A terminal made of streams, for tests on the fake clock. */
export function clockedTerminal() {
  const { io, heard, raw, type } = testIo({ terminal: true });
  return {
    io,
    raw,
    type,
    shown: () => heard.stdout,
    /** Lets time pass until the text has appeared, after what earlier calls waited for. */
    async see(text: string): Promise<void> {
      let isSeen = false;
      const seen = heard.see(text).then(() => {
        isSeen = true;
      });
      seen.catch(() => {}); // awaited below
      for (let at = 0; !isSeen && at < LONGEST_MS; at += STEP_MS) await pass(STEP_MS);
      if (!isSeen) heard.ended("a minute passed");
      await seen;
    },
  };
}
