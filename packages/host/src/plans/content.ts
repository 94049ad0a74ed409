import { AgentConfigError, type ConfigIssue } from "trackside";
import { issueAt } from "../agents/issues.ts";
import { cycleIn } from "./graph.ts";
import type { PlanContent, PlannedStep } from "./plan.ts";

const MOST_STEPS = 200;
const LONGEST = { goal: 10_000, title: 200, detail: 10_000, criteria: 4_000 } as const;
const ID = /^[A-Za-z0-9_-]{1,64}$/;
const KEYS = ["id", "title", "detail", "depends_on", "criteria"];

/** A plan as it will be written; throws with every problem at once, each with its path (A3). */
export function checkContent(given: unknown, what = "the plan"): PlanContent {
  const issues: ConfigIssue[] = [];
  const { goal, steps } = fieldsOf(given);
  checkText(issues, "goal", goal, LONGEST.goal, true);
  if (!Array.isArray(steps)) issues.push(issueAt("steps", steps, "a list of steps"));
  else if (steps.length > MOST_STEPS)
    issues.push(issueAt("steps", `${steps.length} steps`, `at most ${MOST_STEPS}`));
  if (issues.length > 0) throw new AgentConfigError(what, issues);
  const list = steps as readonly unknown[]; // looked at above
  const read = list.map((step, i) => checkStep(issues, step, `steps[${i}]`));
  if (issues.length === 0) checkOrder(issues, read);
  if (issues.length > 0) throw new AgentConfigError(what, issues);
  return { goal: String(goal).trim(), steps: read };
}

function checkStep(issues: ConfigIssue[], given: unknown, path: string): PlannedStep {
  const { id, title, detail = "", depends_on = [], criteria = "", ...more } = fieldsOf(given);
  for (const key of Object.keys(more))
    issues.push(issueAt(`${path}.${key}`, more[key], `no such key (${KEYS.join(", ")})`));
  if (typeof id !== "string" || !ID.test(id))
    issues.push(issueAt(`${path}.id`, id, "1 to 64 letters, digits, _ and -"));
  checkText(issues, `${path}.title`, title, LONGEST.title, true);
  checkText(issues, `${path}.detail`, detail, LONGEST.detail, false);
  checkText(issues, `${path}.criteria`, criteria, LONGEST.criteria, false);
  const isList = Array.isArray(depends_on) && depends_on.every((one) => typeof one === "string");
  if (!isList) issues.push(issueAt(`${path}.depends_on`, depends_on, "a list of steps' ids"));
  return {
    id: String(id),
    title: String(title).trim(),
    detail: String(detail),
    depends_on: isList ? [...new Set(depends_on)] : [],
    criteria: String(criteria).trim(),
  };
}

function checkOrder(issues: ConfigIssue[], steps: readonly PlannedStep[]): void {
  const known = new Map<string, number>();
  for (const [i, { id }] of steps.entries()) {
    const first = known.get(id);
    if (first !== undefined)
      issues.push(issueAt(`steps[${i}].id`, id, `an id of its own (steps[${first}] has it)`));
    else known.set(id, i);
  }
  const ids = [...known.keys()].slice(0, 20).join(", ");
  for (const [i, { depends_on }] of steps.entries())
    for (const [at, one] of depends_on.entries())
      if (!known.has(one))
        issues.push(issueAt(`steps[${i}].depends_on[${at}]`, one, `a step of this plan (${ids})`));
  if (issues.length > 0) return;
  const cycle = cycleIn(steps);
  if (cycle === undefined) return;
  const [first = ""] = cycle;
  issues.push(
    issueAt(
      `steps[${known.get(first)}].depends_on`,
      cycle.join(" → "),
      "steps that do not wait for this one",
    ),
  );
}

function checkText(issues: ConfigIssue[], path: string, given: unknown, most: number, needed: boolean): void {
  const isText = typeof given === "string" && given.length <= most;
  if (isText && (!needed || given.trim() !== "")) return;
  const shown = typeof given === "string" && given.length > most ? `${given.length} characters` : given;
  issues.push(issueAt(path, shown, `a text of ${needed ? "1" : "0"} to ${most} characters`));
}

function fieldsOf(given: unknown): Readonly<Record<string, unknown>> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return {};
  return given as Record<string, unknown>; // an object may be read by any key
}
