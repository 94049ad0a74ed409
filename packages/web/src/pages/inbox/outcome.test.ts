import { expect, test } from "vitest";
import { approval, decided } from "./fixtures.ts";
import { conflictWords, decidedWords } from "./outcome.ts";

test("a decision is told with who made it", () => {
  expect(decidedWords(decided())).toBe("Decided by bo: approved");
  expect(decidedWords(decided({}, "ada"), "ada")).toBe("Decided by you: approved");
  expect(decidedWords(decided({}, "rule:rule_1"))).toBe("Decided by a remembered rule: approved");
  const edited = decided({ decision: { choice: "approve", by: "bo", at: 2, edited_arguments: {} } });
  expect(decidedWords(edited)).toBe("Decided by bo: approved with changes");
  const again = decided({ decision: { choice: "run", by: "bo", at: 2 } });
  expect(decidedWords(again)).toBe("Decided by bo: run again");
});

test("nobody decides a deadline or a stop", () => {
  expect(
    decidedWords(approval({ state: "timed_out", decision: { choice: "timeout", by: "deadline", at: 2 } })),
  ).toBe("Timed out: nobody decided before the deadline");
  const stopped = { choice: "cancel", by: "cancel", at: 2, reason: "wrong branch" };
  expect(decidedWords(approval({ state: "cancelled", decision: stopped }))).toBe("Cancelled: wrong branch");
});

test("L4 who comes second is told who won", () => {
  expect(conflictWords(decided())).toBe("Bo decided first: approved. Your decision was not used.");
  expect(conflictWords(approval({ state: "timed_out" }))).toMatch(/^The deadline passed first/);
});
