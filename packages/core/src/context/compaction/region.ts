import type { Opening, Unit } from "./units.ts";

/** A stretch from which the oldest part may be cut. */
export interface Region {
  readonly from: number;
  /** Where such a cut may end, oldest first; the last is the region's end. None: there is nothing to cut. */
  readonly marks: readonly number[];
}

/** What lies before this turn. It is cut between turns, so that what is left begins with a user's message. */
export function historyOf(units: readonly Unit[], end: number): Region {
  const marks: number[] = [];
  let run = -1; // where the user messages before the current position began
  let opens = false; // whether they have opened a turn already
  for (const { from, kind, aside } of units) {
    if (from >= end) break;
    if (kind === "none") continue;
    if (kind !== "user") {
      run = -1;
      opens = false;
      continue;
    }
    if (run < 0) run = from;
    if (aside || opens) continue;
    opens = true;
    if (run > 0) marks.push(run);
  }
  if (end > 0) marks.push(end);
  return { from: 0, marks };
}

/** The steps of this turn but the latest. It is cut between steps. */
export function stepsOf(units: readonly Unit[], opening: Opening): Region {
  const marks: number[] = [];
  for (const { from, kind, aside } of units) {
    if (from > opening.to && kind === "step" && !aside) marks.push(from);
  }
  return { from: opening.to, marks };
}

/** Where the latest step begins: its results are not stubbed. */
export function latestStep(units: readonly Unit[], upTo: number): number {
  return units.findLast(({ kind, aside }) => kind === "step" && !aside)?.from ?? upTo;
}
