import { Agent, type AgentEvent, localEngine, RunCancelledError } from "trackside";
import { hostileEngine } from "trackside/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/local/clock.ts";
import { OVER_WIRE } from "../support/over-wire.ts";
import { PATIENT } from "../support/patience.ts";
import type { WireReply } from "../support/wire-server.ts";
import { type Answer, finish, hostileModel, text } from "./hostile-model.ts";
import { expectSound, shownText, textsOf } from "./soundness.ts";
import { bounded, forEach, range, Stage } from "./stage.ts";

const unhandled: unknown[] = [];
const note = (reason: unknown) => void unhandled.push(reason);
beforeEach(() => {
  unhandled.length = 0;
  process.on("unhandledRejection", note);
});
afterEach(async () => {
  for (const _ of range(20)) await new Promise((resolve) => setImmediate(resolve)); // rejections of this test arrive
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

describe.each(OVER_WIRE)("a cancel while $provider speaks", (over) => {
  test("X5 at every event: the run ends, what was shown stays, and the connection is closed", async () => {
    await using stage = await Stage.open(over);
    const events = over.wire.text("one two three four five");
    await forEach(range(events.length + 1), async (at) => {
      let cancel = () => {};
      const stalled: WireReply = { stall: true, whileStalled: () => cancel() };
      const played = await stage.play(
        [at === events.length ? stalled : { ...stalled, events, stallAtEvent: at }],
        {
          onRequest: (stream) => {
            cancel = () => stream.cancel("enough");
          },
        },
      );
      expectSound(played, `event ${at}`);
      expect(played.error, `event ${at}`).toBeInstanceOf(RunCancelledError);
      const shown = shownText(played.events);
      expect(textsOf(played.events)).toEqual(shown === "" ? [] : [{ text: shown, partial: true }]);
      expect(played.requests).toHaveLength(1);
    });
    await expect.poll(() => stage.server.openStreams, PATIENT).toBe(0);
  });

  test("X5 in the middle of a tool call: the tool does not run", async () => {
    await using stage = await Stage.open(over);
    const events = over.wire.toolCall({ name: "book", args: { city: "Oslo" } });
    const played = await stage.play([{ events, stall: true, stallAtEvent: events.length - 2 }], {
      onEvent: (event, stream) => {
        if (event.type === "tool_input_delta") stream.cancel();
      },
    });
    expectSound(played, "tool call");
    expect(played.error?.code).toBe("cancelled");
    expect(played.executed).toEqual([]);
  });
});

describe("a cancel against the will of the model", () => {
  const forever = new Promise<never>(() => {});
  const models: [what: string, answer: Answer][] = [
    ["never settles", () => forever],
    ["never sends anything", async () => ({ stream: new ReadableStream() })],
    ["never stops", async () => ({ stream: endless() })],
    ["never stops, nor waits", async () => ({ stream: flood() })],
    [
      "cannot be closed",
      async () => ({
        stream: new ReadableStream({
          start: (controller) => controller.enqueue(text("a")),
          cancel: () => forever,
        }),
      }),
    ],
    [
      "throws when it is closed",
      async () => ({
        stream: new ReadableStream({
          start: (controller) => controller.enqueue(text("a")),
          cancel: () => {
            throw new Error("no");
          },
        }),
      }),
    ],
    [
      "rejects once it is told",
      ({ abortSignal }) =>
        new Promise((_, reject) => abortSignal?.addEventListener("abort", () => reject(new Error("told")))),
    ],
    ["answers after it was told", ({ abortSignal }) => afterAbort(abortSignal)],
    [
      "has an iterator that rejects when it is closed",
      async () => ({
        stream: {
          [Symbol.asyncIterator]: () => ({
            next: () => forever,
            return: () => Promise.reject(new Error("no")),
          }),
        },
      }),
    ],
    [
      "has an iterator that throws when it is closed",
      async () => ({
        stream: {
          [Symbol.asyncIterator]: () => ({
            next: () => forever,
            return() {
              throw new Error("no");
            },
          }),
        },
      }),
    ],
  ];

  test.each(models)("X5 one that %s: the run ends, and waits for no timer", async (_what, answer) => {
    const agent = new Agent({ name: "stoic", model: hostileModel(answer) });
    const engine = localEngine({ clock: { ...systemClock, after: () => ({ stop() {} }) } }); // its timers never fire
    for (const trial of range(6)) {
      const stream = agent.stream("go", { engine });
      const ending = stream.result.then(
        () => undefined,
        (error: unknown) => error,
      );
      await new Promise((resolve) => setTimeout(resolve, trial % 3));
      stream.cancel("enough");
      const error = await bounded(ending, "the cancelled run");
      expect(error).toBeInstanceOf(RunCancelledError);
    }
  });

  test("X5 the same on an engine that restarts its loop after every result", async () => {
    for (const [what, answer] of models) {
      const stream = new Agent({ name: "stoic", model: hostileModel(answer) }).stream("go", {
        engine: hostileEngine(),
      });
      setTimeout(() => stream.cancel("enough"), 10);
      const events: AgentEvent[] = [];
      const reading = (async () => {
        for await (const event of stream) events.push(event);
      })();
      await bounded(reading, what);
      expectSound({ events }, what);
      expect(events.at(-1), what).toMatchObject({ status: "cancelled", reason: "enough" });
    }
  });

  test("X5 nothing of what it says after a cancel is shown", async () => {
    let late: ReadableStreamDefaultController | undefined;
    const stream = new ReadableStream({
      start(controller) {
        late = controller;
        controller.enqueue(text("before"));
      },
    });
    const run = new Agent({ name: "stoic", model: hostileModel(async () => ({ stream })) }).stream("go");
    const events = [];
    for await (const event of run) {
      events.push(event);
      if (event.type !== "text_delta") continue;
      run.cancel();
      expect(() => late?.enqueue(text("after"))).toThrow(); // closed already
    }
    expectSound({ events }, "late text");
    expect(textsOf(events)).toEqual([{ text: "before", partial: true }]);
  });
});

async function* endless() {
  for (;;) {
    await new Promise((resolve) => setImmediate(resolve));
    yield text("and ");
  }
}

/** Endless for anybody who waits, but not for a test runner that it would starve. */
async function* flood() {
  for (let left = 3_000_000; left > 0; left--) yield text("");
}

async function afterAbort(signal: AbortSignal | undefined) {
  await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()));
  return { stream: ReadableStream.from([text("too late"), finish()]) };
}
