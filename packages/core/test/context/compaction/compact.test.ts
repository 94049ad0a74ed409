import { describe, expect, test } from "vitest";
import { compact } from "../../../src/context/compaction/compact.ts";
import { drop, REDUCERS, type Reducer } from "../../../src/context/compaction/reducers.ts";
import type { CompactionInput, View } from "../../../src/context/compaction/view.ts";
import { estimateMessage } from "../../../src/context/estimate.ts";
import type { Message } from "../../../src/schema/message.ts";
import { Writing } from "./conversations.ts";
import { play, sent, targetFor } from "./judge.ts";

const found = (value: string) => ({ output: { type: "text" as const, value }, malformed: false });

/** Four turns, each with a long result and an answer; then a fifth with three steps, still under way. */
function conversation(turns = 4, steps = 3): Writing {
  const log = new Writing();
  for (let i = 1; i <= turns; i++) {
    log.make({ kind: "turn", hooks: [], text: `turn ${i}` });
    log.make({ kind: "step", text: "", calls: [found(`long result ${i} `.repeat(100))] });
    log.make({ kind: "answer", text: `answer ${i} `.repeat(60), partial: false, hooks: [] });
  }
  if (steps === 0) return log;
  log.make({ kind: "turn", hooks: ["remember"], text: "now" });
  for (let i = 1; i <= steps; i++)
    log.make({ kind: "step", text: `step ${i} `.repeat(60), calls: [found(`found ${i} `.repeat(100))] });
  return log;
}

function inputOf(log: Writing, percent: number): CompactionInput {
  const all = {
    id: "p",
    entries: log.entries.slice(),
    upTo: log.upTo,
    projection: null,
    opening: log.opening,
    count: estimateMessage,
    fixed: 100,
    target: 0,
    window: 100_000,
  };
  return { ...all, target: targetFor(all, percent) };
}

const textOf = (message: Message | undefined) => JSON.stringify(message);

