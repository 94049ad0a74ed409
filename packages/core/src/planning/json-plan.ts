import type { Step } from "./parse-plan.ts";

/** The steps of `{ steps: [...] }`: the whole text, in a code fence, or between the outermost braces. */
export function stepsOfJson(text: string): readonly Step[] | undefined {
  const start = text.indexOf("{");
  if (start === -1) return undefined;
  const candidates = [text, ...fenced(text), text.slice(start, text.lastIndexOf("}") + 1)];
  for (const candidate of candidates) {
    const steps = read(candidate);
    if (steps !== undefined) return steps;
  }
  return undefined;
}

const MAX_FENCES = 5;

function fenced(text: string): string[] {
  const found: string[] = [];
  let open: number | undefined;
  for (
    let at = text.indexOf("```");
    at !== -1 && found.length < MAX_FENCES;
    at = text.indexOf("```", at + 3)
  ) {
    if (open !== undefined) found.push(text.slice(open, at));
    const line = text.indexOf("\n", at);
    open = open === undefined && line !== -1 ? line + 1 : undefined;
  }
  return found;
}

function read(text: string): readonly Step[] | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const steps = field(value, "steps");
  if (!Array.isArray(steps) || steps.length === 0) return undefined;
  const found: Step[] = [];
  for (const given of steps) {
    const step = stepOf(given);
    if (step === undefined) return undefined;
    found.push(step);
  }
  return found;
}

function stepOf(given: unknown): Step | undefined {
  const title = typeof given === "string" ? given : field(given, "title");
  if (typeof title !== "string" || title.trim() === "") return undefined;
  const detail = field(given, "detail") ?? field(given, "details") ?? field(given, "description");
  if (detail === undefined || detail === null) return { title };
  return typeof detail === "string" ? { title, detail } : undefined;
}

function field(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key);
}
