import { describe, expect, test, vi } from "vitest";
import { watched } from "./support/context.ts";
import { wordsOf } from "./support/expecting.ts";
import { Place } from "./support/place.ts";

vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

describe.concurrent("M3 X5 a cancelled call", () => {
  test("ends at once, the server is told exactly once, and a late answer goes nowhere", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("good", "good", place.file("notices")));
    const call = session.start("good__until-cancelled", {}, { onProgress: () => call.cancel() });
    await expect(call.result).rejects.toThrow();
    await vi.waitFor(() => expect(place.lines("notices")).toEqual(["cancelled"]), { timeout: 50_000 });
    expect(wordsOf(await session.call("good__add", { a: 20, b: 22 }))).toContain("42");
    expect(place.lines("notices")).toEqual(["cancelled"]);
  });

  test("takes no other call of the same server with it", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("good", "good", place.file("notices")));
    const calls = [0, 1, 2].map(() => session.start("good__until-cancelled"));
    await vi.waitFor(() => expect(calls.every(({ happened }) => happened.length > 0)).toBe(true), {
      timeout: 50_000,
    });
    calls[1]?.cancel();
    await expect(calls[1]?.result).rejects.toThrow();
    expect(wordsOf(await session.call("good__add", { a: 1, b: 1 }))).toContain("2");
    await vi.waitFor(() => expect(place.lines("notices")).toEqual(["cancelled"]), { timeout: 50_000 });
    for (const call of calls) call.cancel();
    for (const call of calls) await expect(call.result).rejects.toThrow();
    await vi.waitFor(() => expect(place.lines("notices").length).toBe(3), { timeout: 50_000 });
  });

  test("that was cancelled before it began never reaches the server", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("good", "good", place.file("notices")));
    const late = watched();
    late.cancel();
    const result = async () => session.tool("good__until-cancelled").run({}, late.context);
    await expect(result()).rejects.toThrow();
    await session.call("good__add", { a: 1, b: 1 });
    expect(late.happened).toEqual([]);
    expect(place.lines("notices")).toEqual([]);
  });

  test("whose server hangs ends as well", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("hangs-on-everything", "stuck"));
    const call = session.start("stuck__stick");
    const second = session.start("stuck__echo");
    second.cancel();
    await expect(second.result).rejects.toThrow();
    call.cancel();
    await expect(call.result).rejects.toThrow();
  });
});

describe.concurrent("M3 X5 a call that is cancelled while it waits", () => {
  test("for the tools to be listed again ends at once", async (context) => {
    const place = new Place(context, { deadlines: { connectMs: 600_000 } });
    const session = await place.connect(place.fake("hangs-on-list", "slow", place.file("listed")));
    await session.call("slow__announce");
    const call = session.start("slow__announce");
    call.cancel();
    await expect(call.result).rejects.toThrow(); // and not ten minutes later
  });

  test("for a new process to answer ends at once, and closing waits for nobody either", async (context) => {
    const place = new Place(context, { deadlines: { connectMs: 600_000 } });
    const session = await place.connect(place.fake("hangs-on-list", "slow", place.file("listed")));
    await expect(session.call("slow__die")).rejects.toThrow();
    const call = session.start("slow__announce");
    call.cancel();
    await expect(call.result).rejects.toThrow();
  });
});

describe.concurrent("M2 progress", () => {
  test("comes in order, before the result, with its fractions", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("good"));
    for (let i = 0; i < 10; i++) {
      const call = session.start("good__steps");
      const seen = await call.result.then(() => [...call.happened]);
      expect(seen.map((each) => ("progress" in each ? each.progress : each))).toEqual([
        0,
        0.25,
        1 / 3,
        0.5,
        1,
      ]);
      expect(seen).toEqual(seen.map((each) => ({ ...each, total: 1 })));
    }
  });

  test("of calls that run together stays with its call", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("good"), place.fake("good", "twin"));
    const calls = Array.from({ length: 20 }, (_, i) =>
      session.start(`${i % 2 === 0 ? "good" : "twin"}__steps`),
    );
    await Promise.all(calls.map(({ result }) => result));
    for (const { happened } of calls) expect(happened.length).toBe(5);
  });

  test("that a watcher breaks on does not break the call", async (context) => {
    const place = new Place(context);
    const session = await place.connect(place.fake("good"));
    const onProgress = () => {
      throw new Error("a watcher's own problem");
    };
    expect(wordsOf(await session.call("good__steps", {}, { onProgress }))).toContain("5 steps");
  });
});