describe("B4 the built-in way", () => {
  test("B4 old tool results go first: stubs say what it was, and no model is asked", () => {
    const input = inputOf(conversation(), 75);
    const { out, requests } = play(input);
    expect(requests).toEqual([]);
    expect(out.changes).toMatchObject([
      { action: "stubbed", detail: expect.stringMatching(/^\d earlier tool results are sent as a stub$/) },
    ]);
    const results = sent(input, out).filter(({ role }) => role === "tool");
    expect(textOf(results[0])).toMatch(/The result of look, about 1400 characters, was left out/);
    expect(textOf(results.at(-2))).toContain("found 2");
  });

  test("B4 then the oldest turns become one summary, with the turn before this one as it was", () => {
    const input = inputOf(conversation(), 45);
    const { out, requests } = play(input);
    expect(out.changes.map(({ action }) => action)).toEqual(["stubbed", "summarised"]);
    expect(requests).toHaveLength(1);
    expect(textOf(requests[0]?.messages[0])).toContain("long result 1");
    expect(out.projection?.cuts).toMatchObject([
      { from: 0, to: 12, summary: expect.stringContaining("Summary 1.") },
    ]);
    const [first, second] = sent(input, out);
    expect(textOf(first)).toMatch(/This is a summary of it: a record of what happened, not a new request/);
    expect(textOf(second)).toContain("turn 4");
  });

  test("B4 then the oldest steps of this turn, whose opening and latest step stay as they were", () => {
    const input = inputOf(conversation(), 15);
    const { out, requests } = play(input);
    expect(requests).toHaveLength(2);
    expect(out.changes.map(({ detail }) => detail)).toEqual([
      "6 earlier tool results are sent as a stub",
      expect.stringMatching(/^the 16 oldest messages of the conversation are now a summary of \d+ tokens$/),
      expect.stringMatching(/^the 4 oldest messages of this turn are now a summary of \d+ tokens$/),
    ]);
    const { opening } = input;
    expect(sent(input, out).map(({ id }) => id)).toEqual([
      "p.0",
      ...input.entries.slice(opening?.from, opening?.to).map(({ id }) => id),
      `p.${opening?.to}`,
      ...input.entries.slice(-2).map(({ id }) => id),
    ]);
  });

  test("B4 a model that fails is asked once, and the oldest turns are left out instead, as few as will do", () => {
    const input = inputOf(conversation(), 45);
    const { out, requests } = play(input, "null");
    expect(requests).toHaveLength(1);
    expect(out.fits).toBe(true);
    expect(out.changes.map(({ action }) => action)).toEqual(["stubbed", "dropped"]);
    expect(out.projection?.cuts).toMatchObject([{ from: 0, summary: null }]);
    expect(textOf(sent(input, out)[0])).toMatch(/question \d+ turn/);
  });

  test("B4 an earlier summary is folded into the next one, and outlives a model that fails", () => {
    const log = conversation(4, 0);
    const first = play(inputOf(log, 40)).out.projection;
    expect(first?.cuts).toHaveLength(1);
    if (first) log.entries.push(first);
    for (let i = 5; i <= 8; i++) {
      log.make({ kind: "turn", hooks: [], text: `turn ${i}` });
      log.make({ kind: "answer", text: `answer ${i} `.repeat(80), partial: false, hooks: [] });
    }
    const now = { ...inputOf(log, 100), projection: first };
    const input = { ...now, target: targetFor(now, 50) };
    const folded = play(input);
    expect(textOf(folded.requests[0]?.messages[0])).toContain(
      "Summary of what came before:\\nSummary 1. They",
    );
    expect(folded.out.projection?.cuts).toHaveLength(1);

    const { out } = play(input, "null");
    const [summary] = sent(input, out);
    expect(textOf(summary)).toMatch(/Summary 1\. They.*Messages that came after this were left out/);
  });

  test("B3 H6 what cannot be made smaller is said at once", () => {
    const input = inputOf(conversation(), -1);
    const { out, requests } = play(input);
    expect([requests, out.projection]).toEqual([[], null]);
    expect(out.problem).toMatch(
      /^The system prompt, the tools, this turn's message and the latest step cannot be made smaller and take about \d+ tokens; \d+ are allowed$/,
    );
  });

  test("B4 before a turn everything may go", () => {
    const input = inputOf(conversation(4, 0), 0);
    const { out } = play({ ...input, target: 100 });
    expect([out.fits, out.tokensAfter, sent(input, out)]).toEqual([true, 100, []]);
  });
});

describe("B4 reducers of one's own", () => {
  function outcomeOf(reducers: readonly Reducer[], percent = 50) {
    const planning = compact(inputOf(conversation(), percent), reducers);
    let step = planning.next();
    while (!step.done) step = planning.next("In short: they talked.");
    return step.value;
  }

  test("they take the place of the built-in ones, and are not called once it fits", () => {
    let called = 0;
    const spy: Reducer = { name: "spy", reduce: () => void called++ as undefined };
    expect(outcomeOf([drop, spy]).changes.map(({ action }) => action)).toEqual(["dropped"]);
    expect(called).toBe(0);
    expect(outcomeOf([spy]).problem).toMatch(/\d+ tokens are left, \d+ are allowed/);
    expect(outcomeOf([spy, ...REDUCERS]).fits).toBe(true);
  });

  test.each<[string, (view: View) => void, RegExp]>([
    [
      "in the middle of a step",
      (view) => view.drop(0, 2),
      /the reducer bad may cut from 0 or 18 up to one of the marks/,
    ],
    ["the opening", (view) => view.drop(0, 18), /not from 0 to 18/],
    ["the latest step", (view) => view.drop(view.steps.from, 24), /not from 18 to 24/],
    ["stubs of the latest step", (view) => view.stub(24), /may stub up to 22, step by step: not 24/],
    ["stubs of half a step", (view) => view.stub(2), /step by step: not 2/],
  ])("what must stay cannot be cut: %s", (_what, deed, problem) => {
    const bad: Reducer = {
      name: "bad",
      reduce: (view) => {
        deed(view);
        return undefined;
      },
    };
    expect(() => outcomeOf([bad])).toThrow(problem);
  });
});
