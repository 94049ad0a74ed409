import { manualClock } from "trackside/testing";
import { expect, test, vi } from "vitest";
import { sqlite } from "../../src/index.ts";
import { Ticker } from "../../src/schedules/ticker.ts";
import { hostOn } from "../agents/support/host.ts";
import { sqliteDatabase } from "../agents/support/stores.ts";
import { ANN, clerk, hourly, quietHost, START, told } from "./support.ts";

function watched(next: (now: number) => number | undefined, start = START) {
  const clock = manualClock(start);
  const looks: number[] = [];
  const errors: unknown[] = [];
  const ticker = new Ticker({
    clock,
    look: async () => {
      looks.push(clock.now() - start);
      return next(clock.now());
    },
    onError: (error) => errors.push(error),
  });
  return { clock, looks, errors, ticker };
}

test("it looks when something is due, and once a minute for what others have planned", async () => {
  const { clock, looks, ticker } = watched((now) => (now < START + 90_000 ? START + 90_000 : undefined));
  ticker.start();
  await clock.advance(200_000);
  expect(looks).toEqual([0, 60_000, 90_000, 150_000]);
  expect(clock.pending).toBe(0); // it keeps no process alive
  await ticker.stop();
  await clock.advance(600_000);
  expect(looks).toHaveLength(4);
});

test("what is planned meanwhile is looked at when its word comes; a failure is told and tried again", async () => {
  let fails = true;
  const { clock, looks, errors, ticker } = watched(() => {
    if (fails) throw new Error("the store is away");
    return undefined;
  });
  ticker.wake(); // not on yet
  ticker.start();
  await clock.advance(3_500);
  fails = false;
  await clock.advance(4_000);
  ticker.wake();
  await clock.advance(10);
  expect(looks).toEqual([0, 1_000, 3_000, 7_000, 7_500]);
  expect(errors).toEqual([new Error("the store is away")]); // said once
  await ticker.stop();
});

test("a host fires what is due by itself, and stops when it is closed", async () => {
  const clock = manualClock(START);
  const make = sqliteDatabase();
  const trackside = hostOn(make(), { agents: [clerk()], clock });
  await trackside.schedules.create(hourly("news"), ANN);
  const passes = async (ms: number, expected: readonly string[]) => {
    await clock.advance(ms);
    await vi.waitFor(async () => expect(await told(trackside, "news")).toEqual(expected), {
      timeout: 50_000,
    });
  };
  await passes(14 * 60_000, []);
  await passes(60_000, ["08:00 started"]);
  await passes(60 * 60_000, ["08:00 started", "09:00 started"]);
  await trackside.close();
  await clock.advance(3 * 60 * 60_000);
  const next = quietHost(make(), { clock });
  expect(await told(next, "news")).toEqual(["08:00 started", "09:00 started"]);
});

test("a command that only looks fires nothing, and neither does one in memory that is closed at once", async () => {
  const clock = manualClock(START);
  const trackside = hostOn(sqlite(":memory:"), { agents: [clerk()], clock });
  await trackside.open({ claims: false });
  await trackside.schedules.create(hourly("news"), ANN);
  await clock.advance(2 * 60 * 60_000);
  expect(await told(trackside, "news")).toEqual([]);
});
