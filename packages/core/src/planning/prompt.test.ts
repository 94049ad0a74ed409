import { describe, expect, test } from "vitest";
import { parsePlan } from "./parse-plan.ts";
import { PLANNER_PROMPT, planForExecutor, plannerSystem } from "./prompt.ts";

describe("plannerSystem", () => {
  test("P3 is the instructions and then the planning instructions, or the built-in prompt", () => {
    expect(plannerSystem("Be brief.", "Plan well.")).toBe("Be brief.\n\nPlan well.");
    expect(plannerSystem("Be brief.", "")).toBe(`Be brief.\n\n${PLANNER_PROMPT}`);
    expect(plannerSystem("", " ")).toBe(PLANNER_PROMPT);
  });
});

describe("planForExecutor", () => {
  test("P2 numbers the steps, with their details below them", () => {
    const text = planForExecutor({
      steps: [{ title: "Look\naround", detail: "left\n  right" }, { title: "Leap" }],
    });
    expect(text).toContain("\n1. Look around\n   left\n     right\n2. Leap\n");
  });

  test("P2 is the same text for the same plan, and says the same when read again", () => {
    const plan = parsePlan("1. **Look**: left\n2. Leap");
    expect(planForExecutor(plan)).toBe(planForExecutor(plan));
    expect(parsePlan(planForExecutor(plan)).steps[0]).toEqual(plan.steps[0]);
  });
});
