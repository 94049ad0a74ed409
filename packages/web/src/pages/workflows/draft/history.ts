import { pathText } from "../../../forms/path.ts";
import { type Draft, type Edit, edited } from "./edit.ts";

/** What was, what is, and what was taken back. */
export interface History {
  readonly past: readonly Draft[];
  readonly present: Draft;
  readonly future: readonly Draft[];
  /** The field that was written into last, and when: the next letter there belongs to the same step. */
  readonly typing: { readonly where: string; readonly at: number } | undefined;
}

export type HistoryStep =
  | { readonly type: "edit"; readonly edit: Edit; readonly at: number }
  | { readonly type: "undo" }
  | { readonly type: "redo" }
  /** What was saved or loaded is now what there is. Undo still leads back to before. */
  | { readonly type: "begin"; readonly draft: Draft };

/** A pause of a second ends a step. */
const PAUSE_MS = 1_000;
const MOST_STEPS = 300;

export const historyOf = (draft: Draft): History => ({
  past: [],
  present: draft,
  future: [],
  typing: undefined,
});

export function stepped(history: History, step: HistoryStep): History {
  const { past, present, future, typing } = history;
  switch (step.type) {
    case "begin":
      return historyOf(step.draft);
    case "undo": {
      const before = past.at(-1);
      if (before === undefined) return history;
      return {
        past: past.slice(0, -1),
        present: before,
        future: [present, ...future],
        typing: undefined,
      };
    }
    case "redo": {
      const [next, ...rest] = future;
      if (next === undefined) return history;
      return { past: [...past, present], present: next, future: rest, typing: undefined };
    }
    case "edit": {
      const next = edited(present, step.edit);
      if (next === present) return history;
      const where = placeOf(step.edit);
      const goesOn = where !== undefined && typing?.where === where && step.at - typing.at < PAUSE_MS;
      return {
        past: goesOn ? past : [...past, present].slice(-MOST_STEPS),
        present: next,
        future: [],
        typing: where === undefined ? undefined : { where, at: step.at },
      };
    }
  }
}

/** What belongs to one step when it happens in quick succession: a field, or nodes that are pushed by the arrows. */
function placeOf(edit: Edit): string | undefined {
  if (edit.type === "set" || edit.type === "unread") return pathText(edit.path);
  return edit.type === "move" ? `move ${Object.keys(edit.to).join(" ")}` : undefined;
}
