import type { Plan } from "../schema/plan.ts";
import { stepsOfJson } from "./json-plan.ts";
import { stepsOfText } from "./text-plan.ts";

export type Step = Plan["steps"][number];

const MAX_TEXT = 100_000;
const MAX_STEPS = 50;
const MAX_TITLE = 200;
const MAX_DETAIL = 4000;

/** Reads what a planner wrote: JSON, or a numbered list, or else one step (P2). */
export function parsePlan(text: string): Plan {
  const read = text.slice(0, MAX_TEXT).replaceAll(/\r\n?/g, "\n");
  const steps = stepsOfJson(read) ?? stepsOfText(read) ?? [wholeText(read)];
  return { steps: bounded(steps).map(shortened) };
}

function wholeText(given: string): Step {
  const text = given.trim();
  if (text === "") return { title: "Carry out the request" };
  const end = text.indexOf("\n");
  return end === -1 ? { title: text } : { title: text.slice(0, end), detail: text.slice(end + 1).trim() };
}

/** What is beyond the last step allowed becomes its detail. */
function bounded(steps: readonly Step[]): readonly Step[] {
  if (steps.length <= MAX_STEPS) return steps;
  const rest = steps.slice(MAX_STEPS - 1);
  const detail = rest.map(({ title }) => `- ${title}`).join("\n");
  return [...steps.slice(0, MAX_STEPS - 1), { title: `The remaining ${rest.length} steps`, detail }];
}

/** A title is one line; what does not fit into it is detail. */
function shortened({ title, detail }: Step): Step {
  const line = title.replaceAll(/\s+/g, " ").trim();
  const end = line.length <= MAX_TITLE ? line.length : wordEnd(line);
  const overflow = end < line.length ? `… ${line.slice(end).trim()}` : "";
  const whole = cut([overflow, detail?.trim() ?? ""].filter((part) => part !== "").join("\n"));
  const shown = end < line.length ? `${line.slice(0, end)} …` : line;
  return whole === "" ? { title: shown } : { title: shown, detail: whole };
}

function wordEnd(line: string): number {
  const space = line.lastIndexOf(" ", MAX_TITLE);
  if (space > MAX_TITLE / 2) return space;
  return isHigh(line.charCodeAt(MAX_TITLE - 1)) ? MAX_TITLE - 1 : MAX_TITLE;
}

function cut(text: string): string {
  if (text.length <= MAX_DETAIL) return text;
  return `${text.slice(0, isHigh(text.charCodeAt(MAX_DETAIL - 1)) ? MAX_DETAIL - 1 : MAX_DETAIL)}…`;
}

/** The first half of a character of two. */
function isHigh(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
