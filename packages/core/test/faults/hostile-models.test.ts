import { localEngine, RunError } from "trackside";
import { hostileEngine } from "trackside/testing";
import { describe, expect, test } from "vitest";
import { hurriedClock } from "./clocks.ts";
import { type Answer, call, face, faceOn, finish, streamOf, text } from "./hostile-model.ts";
import { deltasOf, expectSound, retriesOf, shownText, textsOf } from "./soundness.ts";
import { HURRIED, range } from "./stage.ts";

const unreadable = new Proxy(
  {},
  {
    get() {
      throw new Error("do not look");
    },
  },
);

describe("a model that does not answer", () => {
  const refusals: [what: string, answer: Answer][] = [
    [
      "throws before it returns",
      () => {
        throw new Error("not today");
      },
    ],
    ...["a text", 42, null, undefined, {}, Symbol("s"), unreadable].map((reason): [string, Answer] => [
      `rejects with ${typeof reason === "object" ? "an object" : String(reason)}`,
      () => Promise.reject(reason),
    ]),
    ["returns nothing", () => undefined],
    ["resolves to nothing", async () => null],
    ["has no stream", async () => ({})],
    ["has a stream that is none", async () => ({ stream: 5 })],
    ["has a stream that somebody else reads", async () => locked()],
    ["has a stream that breaks at once", async () => breaking(new Error("broken"))],
    ["has a stream that breaks with nothing", async () => breaking(undefined)],
    ["ends without a word", async () => streamOf()],
    ["ends without a finish", async () => streamOf(call())],
  ];

  test.each(refusals)("E3 one that %s fails the run with an error that says so", async (_what, answer) => {
    const faced = await face(...range(8).map(() => answer));
    expectSound(faced, "refusal");
    expect(faced.error).toBeInstanceOf(RunError);
    expect(faced.error).toMatchObject({ code: "model_failed" });
    expect(faced.error?.message).toMatch(/^The model hostile:model failed: .+/);
    expect(faced.executed).toEqual([]);
  });

  test("X8 one that never settles is given up in time, whatever it does with its signal", async () => {
    const engine = localEngine({
      clock: hurriedClock(20),
      modelIdleMs: 20_000,
      retry: { retries: 1, baseMs: 1 },
    });
    let signal: AbortSignal | undefined;
    const faced = await faceOn(engine, ({ abortSignal }) => {
      signal = abortSignal;
      return new Promise(() => {});
    });
    expect(faced.result?.output).toBe("done");
    expect(retriesOf(faced.events)).toHaveLength(1);
    expect(signal?.aborted).toBe(true);
  });

  test("X8 one whose stream breaks after text was shown fails, and keeps the text", async () => {
    const faced = await face(async () => breaking(new Error("broken"), text("so far")));
    expectSound(faced, "broken");
    expect(faced.error?.message).toMatch(/already shown 6 characters/);
    expect(textsOf(faced.events)).toEqual([{ text: "so far", partial: true }]);
    expect(faced.requests).toHaveLength(1);
  });
});

describe("a model that ends more than once", () => {
  test("E2 what it says after its end is not part of the answer", async () => {
    const late = [text("too late"), call(), { type: "error", error: "late" }, null, finish("error")];
    const faced = await face([text("whole"), finish(), ...late]);
    expectSound(faced, "after the end");
    expect(faced.result?.output).toBe("whole");
    expect(shownText(faced.events)).toBe("whole");
    expect(faced.executed).toEqual([]);
    expect(faced.requests).toHaveLength(1);
  });

  test("E2 a second finish does not count its usage again", async () => {
    const faced = await face([text("whole"), finish(), finish()]);
    expect(faced.result?.usage).toMatchObject({ input_tokens: 10, output_tokens: 5, model_calls: 1 });
  });

  test("E2 a stream that breaks after its end was a whole answer", async () => {
    const faced = await face(async () => breaking(new Error("late"), call(), finish("tool-calls")));
    expectSound(faced, "broken after the end");
    expect(faced.executed).toEqual([{ city: "Oslo" }]);
    expect(faced.result?.output).toBe("done");
  });

  test("E2 a stream that stays open after its end is let go", async () => {
    const engine = localEngine({ clock: hurriedClock(20) });
    let cancelled = false;
    const open = new ReadableStream({
      start(controller) {
        for (const part of [text("whole"), finish()]) controller.enqueue(part);
      },
      cancel() {
        cancelled = true;
      },
    });
    const faced = await faceOn(engine, async () => ({ stream: open }));
    expect(faced.result?.output).toBe("whole");
    expect(cancelled).toBe(true);
  });
});

