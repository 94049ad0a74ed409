import { describe, expect, test } from "vitest";
import { toOutput } from "../tools/to-output.ts";
import { aggregate, type Entry, type Succeeded } from "./results.ts";

const usage = {
  input_tokens: 1,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 2,
  reasoning_tokens: 0,
  model_calls: 1,
  cost: null,
};
const done = (index: number, output: string): Succeeded => ({ index, status: "success", output, usage });

describe("aggregate", () => {
  test("S5 gives each job's entry, in the order of the jobs", () => {
    const failed: Entry = {
      index: 1,
      status: "error",
      error: { code: "cancelled", message: "stopped" },
      usage,
    };
    const structured: Entry = { ...done(0, "3"), structured: 3 };
    expect(aggregate("spawn_parallel", [done(2, "c"), failed, structured])).toEqual({
      results: [
        { index: 0, status: "success", output: "3", structured: 3, usage },
        { index: 1, status: "error", error: { code: "cancelled", message: "stopped" }, usage },
        { index: 2, status: "success", output: "c", usage },
      ],
    });
  });

  test("S1 spawn_self gives the one entry; S2 one job of many is still a list", () => {
    expect(aggregate("spawn_self", [done(0, "a")])).toEqual(done(0, "a"));
    expect(aggregate("spawn_parallel", [done(0, "a")])).toEqual({ results: [done(0, "a")] });
  });

  test("S5 what seven children say always fits a result", () => {
    const worst = "\u0001".repeat(700_000);
    const entries = Array.from({ length: 7 }, (_, i) => ({ ...done(i, worst), structured: worst }));
    expect(toOutput(aggregate("spawn_parallel", entries)).ok).toBe(true);
    const [first] = entries.map((entry) => aggregate("spawn_self", [entry])["output"]);
    expect(first).toContain("(cut: 80000 of 700000 characters)");
  });

  test("S5 a long error is cut, and no character in half", () => {
    const message = `a${"😀".repeat(5000)}`;
    const made = aggregate("spawn_self", [
      { index: 0, status: "error", error: { code: "internal", message }, usage },
    ]);
    expect(JSON.stringify(made)).not.toContain("\\ud83d");
    expect(made).toMatchObject({
      error: { message: expect.stringMatching(/😀… \(cut: 3999 of 10001 characters\)$/) },
    });
  });
});
