import type { Plan, Step, Version } from "./types.ts";

/** A step as it is being written. */
export interface DraftStep {
  readonly id: string;
  readonly title: string;
  readonly detail: string;
  readonly depends_on: readonly string[];
  readonly criteria: string;
}

export interface Draft {
  readonly goal: string;
  readonly steps: readonly DraftStep[];
}

export const EMPTY: Draft = { goal: "", steps: [] };

export function draftOf({ goal, steps }: Pick<Plan, "goal" | "steps">): Draft {
  return { goal, steps: steps.map(draftStep) };
}

function draftStep({ id, title, detail, depends_on, verification: { criteria } }: Step): DraftStep {
  return { id, title, detail, depends_on, criteria };
}

export function draftOfVersion({ goal, steps }: Version): Draft {
  return { goal, steps: steps.map((step) => ({ ...step })) };
}

/** As the API takes it. */
export function contentOf({ goal, steps }: Draft) {
  return { goal, steps: steps.map((step) => ({ ...step, depends_on: [...step.depends_on] })) };
}

export function isSame(a: Draft, b: Draft): boolean {
  return JSON.stringify(contentOf(a)) === JSON.stringify(contentOf(b));
}

/** One more at the end. What comes after the last step usually needs it, but nobody knows. */
export function addStep(draft: Draft): { draft: Draft; id: string } {
  const taken = new Set(draft.steps.map(({ id }) => id));
  let n = draft.steps.length + 1;
  while (taken.has(`step-${n}`)) n += 1;
  const id = `step-${n}`;
  const step = { id, title: "", detail: "", depends_on: [], criteria: "" };
  return { draft: { ...draft, steps: [...draft.steps, step] }, id };
}

/** Those that waited for it wait for what it waited for. */
export function removeStep(draft: Draft, id: string): Draft {
  const gone = draft.steps.find((step) => step.id === id);
  const steps = draft.steps
    .filter((step) => step.id !== id)
    .map((step) => {
      if (!step.depends_on.includes(id)) return step;
      const others = [...step.depends_on.filter((one) => one !== id), ...(gone?.depends_on ?? [])];
      return { ...step, depends_on: [...new Set(others)] };
    });
  return { ...draft, steps };
}

/** To another place in the list, within it. */
export function moveStep(draft: Draft, id: string, to: number): Draft {
  const at = draft.steps.findIndex((step) => step.id === id);
  const place = Math.max(0, Math.min(draft.steps.length - 1, to));
  const step = draft.steps[at];
  if (step === undefined || at === place) return draft;
  const steps = draft.steps.toSpliced(at, 1).toSpliced(place, 0, step);
  return { ...draft, steps };
}

export function changeStep(draft: Draft, id: string, change: Partial<Omit<DraftStep, "id">>): Draft {
  return { ...draft, steps: draft.steps.map((step) => (step.id === id ? { ...step, ...change } : step)) };
}

/** Steps that a step may wait for: any that does not wait for it, however far away. */
export function allowedBefore({ steps }: Draft, id: string): readonly DraftStep[] {
  const after = new Set([id]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const step of steps)
      if (!after.has(step.id) && step.depends_on.some((one) => after.has(one))) {
        after.add(step.id);
        grown = true;
      }
  }
  return steps.filter((step) => !after.has(step.id));
}

/** What is wrong with it as far as one can tell here, by path as the server would. */
export function problemsOf({ goal, steps }: Draft): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (goal.trim() === "") found.set("goal", "A plan needs a goal: say what is to be reached.");
  for (const [at, { title }] of steps.entries())
    if (title.trim() === "") found.set(`steps[${at}].title`, "A step needs a title: say what to do.");
  return found;
}

/** "after 1 and 3": which steps come first, by their numbers. */
export function waitsFor(steps: readonly { id: string }[], depends_on: readonly string[]): string {
  const numbers = depends_on
    .map((id) => steps.findIndex((step) => step.id === id) + 1)
    .filter((n) => n > 0)
    .sort((a, b) => a - b);
  if (numbers.length === 0) return "";
  const last = numbers.at(-1);
  return numbers.length === 1 ? `after ${last}` : `after ${numbers.slice(0, -1).join(", ")} and ${last}`;
}
