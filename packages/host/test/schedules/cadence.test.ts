import { AgentConfigError } from "trackside";
import { describe, expect, test } from "vitest";
import { cadence, nextTimes } from "../../src/schedules/cadence.ts";
import { dueUntil } from "../../src/schedules/due.ts";
import { movedTimes } from "../../src/schedules/moved.ts";
import { patternWords } from "../../src/schedules/words.ts";

const BERLIN = "Europe/Berlin";
const NEW_YORK = "America/New_York";

/** The next times as clocks on the wall of the zone show them, with their distance to UTC. */
function shown(pattern: string, time_zone: string, after: string, count: number): readonly string[] {
  const format = new Intl.DateTimeFormat("sv", {
    timeZone: time_zone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  const zone = new Intl.DateTimeFormat("en", { timeZone: time_zone, timeZoneName: "longOffset" });
  return nextTimes({ pattern, time_zone }, Date.parse(after), count).map((at) => {
    const name = zone.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value ?? "";
    return `${format.format(at)} ${name.replace("GMT", "")}`;
  });
}

describe("clocks set forward", () => {
  test("Berlin: a time that does not come fires the moment the clocks are set, once, and is itself again the next day", () => {
    expect(shown("30 2 * * *", BERLIN, "2026-03-28T12:00Z", 3)).toEqual([
      "2026-03-29 03:00:00 +02:00",
      "2026-03-30 02:30:00 +02:00",
      "2026-03-31 02:30:00 +02:00",
    ]);
  });

  test("New York: several times of an hour that does not come are one, and one that falls on it anyway is the same", () => {
    expect(shown("0,20,40 2 * * *", NEW_YORK, "2026-03-08T05:00Z", 2)).toEqual([
      "2026-03-08 03:00:00 -04:00",
      "2026-03-09 02:00:00 -04:00",
    ]);
    expect(shown("0 1-3 * * *", NEW_YORK, "2026-03-08T05:00Z", 3)).toEqual([
      "2026-03-08 01:00:00 -05:00",
      "2026-03-08 03:00:00 -04:00",
      "2026-03-09 01:00:00 -04:00",
    ]);
  });

  test("what fires every hour or more often goes by the time that passes", () => {
    const times = nextTimes(
      { pattern: "*/30 * * * *", time_zone: BERLIN },
      Date.parse("2026-03-29T00:00Z"),
      5,
    );
    expect(times.map((at, i) => (at - Date.parse("2026-03-29T00:00Z")) / 60_000 / (i + 1))).toEqual([
      30, 30, 30, 30, 30,
    ]);
  });

  test("a midnight that does not come, in São Paulo, is one o'clock; a whole day that does not, in Samoa, is the next", () => {
    expect(shown("0 0 * * *", "America/Sao_Paulo", "2018-11-03T12:00Z", 2)).toEqual([
      "2018-11-04 01:00:00 -02:00",
      "2018-11-05 00:00:00 -02:00",
    ]);
    expect(shown("0 12 30 * *", "Pacific/Apia", "2011-12-25T00:00Z", 2)).toEqual([
      "2011-12-31 00:00:00 +14:00",
      "2012-01-30 12:00:00 +14:00",
    ]);
  });
});

describe("clocks set back", () => {
  test("Berlin: a time that comes twice fires the first time, and not the second", () => {
    expect(shown("30 2 * * *", BERLIN, "2026-10-24T12:00Z", 2)).toEqual([
      "2026-10-25 02:30:00 +02:00",
      "2026-10-26 02:30:00 +01:00",
    ]);
    // Somebody who asks between the two is told of the next day.
    expect(shown("30 2 * * *", BERLIN, "2026-10-25T01:10Z", 1)).toEqual(["2026-10-26 02:30:00 +01:00"]);
  });

  test("New York: so do several times of such an hour, and the hours around it fire once each", () => {
    expect(shown("0,30 1 * * *", NEW_YORK, "2026-11-01T04:00Z", 3)).toEqual([
      "2026-11-01 01:00:00 -04:00",
      "2026-11-01 01:30:00 -04:00",
      "2026-11-02 01:00:00 -05:00",
    ]);
    expect(shown("0 0-2 * * *", NEW_YORK, "2026-11-01T03:59Z", 3)).toEqual([
      "2026-11-01 00:00:00 -04:00",
      "2026-11-01 01:00:00 -04:00",
      "2026-11-01 02:00:00 -05:00",
    ]);
  });

  test("what fires every hour fires in both hours", () => {
    expect(shown("0 * * * *", BERLIN, "2026-10-24T23:30Z", 3)).toEqual([
      "2026-10-25 02:00:00 +02:00",
      "2026-10-25 02:00:00 +01:00",
      "2026-10-25 03:00:00 +01:00",
    ]);
  });
});

test("over ten years no zone's times go back, and none comes twice", () => {
  for (const time_zone of [BERLIN, NEW_YORK, "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kathmandu"])
    for (const pattern of ["30 2 * * *", "15 1,2,3 * * *", "0 3 L * *"]) {
      const times = nextTimes({ pattern, time_zone }, Date.parse("2024-01-01T00:00Z"), 400);
      expect(times).toHaveLength(400);
      for (const [i, at] of times.entries()) if (i > 0) expect(at).toBeGreaterThan(times[i - 1] ?? 0);
    }
});

test("times that a pattern does not say are told to whoever knows patterns alone: when clocks are set forward over it", () => {
  const from = Date.parse("2026-01-01T00:00Z");
  const moved = (pattern: string, time_zone: string) =>
    movedTimes({ pattern, time_zone }, from).map((at) => new Date(at).toISOString().slice(0, 16));
  expect(moved("30 2 * * *", BERLIN)).toEqual(["2026-03-29T01:00", "2027-03-28T01:00", "2028-03-26T01:00"]);
  expect(moved("30 2 * * *", NEW_YORK)).toEqual(["2026-03-08T07:00", "2027-03-14T07:00", "2028-03-12T07:00"]);
  expect(moved("30 4 * * *", BERLIN)).toEqual([]);
  expect(moved("30 2 * * *", "UTC")).toEqual([]);
});

describe("the calendar", () => {
  test("the 29th of February comes in leap years, and not in 2100", () => {
    expect(shown("0 12 29 2 *", "UTC", "2026-01-01T00:00Z", 2)).toEqual([
      "2028-02-29 12:00:00 +00:00",
      "2032-02-29 12:00:00 +00:00",
    ]);
    expect(shown("0 12 29 2 *", "UTC", "2096-03-01T00:00Z", 1)).toEqual(["2104-02-29 12:00:00 +00:00"]);
  });

  test("the 31st comes where a month has one; L is the last day of each", () => {
    const days = (pattern: string) =>
      shown(pattern, "UTC", "2027-01-01T00:00Z", 4).map((text) => text.slice(5, 10));
    expect(days("0 12 31 * *")).toEqual(["01-31", "03-31", "05-31", "07-31"]);
    expect(days("0 12 L * *")).toEqual(["01-31", "02-28", "03-31", "04-30"]);
  });

  test("six fields begin with seconds", () => {
    expect(shown("*/20 0 12 * * *", "UTC", "2026-01-01T00:00Z", 3)).toEqual([
      "2026-01-01 12:00:00 +00:00",
      "2026-01-01 12:00:20 +00:00",
      "2026-01-01 12:00:40 +00:00",
    ]);
  });

  test.each([
    ["0 0 30 2 *", /never fires/],
    ["0 0 31 4,6,9,11 *", /never fires/],
    ["61 * * * *", /61/],
    ["* * * *", /five fields/],
    ["* * * * * * *", /five fields/],
    ["@daily", /five fields/],
    ["", /five fields/],
    ["every day at noon", /five fields/],
    ["a b c d e", /cron pattern/],
    ["*/0 * * * *", /cron pattern/],
    ["0 0 * * *; rm -rf /", /five fields/],
    [`${"1,".repeat(200)}1 * * * *`, /five fields/],
  ])("%j is refused, with what is wrong", (pattern, why) => {
    const read = () => cadence({ pattern, time_zone: "UTC" });
    expect(read).toThrow(AgentConfigError);
    expect(read).toThrow(why);
    expect(read).toThrow(/trigger\.pattern/);
  });

  test.each(["Mars/Olympus", "+02:00", "", "Europe", "Europe/Berlin; x"])("%j is no zone", (time_zone) => {
    expect(() => cadence({ pattern: "* * * * *", time_zone })).toThrow(/trigger\.time_zone.*IANA/);
  });
});

describe("what is due", () => {
  const hourly = cadence({ pattern: "0 * * * *", time_zone: "UTC" });
  const at = (text: string) => Date.parse(`2026-06-15T${text}Z`);
  const due = (from: string, now: string, missed: "skip" | "once" | "all") => {
    const { fire, passed, next } = dueUntil(hourly, at(from), at(now), missed);
    return { fire, passed: passed?.count ?? 0, next };
  };

  test("on time it is run, whatever is done about missed times", () => {
    for (const missed of ["skip", "once", "all"] as const)
      expect(due("12:00", "12:00:20", missed)).toEqual({ fire: [at("12:00")], passed: 0, next: at("13:00") });
  });

  test("missed times are left out, made up for once, or run each", () => {
    expect(due("08:00", "12:30", "skip")).toEqual({ fire: [], passed: 5, next: at("13:00") });
    expect(due("08:00", "12:30", "once")).toEqual({ fire: [at("12:00")], passed: 4, next: at("13:00") });
    expect(due("10:00", "12:30", "all")).toEqual({
      fire: [at("10:00"), at("11:00"), at("12:00")],
      passed: 0,
      next: at("13:00"),
    });
  });

  test("a time that is still fresh is run even where others were left out", () => {
    expect(due("08:00", "12:00:30", "skip")).toEqual({ fire: [at("12:00")], passed: 4, next: at("13:00") });
  });

  test("of a year of seconds the last hundred are run, and the rest is counted no further than a thousand", () => {
    const everySecond = cadence({ pattern: "* * * * * *", time_zone: BERLIN });
    const now = at("12:00");
    const { fire, passed } = dueUntil(everySecond, Date.parse("2025-06-15T12:00Z"), now, "all");
    expect(fire).toEqual(Array.from({ length: 100 }, (_, i) => now - (99 - i) * 1000));
    expect(passed).toEqual({
      from: Date.parse("2025-06-15T12:00Z"),
      to: now - 100_000,
      count: 1000,
      isMore: true,
    });
  });

  test("times that come in clusters are found, too", () => {
    const inJanuary = cadence({ pattern: "* * * * 1 *", time_zone: "UTC" });
    const { fire } = dueUntil(inJanuary, Date.parse("2025-01-01T00:00Z"), at("12:00"), "all");
    expect(fire).toHaveLength(100);
    expect(fire.at(-1)).toBe(Date.parse("2026-01-31T23:59:59Z"));
  });
});

test.each([
  ["* * * * *", "every minute"],
  ["*/5 * * * *", "every 5 minutes"],
  ["* * * * * *", "every second"],
  ["15 * * * *", "every hour at 15 past"],
  ["0 */2 * * *", "every 2 hours at 0 past"],
  ["0 7 * * 1-5", "at 07:00 on weekdays"],
  ["30 6,18 * * *", "at 06:30 and 18:30 every day"],
  ["0 9 * * MON,THU", "at 09:00 on Monday and Thursday"],
  ["0 9 * * 2-4", "at 09:00 from Tuesday to Thursday"],
  ["0 0 1 * *", "at 00:00 on day 1 of every month"],
  ["0 0 L * *", "at 00:00 on the last day of every month"],
  ["0 12 29 2 *", "at 12:00 on day 29 of February"],
  ["0 12 * 6,7 *", "at 12:00, every day in June and July"],
  ["0 12 1 * 1", undefined],
  ["0 8-17 * * *", undefined],
])("%s in words: %s", (pattern, words) => {
  expect(patternWords(pattern)).toBe(words);
});