describe("a model with strange calls", () => {
  test("T7 the same call twice under one id is two calls, told apart from then on", async () => {
    const faced = await face([call(), call(), finish("tool-calls")]);
    expectSound(faced, "twice");
    expect(faced.executed).toEqual([{ city: "Oslo" }, { city: "Oslo" }]);
    const ids = JSON.stringify(faced.requests[1]?.prompt).match(/"toolCallId":"[^"]+"/g) ?? [];
    expect(ids).toHaveLength(4); // two calls and two results
    expect(new Set(ids).size).toBe(2);
  });

  test.each(["", undefined])("T7 a call whose id is %j runs like any other", async (toolCallId) => {
    const faced = await face([call({ toolCallId }), finish("tool-calls")]);
    expect(faced.executed).toEqual([{ city: "Oslo" }]);
    expect(JSON.stringify(faced.requests[1]?.prompt)).toMatch(/"toolCallId":"[^"]+"/);
  });

  test("T1 when the pieces of the arguments disagree with the whole, the whole counts", async () => {
    const pieces = ['{"city":', '"Ås"}'].map((delta) => ({ type: "tool-input-delta", id: "c1", delta }));
    const start = { type: "tool-input-start", id: "c1", toolName: "boo" };
    const faced = await face([
      start,
      ...pieces,
      { type: "tool-input-end", id: "c1" },
      call(),
      finish("tool-calls"),
    ]);
    expectSound(faced, "disagreeing");
    expect(faced.executed).toEqual([{ city: "Oslo" }]);
    expect(deltasOf(faced.events).filter(({ type }) => type === "tool_input_delta")).toHaveLength(2);
  });

  test("T1 a batch of which one call was begun and never finished does not run in part", async () => {
    const half = { type: "tool-input-start", id: "c2", toolName: "book" };
    const faced = await face([call(), half, finish("tool-calls")]);
    expectSound(faced, "half a batch");
    expect(faced.executed).toEqual([]);
    expect(retriesOf(faced.events)).toHaveLength(1);
    expect(faced.result?.output).toBe("done");
  });

  test("T1 a call that the token limit cut off gets a result that says so; the one before it runs", async () => {
    const half = { type: "tool-input-start", id: "c2", toolName: "book" };
    const faced = await face([call(), half, finish("length")]);
    expectSound(faced, "cut at the limit");
    expect(faced.executed).toEqual([{ city: "Oslo" }]);
    expect(JSON.stringify(faced.requests[1]?.prompt)).toContain("cut at the token limit");
  });

  test("T1 a finish that asks for tools without any call is no answer", async () => {
    const faced = await face([finish("tool-calls")]);
    expect(retriesOf(faced.events)).toHaveLength(1);
    expect(faced.result?.output).toBe("done");
  });
});

