import type { Plan } from "../schema/plan.ts";

/** What a planner is told unless the agent has `planning_instructions`. */
export const PLANNER_PROMPT = `You are planning, not acting. Work out how to carry out the user's request with the tools you see, and answer with the plan only.

- Write a numbered list of at most 10 steps, in the order they should be done. One line for each step; details, if any, as bullets below it.
- Each step says what to do, so that one can tell when it is done. Name the tool it needs.
- Use a tool now only if the plan depends on what it would tell you. Change nothing.
- If the request needs no plan, write one step.`;

/** The system prompt of the planning phase (P3). */
export function plannerSystem(instructions: string, planningInstructions: string): string {
  const planning = planningInstructions.trim() === "" ? PLANNER_PROMPT : planningInstructions;
  return instructions === "" ? planning : `${instructions}\n\n${planning}`;
}

const OPENING =
  "Plan for this request, made before you began. Follow it step by step; depart from it where what you find calls for it. " +
  "The user has not seen it.";

/** The plan as the executor reads it, at the tail of its request (P2). */
export function planForExecutor(plan: Plan): string {
  const steps = plan.steps.map(({ title, detail }, i) => {
    const line = `${i + 1}. ${title.replaceAll(/\s+/g, " ").trim()}`;
    return detail === undefined ? line : `${line}\n${indented(detail)}`;
  });
  // A planner may repeat what a tool told it: nothing in the plan may look like its end.
  const text = steps.join("\n").replaceAll("</plan", "<\\/plan");
  return `<plan>\n${OPENING}\n\n${text}\n</plan>`;
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `   ${line.trimEnd()}`)
    .join("\n");
}
