import { describe, expect, test } from "vitest";
import { readUntil } from "./until.ts";

describe("a time to come", () => {
  const now = Date.parse("2026-11-15T12:00:00Z");

  test.each([
    ["30m", "2026-11-15T12:30:00Z"],
    ["12h", "2026-11-16T00:00:00Z"],
    ["7d", "2026-11-22T12:00:00Z"],
    ["2w", "2026-11-29T12:00:00Z"],
    ["2026-12-01", "2026-12-01T00:00:00Z"],
    ["2026-12-01T18:00Z", "2026-12-01T18:00:00Z"],
    ["2026-12-01T18:00+02:00", "2026-12-01T16:00:00Z"],
  ])("%s", (given, at) => {
    expect(readUntil("--until", given, now)).toBe(Date.parse(at));
  });

  test.each(["tomorrow", "7", "-1d", "2026-13-01", "", "1.5h", "01/12/2026"])("%s is none", (given) => {
    expect(() => readUntil("--until", given, now)).toThrow("--until: a date (2026-12-01");
  });

  test("what is over is no time to come", () => {
    expect(() => readUntil("--until", "2026-11-15", now)).toThrow("--until: 2026-11-15 is in the past.");
    expect(() => readUntil("--until", "0d", now)).toThrow("is in the past");
  });
});