describe("a model with strange parts", () => {
  test("E1 text that was never begun is text all the same", async () => {
    const faced = await face([text("a", "x"), text("b", "y"), text("c", "x"), text("d", "y"), finish()]);
    expectSound(faced, "never begun");
    expect(faced.result?.output).toBe("abcd");
  });

  test("E1 parts of unknown kinds, and things that are no parts, are passed over", async () => {
    const rubbish = [
      null,
      undefined,
      5,
      "text",
      [],
      {},
      { type: "from-the-future", delta: "x" },
      { type: null },
    ];
    const faced = await face([...rubbish, text("fine"), ...rubbish, finish()]);
    expectSound(faced, "rubbish");
    expect(faced.result?.output).toBe("fine");
  });

  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  test.each([
    ["text that is a number", [text("a"), text(5), finish()]],
    ["text that is missing", [text(undefined), finish()]],
    ["reasoning that is missing", [{ type: "reasoning-delta", id: "1" }, finish()]],
    ["arguments that are an object", [call({ input: { city: "Oslo" } }), finish("tool-calls")]],
    ["no arguments at all", [call({ input: undefined }), finish("tool-calls")]],
    ["a call of no tool", [call({ toolName: undefined }), finish("tool-calls")]],
    ["metadata with a cycle", [call({ providerMetadata: { x: cycle } }), finish("tool-calls")]],
    [
      "metadata with a BigInt",
      [{ type: "text-start", id: "1", providerMetadata: { x: { y: 1n } } }, finish()],
    ],
    ["a source with a BigInt", [{ type: "source", id: 1n }, finish()]],
    ["a file without data", [{ type: "file", mediaType: "image/png" }, finish()]],
    ["a finish without a reason", [text("a"), finish("stop", { finishReason: undefined })]],
    ["a finish of an older specification", [text("a"), finish("stop", { finishReason: "stop" })]],
    ["an error part without an error", [{ type: "error" }, finish()]],
  ])("E3 %s fails the answer, not the loop", async (_what, parts) => {
    const faced = await face(...range(8).map(() => parts));
    expectSound(faced, "malformed");
    expect(faced.error).toBeInstanceOf(RunError);
    expect(faced.error?.code).toBe("model_failed");
    expect(faced.executed).toEqual([]);
  });

  test.each([
    undefined,
    null,
    {},
    { inputTokens: {} },
    { inputTokens: { total: "7" }, outputTokens: { total: -1 } },
  ])("E2 a usage of %j counts as nothing", async (usage) => {
    const faced = await face([text("fine"), finish("stop", { usage })]);
    expect(faced.result?.usage).toMatchObject({ input_tokens: 0, output_tokens: 0, model_calls: 1 });
  });
});

describe("a model that overdoes it", () => {
  test("E1 five megabytes in one piece arrive whole", async () => {
    const huge = "ø".repeat(5_000_000);
    const faced = await face([text(huge), finish()]);
    expect(faced.result?.output === huge).toBe(true);
    expect(shownText(faced.events) === huge).toBe(true);
  });

  test("E1 a hundred thousand empty pieces are nothing", async () => {
    const empty = range(100_000).map((i) =>
      i % 2 ? text("") : { type: "tool-input-delta", id: "c", delta: "" },
    );
    const faced = await face([...empty, text("fine"), ...empty, finish()]);
    expect(faced.result?.output).toBe("fine");
    expect(deltasOf(faced.events)).toHaveLength(1);
  });

  test("E1 an async iterable is as good as a stream, and is closed when it is not read to its end", async () => {
    let closed = 0;
    async function* parts(...all: unknown[]) {
      try {
        yield* all;
      } finally {
        closed += 1;
      }
    }
    const faced = await face(
      async () => ({ stream: parts(call(), finish("tool-calls")) }),
      async () => ({ stream: parts(text("a"), text(5), text("never read")) }),
    );
    expect(faced.executed).toEqual([{ city: "Oslo" }]);
    expect(faced.error?.code).toBe("model_failed");
    expect(closed).toBe(2);
  });
});

test("X1 hostile models meet the same end on an engine that restarts its loop after every result", async () => {
  const answers: unknown[][] = [
    [text("whole"), finish(), text("late")],
    [call(), call(), finish("tool-calls")],
    [call(), { type: "tool-input-start", id: "c2", toolName: "book" }, finish("tool-calls")],
    [text("a"), text(5)],
    [null, text("fine"), finish("stop", { usage: {} })],
  ];
  for (const answer of answers) {
    const [local, hostile] = [await face(answer), await faceOn(hostileEngine({ retry: HURRIED }), answer)];
    expectSound(hostile, "hostile engine");
    expect(hostile.result?.output).toBe(local.result?.output);
    expect(hostile.error?.message).toBe(local.error?.message);
    expect(hostile.executed).toEqual(local.executed);
  }
});

function locked(): { stream: ReadableStream } {
  const { stream } = streamOf(text("x"), finish());
  stream.getReader();
  return { stream };
}

function breaking(reason: unknown, ...parts: unknown[]): { stream: ReadableStream } {
  const left = [...parts];
  const stream = new ReadableStream({
    pull(controller) {
      if (left.length > 0) controller.enqueue(left.shift());
      else controller.error(reason);
    },
  });
  return { stream };
}
