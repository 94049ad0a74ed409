import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { plan } from "../schema/plan.ts";
import { parsePlan } from "./parse-plan.ts";

describe("parsePlan", () => {
  const steps = [{ title: "Look" }, { title: "Leap", detail: "Not too far." }];

  test.each([
    ["alone", JSON.stringify({ steps })],
    ["in a code fence", `Here it is:\n\`\`\`json\n${JSON.stringify({ steps }, null, 2)}\n\`\`\`\nGood luck!`],
    ["between other words", `The plan: ${JSON.stringify({ steps })} That is all.`],
    [
      "with other keys and nulls",
      JSON.stringify({
        goal: "x",
        steps: [
          { title: "Look", detail: null },
          { ...steps[1], tool: "y" },
        ],
      }),
    ],
    ["with words for steps", JSON.stringify({ steps: ["Look", steps[1]] })],
  ])("P2 reads JSON %s", (_, text) => {
    expect(parsePlan(text)).toEqual({ steps });
  });

  test.each([
    ["1. Look\n2. Leap\n   Not too far."],
    ["1) Look\n2) Leap\n- Not too far."],
    ["(1) Look\n\n(2) Leap\n\nNot too far."],
    ["Step 1: Look\nStep 2: Leap\nNot too far."],
    ["   1. Look\n   2. Leap\n      Not too far."],
    ["**Step 1:** Look\n**Step 2:** Leap\nNot too far."],
    ["### Step 1 - Look\n### Step 2 – Leap\nNot too far."],
    ["## 1. Look\n## 2. Leap\nNot too far."],
    ["**1. Look**\n**2. Leap** Not too far."],
    ["1. **Look**\n2. **Leap**: Not too far."],
    ["1. **Look:**\n2. **Leap** — Not too far."],
    ["I would do this:\r\n\r\n1. Look\r\n2. Leap:\r\n   Not too far.\r\n"],
    ["```\n1. Look\n2. Leap\n   Not too far.\n```"],
    ["STEP 1. Look\nSTEP 2. Leap\n\tNot too far."],
    ["1.\n   Look\n2.\n   Leap\n   Not too far."],
  ])("P2 reads numbered text: %j", (text) => {
    const read = parsePlan(text).steps.map(({ detail, ...step }) =>
      detail === undefined ? step : { ...step, detail: detail.replace(/^- /, "") },
    );
    expect(read).toEqual(steps);
  });

  test("P2 what is nested below a number is its detail, with its shape", () => {
    const text = "1. Read\n   - the file\n     - twice\n   1. from the top\n2. Write\n   1.1 a draft";
    expect(parsePlan(text).steps).toEqual([
      { title: "Read", detail: "- the file\n  - twice\n1. from the top" },
      { title: "Write", detail: "1.1 a draft" },
    ]);
  });

  test("P2 numbers below named steps, in code and in sentences begin no step", () => {
    expect(parsePlan("Step 1: Go\n1. left\n2. right\nStep 2: Stop").steps).toEqual([
      { title: "Go", detail: "1. left\n2. right" },
      { title: "Stop" },
    ]);
    expect(parsePlan("1. Run\n```\n1. not a step\n```\n1.5 GB are enough.\n2. End").steps).toHaveLength(2);
  });

  test("P2 anything else is one step with the text", () => {
    expect(parsePlan("  Just answer. ").steps).toEqual([{ title: "Just answer." }]);
    expect(parsePlan("First look.\nThen leap.").steps).toEqual([
      { title: "First look.", detail: "Then leap." },
    ]);
    expect(parsePlan('{"steps": []}').steps).toEqual([{ title: '{"steps": []}' }]);
    expect(parsePlan('{"steps": [{"title": 5}]}').steps).toHaveLength(1);
    expect(parsePlan("").steps).toEqual([{ title: "Carry out the request" }]);
  });

  test("P2 has at most 50 steps, and tells what the others were", () => {
    const text = Array.from({ length: 60 }, (_, i) => `${i + 1}. Lap ${i + 1}`).join("\n");
    const read = parsePlan(text).steps;
    expect(read).toHaveLength(50);
    expect(read[49]).toMatchObject({
      title: "The remaining 11 steps",
      detail: expect.stringContaining("- Lap 60"),
    });
  });

  test("P2 titles and details have bounds, and no word is lost at the first", () => {
    const words = "word ".repeat(100).trim();
    const [step] = parsePlan(`1. ${words}`).steps;
    expect(step?.title.length).toBeLessThanOrEqual(202);
    expect(`${step?.title}${step?.detail}`.match(/word/g)).toHaveLength(100);
    expect(parsePlan("x".repeat(1_000_000)).steps[0]?.detail?.length).toBeLessThanOrEqual(4001);
  });

  test("P2 makes a plan of anything, and never throws", () => {
    const bits = fc.constantFrom(
      "1. ",
      "2) ",
      "Step 3: ",
      "**",
      "- ",
      "```",
      "\n",
      "\n",
      "  ",
      "\t",
      "{",
      '{"steps":[',
      "]}",
      '"a"',
      "{}",
      "# ",
      "😀",
      "word",
      ":",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(bits, { maxLength: 40 }).map((all) => all.join("")),
          fc.string(),
        ),
        (text) => {
          const read = parsePlan(text);
          expect(plan.parse(read)).toEqual(read);
          for (const step of read.steps) expect(step.title.trim()).not.toBe("");
        },
      ),
      { numRuns: 1000 },
    );
  });

  test.each(["**", "```\n", "1. ", "{", " :", "\n", "Step 1", '{"steps":', "[", "#", "("])(
    "P2 a flood of %j is read like anything else",
    (bit) => {
      expect(parsePlan(`1. ${bit.repeat(50_000)}x`).steps.length).toBeGreaterThan(0);
    },
  );
});
