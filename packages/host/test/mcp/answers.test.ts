import { describe, expect, test, vi } from "vitest";
import { othersGoOn, sentenceOf, wordsOf } from "./support/expecting.ts";
import { Place } from "./support/place.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

const polluted = () => "polluted" in {};

describe.concurrent("M4 a server that talks rubbish", () => {
  test("between good lines is understood, and its rubbish goes nowhere", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("prints-garbage", "garbage"), place.fake("good"));
    for (let i = 0; i < 3; i++) {
      const call = session.start("garbage__echo");
      expect(wordsOf(await call.result)).toContain("between the lines");
      expect(call.happened).toEqual([]);
    }
    await othersGoOn(session, Promise.resolve());
    expect(polluted()).toBe(false);
  });

  test("and nothing else fails its call within the deadline", async (context) => {
    const place = new Place(context, { deadlines: { idleMs: 10_000 } });
    const session = await place.connect(place.fake("prints-garbage", "garbage"), place.fake("good"));
    const call = session.start("garbage__only-rubbish");
    await othersGoOn(session, call.result);
    await sentenceOf(call, "garbage", "only-rubbish");
    expect(wordsOf(await session.call("garbage__echo"))).toContain("between the lines");
  });
});

describe.concurrent("M4 an answer that is not one fails its call and no other:", () => {
  test.for([
    "another-id",
    "no-result",
    "null-result",
    "text-result",
    "list-result",
    "content-is-text",
    "content-of-numbers",
    "unknown-content",
    "error-is-text",
    "error-without-message",
  ])("%s", async (tool, context) => {
    const place = new Place(context, { deadlines: { idleMs: 10_000 } });
    const session = await place.connect(place.fake("wrong-answers", "wrong"), place.fake("good"));
    const call = session.start(`wrong__${tool}`);
    await othersGoOn(session, call.result);
    await sentenceOf(call, "wrong", tool);
    expect(wordsOf(await session.call("wrong__echo"))).toContain("as it should be");
  });

  test("what the server says went wrong is in the sentence", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("wrong-answers", "wrong"));
    expect(await sentenceOf(session.call("wrong__protocol-error"), "wrong", "protocol-error")).toContain(
      "the disk is full",
    );
    expect(await sentenceOf(session.call("wrong__tool-error"), "wrong", "tool-error")).toContain(
      "no such city",
    );
  });

  test("the first of two answers counts", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("wrong-answers", "wrong"));
    expect(wordsOf(await session.call("wrong__twice"))).toContain("first");
    expect(wordsOf(await session.call("wrong__echo"))).toContain("as it should be");
  });

  test("keys that would reach a prototype do not", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("wrong-answers", "wrong"));
    const result = await session.call("wrong__prototype-keys");
    expect(wordsOf(result)).toContain("ok");
    expect(polluted() || (typeof result === "object" && result !== null && "polluted" in result)).toBe(false);
  });
});

describe.concurrent("M4 a large answer", () => {
  test("of 10 MB comes through whole", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("wrong-answers", "wrong"), place.fake("good"));
    const call = session.start("wrong__ten-megabytes");
    await othersGoOn(session, call.result);
    const words = wordsOf(await call.result);
    expect(words.length).toBeGreaterThanOrEqual(10_000_000);
    expect(words).toContain("0123456789".repeat(1_000));
  });

  test("above what is allowed fails with the limit, and the server is there again afterwards", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("wrong-answers", "wrong"), place.fake("good"));
    const call = session.start("wrong__hundred-megabytes");
    await othersGoOn(session, call.result);
    expect(await sentenceOf(call, "wrong", "hundred-megabytes")).toMatch(/67108864 bytes/);
    await vi.waitFor(
      async () => expect(wordsOf(await session.call("wrong__echo"))).toContain("as it should be"),
      {
        timeout: 50_000,
        interval: 200,
      },
    );
  });
});

describe.concurrent("M1 an older server", () => {
  test.for(["2024-11-05", "2025-03-26", "2025-06-18"])(
    "of revision %s is spoken to",
    async (revision, context) => {
      const place = new Place(context);
      const session = await place.connect(place.fake("old-revision", "old", revision));
      expect(wordsOf(await session.call("old__echo"))).toContain("as in the old days");
    },
  );

  test("of a revision nobody knows is refused with its name", async (context) => {
    const place = new Place(context);
    await expect(place.connect(place.fake("old-revision", "old", "1999-01-01"))).rejects.toMatchObject({
      code: "mcp_unavailable",
      message: expect.stringMatching(/old.*1999-01-01/s),
    });
  });
});
