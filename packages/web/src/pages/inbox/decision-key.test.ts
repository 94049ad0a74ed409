import { expect, test } from "vitest";
import { DecisionKeys } from "./decision-key.ts";

test("X10 the same decision sent again keeps its key; another one, or one after an answer, has its own", () => {
  let made = 0;
  const keys = new DecisionKeys(() => `key ${++made}`);
  expect(keys.keyOf({ choice: "approve" })).toBe("key 1");
  expect(keys.keyOf({ choice: "approve" })).toBe("key 1");
  expect(keys.keyOf({ choice: "reject", reason: "no" })).toBe("key 2");
  keys.answered();
  expect(keys.keyOf({ choice: "reject", reason: "no" })).toBe("key 3");
});

test("keys are long and never the same", () => {
  const one = new DecisionKeys().keyOf({});
  expect(one).toMatch(/^inbox-[0-9a-f]{32}$/);
  expect(new DecisionKeys().keyOf({})).not.toBe(one);
});
