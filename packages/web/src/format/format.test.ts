import { describe, expect, test } from "vitest";
import { formatCountdown, formatDuration } from "./duration.ts";
import { formatBytes, formatCount, formatMoney, formatShare, formatShort, plural } from "./number.ts";
import { exactTime, instant, relativeTime } from "./time.ts";

const NOW = Date.UTC(2026, 10, 15, 12);
const S = 1000;
const MIN = 60 * S;
const H = 60 * MIN;
const D = 24 * H;

describe("times", () => {
  test.each([
    [0, "just now"],
    [9.9 * S, "just now"],
    [59.9 * S, "59 s ago"],
    [60 * S, "1 min ago"],
    [59.99 * MIN, "59 min ago"],
    [23.9 * H, "23 h ago"],
    [30.9 * D, "30 d ago"],
    [40 * D, "6 Oct"],
    [400 * D, "11 Oct 2025"],
    [-5 * MIN, "in 5 min"],
  ])("%d ms ago is %j", (ago, words) => {
    expect(relativeTime(NOW - ago, NOW)).toBe(words);
  });

  test("the exact time has milliseconds and the zone, with its offset", () => {
    expect(exactTime(Date.UTC(2026, 0, 2, 3, 4, 5, 67), "UTC")).toBe("2026-01-02 03:04:05.067 UTC");
    expect(exactTime(Date.UTC(2026, 6, 2, 22, 4, 5), "Asia/Kolkata")).toBe(
      "2026-07-03 03:34:05.000 UTC+05:30",
    );
  });

  test("an hour that a clock sees twice is told apart by its offset", () => {
    const zone = "Europe/Berlin";
    const first = exactTime(Date.UTC(2026, 9, 25, 0, 30), zone);
    const second = exactTime(Date.UTC(2026, 9, 25, 1, 30), zone);
    expect(first).toMatch(/^2026-10-25 02:30:00\.000 .*UTC\+(0?2)/);
    expect(second).toMatch(/^2026-10-25 02:30:00\.000 .*UTC\+(0?1)/);
  });

  test("times come as numbers, as ISO 8601, and may be none", () => {
    expect(instant("2026-11-15T12:00:00Z")).toBe(NOW);
    expect(instant(NOW)).toBe(NOW);
    expect(instant("yesterday")).toBeNaN();
  });
});

describe("durations", () => {
  test.each([
    [0, "0 ms"],
    [0.4, "<1 ms"],
    [999.9, "999 ms"],
    [1000, "1.0 s"],
    [59_999, "59.9 s"],
    [60_000, "1 min 00 s"],
    [3_599_999, "59 min 59 s"],
    [2 * H + 5 * MIN, "2 h 05 min"],
    [4 * D + 3 * H, "4 d 3 h"],
    [-1500, "-1.5 s"],
    [Number.NaN, "–"],
  ])("%d ms is %j", (ms, words) => {
    expect(formatDuration(ms)).toBe(words);
  });

  test.each([
    [0, "0:00"],
    [-5, "0:00"],
    [1, "0:01"],
    [299_001, "5:00"],
    [3_723_000, "1:02:03"],
    [2 * D + 4 * H + 5 * MIN + 6 * S, "2 d 04:05:06"],
  ])("a countdown of %d ms shows %j", (ms, words) => {
    expect(formatCountdown(ms)).toBe(words);
  });
});

describe("numbers", () => {
  test.each([
    [0, "0"],
    [842, "842"],
    [999, "999"],
    [1000, "1k"],
    [12_400, "12.4k"],
    [999_949, "999.9k"],
    [999_950, "1M"],
    [3_100_000, "3.1M"],
    [-2500, "-2.5k"],
    [0.25, "0.3"],
  ])("%d in short is %j", (value, words) => {
    expect(formatShort(value)).toBe(words);
  });

  test.each([
    [0, "$0.00"],
    [12.4, "$12.40"],
    [0.031, "$0.031"],
    [0.0042, "$0.0042"],
    [0.00001, "<$0.0001"],
    [1234.5, "$1,234.50"],
  ])("%d dollars are %j", (value, words) => {
    expect(formatMoney(value)).toBe(words);
  });

  test("a share that is not quite nothing or all does not read as if it were", () => {
    expect([0, 0.0001, 0.125, 0.99999, 1].map(formatShare)).toEqual([
      "0\u202f%",
      "<0.1\u202f%",
      "12.5\u202f%",
      ">99.9\u202f%",
      "100\u202f%",
    ]);
  });

  test("bytes, counts and plurals", () => {
    expect([512, 999_950, 3_400_000].map(formatBytes)).toEqual(["512 B", "1 MB", "3.4 MB"]);
    expect(formatCount(1_234_567)).toBe("1,234,567");
    expect([plural(1, "run"), plural(3, "run"), plural(0, "entry", "entries")]).toEqual([
      "1 run",
      "3 runs",
      "0 entries",
    ]);
  });
});
