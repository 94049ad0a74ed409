import { describe, expect, test } from "vitest";
import { addStep, allowedBefore, type Draft, moveStep, problemsOf, removeStep, waitsFor } from "./draft.ts";

const step = (id: string, ...depends_on: string[]) => ({
  id,
  title: id,
  detail: "",
  depends_on,
  criteria: "",
});
const draft: Draft = { goal: "g", steps: [step("a"), step("b", "a"), step("c", "b"), step("d")] };
const ids = ({ steps }: Draft) => steps.map(({ id }) => id).join("");

describe("a plan that is being written", () => {
  test("W2 steps move within the list and no further", () => {
    expect(ids(moveStep(draft, "a", 2))).toBe("bcad");
    expect(ids(moveStep(draft, "d", 0))).toBe("dabc");
    expect(ids(moveStep(draft, "d", 9))).toBe("abcd");
    expect(moveStep(draft, "a", -1)).toBe(draft);
  });

  test("W2 a new step has an id of its own, and those after a removed one wait for what it waited for", () => {
    const { draft: more, id } = addStep({ goal: "", steps: [step("step-2")] });
    expect([id, ids(more)]).toEqual(["step-3", "step-2step-3"]);
    const left = removeStep(draft, "b");
    expect(left.steps.find(({ id: one }) => one === "c")?.depends_on).toEqual(["a"]);
  });

  test("W2 a step may wait for nobody who waits for it", () => {
    expect(allowedBefore(draft, "a").map(({ id }) => id)).toEqual(["d"]);
    expect(allowedBefore(draft, "c").map(({ id }) => id)).toEqual(["a", "b", "d"]);
  });

  test("W2 what is missing is told by its path", () => {
    expect([...problemsOf({ goal: " ", steps: [step("a"), { ...step("b"), title: "" }] }).keys()]).toEqual([
      "goal",
      "steps[1].title",
    ]);
  });

  test("who comes first is told by numbers", () => {
    expect(waitsFor(draft.steps, [])).toBe("");
    expect(waitsFor(draft.steps, ["b"])).toBe("after 2");
    expect(waitsFor(draft.steps, ["d", "a", "b"])).toBe("after 1, 2 and 4");
  });
});
