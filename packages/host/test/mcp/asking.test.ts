import { describe, expect, test, vi } from "vitest";
import type { ElicitAnswer } from "./support/context.ts";
import { sentenceOf, wordsOf } from "./support/expecting.ts";
import { Place } from "./support/place.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 });

describe.concurrent("M1 a server that asks in the middle of a call", () => {
  test.for<[string, ElicitAnswer, RegExp]>([
    ["accepts", { action: "accept", content: { city: "Rome" } }, /accept.*Rome/s],
    ["declines", { action: "decline" }, /decline/],
    ["cancels", { action: "cancel" }, /cancel/],
  ])("hears what the person %s", async ([, answer, heard], context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("asks"));
    const call = session.start("asks__ask", {}, { answer: () => answer });
    expect(wordsOf(await call.result)).toMatch(heard);
    expect(call.happened).toMatchObject([
      { asked: { message: expect.stringContaining("Which city?"), schema: { required: ["city"] } } },
    ]);
  });

  test("is answered no when the question cannot be put to a person", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("asks"));
    for (const tool of ["ask-badly", "ask-by-url"]) {
      const answer = () => ({ action: "accept" as const, content: {} });
      expect(wordsOf(await session.call(`asks__${tool}`, {}, { answer }))).not.toMatch(/accept/);
    }
  });

  test("waits for the person as long as the person takes: the deadlines of the call stand still", async (context) => {
    const place = new Place(context, { deadlines: { idleMs: 8_000, totalMs: 8_000 } });
    const session = await place.connect(place.fake("asks"));
    const answer = async (): Promise<ElicitAnswer> => {
      await new Promise((resolve) => setTimeout(resolve, 10_000));
      return { action: "accept", content: { city: "Oslo" } };
    };
    expect(wordsOf(await session.call("asks__ask", {}, { answer }))).toMatch(/Oslo/);
  });

  test("M2 with progress before and after the question, all in order", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("asks"));
    const call = session.start("asks__ask-around", {}, { answer: () => ({ action: "decline" }) });
    await call.result;
    expect(call.happened).toMatchObject([{ progress: 1 }, { asked: {} }, { progress: 2 }]);
  });

  test("twice at once gets both answers", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("asks"));
    let asked = 0;
    const answer = () => ({ action: "accept" as const, content: { city: `city ${++asked}` } });
    expect(wordsOf(await session.call("asks__ask-twice-at-once", {}, { answer }))).toMatch(/city 1.*city 2/s);
  });

  test("for ever is stopped, with a sentence", async (context) => {
    const place = new Place(context, { deadlines: { totalMs: 10_000 } });
    const session = await place.connect(place.fake("asks"));
    const call = session.start("asks__ask-for-ever", {}, { answer: () => ({ action: "decline" }) });
    await sentenceOf(call, "asks", "ask-for-ever");
  });

  test("X5 cancelled while the person thinks: the question is withdrawn and the call ends", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("asks"));
    const call = session.start("asks__ask", {}, { answer: () => new Promise(() => {}) });
    await vi.waitFor(() => expect(call.happened.length).toBe(1), { timeout: 50_000 });
    call.cancel();
    await expect(call.result).rejects.toThrow();
  });

  test("outside any call reaches nobody", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("asks"));
    // The fake asks as soon as it is connected; each call here asks once.
    const call = session.start("asks__ask", {}, { answer: () => ({ action: "decline" }) });
    await call.result;
    expect(call.happened.length).toBe(1);
  });

  test.for(["sample", "roots", "strange-request"])(
    "for something we do not do (%s) is told so",
    async (tool, context) => {
      const place = new Place(context);
      const session = await place.connect(place.fake("asks"));
      expect(wordsOf(await session.call(`asks__${tool}`))).toMatch(/error/);
    },
  );
});
