import { localEngine, RunError } from "trackside";
import { hostileEngine } from "trackside/testing";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { OVER_WIRE } from "../support/over-wire.ts";
import { PATIENT } from "../support/patience.ts";
import type { WireErrorKind, WireReply } from "../support/wire-server.ts";
import { impatientEngine, notingClock } from "./clocks.ts";
import { expectSound, retriesOf, textsOf } from "./soundness.ts";
import { HURRIED, Stage } from "./stage.ts";

const ANSWER = "It rains in Tromsø.";
const STATUSES = [
  [429, "rate_limited"],
  [500, "server_error"],
  [503, "overloaded"],
  [529, "overloaded"],
  // Without a body, as gateways send them.
  [408, null],
  [429, null],
  [500, null],
  [502, null],
  [504, null],
  [529, null],
] as const;

describe.each(OVER_WIRE)("$provider fails before it answers", (over) => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await Stage.open(over);
  });
  afterAll(() => stage[Symbol.asyncDispose]());
  const whole = (): WireReply => ({ events: over.wire.text(ANSWER) });
  const failing = (status: number, kind: WireErrorKind | null): WireReply =>
    kind ? { status, body: over.wire.errorBody(kind) } : { status };

  test.each(STATUSES)(
    "X8 status %i (%s) is tried again, visibly, until there is an answer",
    async (status, kind) => {
      const fault = failing(status, kind);
      const played = await stage.play([fault, fault, whole()]);
      expectSound(played, String(status));
      expect(played.result?.output).toBe(ANSWER);
      expect(played.requests).toHaveLength(3);
      expect(retriesOf(played.events)).toHaveLength(2);
      expect(textsOf(played.events)).toEqual([{ text: ANSWER, partial: false }]);
    },
  );

  test.each(STATUSES)(
    "X8 status %i (%s) that does not pass fails after the retries, and says so",
    async (status, kind) => {
      const fault = failing(status, kind);
      const played = await stage.play([fault, fault, fault, fault]);
      expectSound(played, String(status));
      expect(played.error).toBeInstanceOf(RunError);
      expect(played.error).toMatchObject({ code: "model_failed", failure: { details: { status } } });
      expect(played.requests).toHaveLength(1 + HURRIED.retries);
      expect(played.error?.result?.messages.map((message) => message.role)).toEqual(["user"]);
    },
  );

  test("X8 a connection that is reset before the answer is tried again", async () => {
    const played = await stage.play([{ reset: true }, { reset: true }, whole()]);
    expectSound(played, "reset");
    expect(played.result?.output).toBe(ANSWER);
    expect(played.requests).toHaveLength(3);
  });

  test("X8 a server that accepts and says nothing is given up, then tried again", async () => {
    const { clock, engine } = impatientEngine();
    const played = await stage.play([{ stall: true, whileStalled: clock.tick }, whole()], { engine });
    expectSound(played, "silence");
    expect(played.result?.output).toBe(ANSWER);
    expect(played.events).toContainEqual(
      expect.objectContaining({
        type: "error",
        failure: expect.objectContaining({ details: expect.objectContaining({ reason: "timeout" }) }),
      }),
    );
    await expect.poll(() => stage.server.openStreams, PATIENT).toBe(0);
  });

  test.each([400, 401, 403, 404])("X8 status %i will not pass and is not tried again", async (status) => {
    const played = await stage.play([{ status, body: { error: { message: "no" } } }]);
    expectSound(played, String(status));
    expect(played.error?.code).toBe("model_failed");
    expect(played.requests).toHaveLength(1);
    expect(retriesOf(played.events)).toEqual([]);
  });

  test.each([
    ["seconds", () => ({ "retry-after": "7" }), 7000],
    ["fractions of a second", () => ({ "retry-after": "0.25" }), 250],
    ["milliseconds", () => ({ "retry-after-ms": "1234" }), 1234],
    ["a date", () => ({ "retry-after": new Date(Date.now() + 9_000).toUTCString() }), 9000],
    ["a date that has passed", () => ({ "retry-after": new Date(Date.now() - 60_000).toUTCString() }), 0],
  ] as const)("X8 Retry-After in %s is how long it waits", async (_form, headers, ms) => {
    vi.useFakeTimers({ toFake: ["Date"], now: 1_700_000_000_000 });
    onTestFinished(() => void vi.useRealTimers());
    const clock = notingClock();
    const fault: WireReply = { status: 429, headers: headers(), body: over.wire.errorBody("rate_limited") };
    const played = await stage.play([fault, whole()], { engine: localEngine({ clock }) });
    expect(played.result?.output).toBe(ANSWER);
    expect(clock.waits).toEqual(retriesOf(played.events));
    expect(clock.waits).toEqual([ms]);
  });

  test("X8 Retry-After is waited for in real time, not only announced", async () => {
    const fault: WireReply = { status: 503, headers: { "retry-after-ms": "180" } };
    const { times, result } = await stage.play([fault, whole()]);
    expect(result?.output).toBe(ANSWER);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(175);
  });

  test("X8 a Retry-After above 60 s counts as failed", async () => {
    const body = over.wire.errorBody("rate_limited");
    const played = await stage.play([{ status: 429, headers: { "retry-after": "61" }, body }]);
    expectSound(played, "61 s");
    expect(played.error?.code).toBe("model_failed");
    expect(played.requests).toHaveLength(1);
  });

  test("X8 after a tool has run, a failing second request is tried again without it", async () => {
    const call = { events: over.wire.toolCall({ name: "book", args: { city: "Tromsø" } }) };
    const faults: WireReply[] = [
      { status: 503 },
      { reset: true },
      { events: over.wire.text(ANSWER), cutAfterEvents: 1 },
    ];
    for (const fault of faults) {
      const played = await stage.play([call, fault, whole()]);
      expectSound(played, JSON.stringify(fault).slice(0, 40));
      expect(played.result?.output).toBe(ANSWER);
      expect(played.executed).toEqual([{ city: "Tromsø" }]);
      expect(played.requests).toHaveLength(3);
      expect(played.requests[2]?.body).toEqual(played.requests[1]?.body);
    }
  });

  test("X8 the same on an engine that restarts its loop after every result", async () => {
    const engine = hostileEngine({ retry: HURRIED });
    const call = { events: over.wire.toolCall({ name: "book", args: { city: "Tromsø" } }) };
    const played = await stage.play([{ status: 529 }, call, { reset: true }, { status: 500 }, whole()], {
      engine,
    });
    expectSound(played, "hostile");
    expect(played.result?.output).toBe(ANSWER);
    expect(played.executed).toEqual([{ city: "Tromsø" }]);
    expect(retriesOf(played.events)).toHaveLength(3);
  });

  test("E3 run() and stream() fail with the same error", async () => {
    const fault: WireReply = {
      events: over.wire.text(ANSWER),
      cutAfterEvents: over.wire.text(ANSWER).length - 3,
    };
    const streamed = await stage.play([fault]);
    const ran = await stage.run([fault]);
    expect(streamed.error?.message).toBe(ran.error?.message);
    expect(streamed.error?.code).toBe("model_failed");
    expect(ran.requests).toHaveLength(streamed.requests.length);
    const roles = (played: typeof ran) => played.error?.result?.messages.map(({ role }) => role);
    expect(roles(ran)).toEqual(roles(streamed));
  });
});
