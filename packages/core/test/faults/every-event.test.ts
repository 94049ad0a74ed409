import { hostileEngine } from "trackside/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { OVER_WIRE, type OverWire } from "../support/over-wire.ts";
import type { Fault, WireErrorKind } from "../support/wire-server.ts";
import { impatientEngine } from "./clocks.ts";
import { deltasOf, expectSound, retriesOf, shownText, textsOf } from "./soundness.ts";
import { forEach, HURRIED, type Played, range, Stage } from "./stage.ts";

const ANSWER = "Regn i Tromsø: ta med paraply ☂.";
const ARGS = { city: "Tromsø", days: 3 };
const ERRORS: WireErrorKind[] = ["rate_limited", "overloaded", "server_error"];

/** What may go wrong just before event number `at`. */
const FAULTS: [what: string, fault: (at: number, wire: OverWire["wire"], tick: () => void) => Fault][] = [
  ...ERRORS.map((kind): (typeof FAULTS)[number] => [
    `an error event (${kind})`,
    (at, wire) => ({ errorEventAt: at, errorEvent: wire.errorEvent(kind) }),
  ]),
  ["a polite end", (at) => ({ cutAfterEvents: at })],
  ["a closed connection", (at) => ({ cutAfterEvents: at, cut: "close" })],
  ["a reset", (at) => ({ cutAfterEvents: at, reset: true })],
  ["a silence", (at, _wire, tick) => ({ stall: true, stallAtEvent: at, whileStalled: tick })],
];

describe.each(OVER_WIRE)("$provider fails in the middle of its answer", (over) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.open(over);
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  const text = { events: over.wire.text(ANSWER) };
  const call = { events: over.wire.toolCall({ name: "book", args: ARGS }) };

  test.each(FAULTS)("X8 %s at every event of a text", async (_what, fault) => {
    const seen: Seen[] = [];
    await forEach(range(text.events.length + 1), async (at) => {
      const { clock, engine } = impatientEngine();
      const faulty = { ...text, ...fault(at, over.wire, clock.tick) };
      const played = await stage.play([faulty, text], { engine });
      expectSound(played, `event ${at}`);
      const said = verdict(played, 1, `event ${at}`);
      expect(played.executed).toEqual([]);
      if (said !== "failed") expect(played.result?.output, `event ${at}`).toBe(ANSWER);
      if (said === "at once")
        expect(at, "only a finished answer counts").toBeGreaterThan(finishedAt(over, text));
      seen.push(said);
    });
    expect(new Set(seen)).toContain("again"); // nothing had been shown
    expect(new Set(seen)).toContain("failed"); // something had
  });

  test.each(FAULTS)("X8 %s at every event of a tool call", async (_what, fault) => {
    const seen: Seen[] = [];
    await forEach(range(call.events.length + 1), async (at) => {
      const { clock, engine } = impatientEngine();
      const faulty = { ...call, ...fault(at, over.wire, clock.tick) };
      const played = await stage.play([faulty, call, text], { engine });
      expectSound(played, `event ${at}`);
      // A call that was whole all the same leaves one reply over, which then answers: a second call.
      const said = verdict(played, 2, `event ${at}`);
      if (said === "failed") expect(played.executed, `event ${at}`).toEqual([]);
      else expect(played.executed.at(0), `event ${at}`).toEqual(ARGS);
      if (said === "again") expect(played.executed, `event ${at}`).toHaveLength(1);
      if (said === "at once") expect(at).toBeGreaterThan(finishedAt(over, call));
      seen.push(said);
    });
    expect(new Set(seen)).toContain("again");
    expect(new Set(seen)).toContain("failed");
  });

  test("X8 text and a call in one answer: the text that was shown stays, the call does not run", async () => {
    const both = over.wire.toolCall({ name: "book", args: ARGS }, { text: "Et øyeblikk." });
    await forEach(range(both.length + 1), async (at) => {
      const played = await stage.play([{ events: both, cutAfterEvents: at, cut: "close" }, call, text]);
      expectSound(played, `event ${at}`);
      if (played.error) expect(played.executed, `event ${at}`).toEqual([]);
      else expect(played.executed[0], `event ${at}`).toEqual(ARGS);
    });
  });

  test("X8 the same outcomes on an engine that restarts its loop after every result", async () => {
    for (const answer of [text, call]) {
      await forEach(range(answer.events.length + 1), async (at) => {
        const replies = [{ ...answer, cutAfterEvents: at }, answer, text];
        const local = await stage.play(replies);
        const hostile = await stage.play(replies, { engine: hostileEngine({ seed: at, retry: HURRIED }) });
        expectSound(hostile, `event ${at}`);
        expect(outcome(hostile), `event ${at}`).toEqual(outcome(local));
      });
    }
  });
});

type Seen = "at once" | "again" | "failed";

/**
 * X8 in one place. A failed answer of which anything was shown fails the run: it says so, what was shown stays as a partial
 * text, and nothing more is asked of the provider. One of which nothing was shown is tried again. `requests` is what
 * the turn takes without a fault.
 */
function verdict(played: Played, requests: number, what: string): Seen {
  const { events, error, result } = played;
  if (error === undefined) {
    expect(result?.stopReason, what).toBe("answered");
    const again = retriesOf(events).length;
    if (again > 0) expect(played.requests, what).toHaveLength(requests + again);
    return again > 0 ? "again" : "at once";
  }
  expect(error.code, what).toBe("model_failed");
  expect(played.requests, what).toHaveLength(1);
  expect(deltasOf(events).length, `${what}: something was shown`).toBeGreaterThan(0);
  expect(error.message, what).toMatch(/already shown/);
  const shown = shownText(events);
  expect(textsOf(events), what).toEqual(shown === "" ? [] : [{ text: shown, partial: true }]);
  const last = error.result?.messages.at(-1);
  expect(last, what).toMatchObject(shown === "" ? { role: "user" } : { role: "assistant", partial: true });
  return "failed";
}

/** The event that says the answer is finished; what follows it is bookkeeping. */
function finishedAt({ provider }: OverWire, { events }: { events: unknown[] }): number {
  return provider === "openai-compatible" ? events.length - 3 : events.length - 1;
}

/** What may be compared between runs. */
function outcome({ events, error, result, executed, requests }: Played) {
  const last = events.at(-1);
  return {
    status: last?.type === "status" ? last.status : last,
    texts: textsOf(events),
    error: error?.message,
    output: result?.output,
    executed,
    requests: requests.length,
  };
}
