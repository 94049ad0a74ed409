import type { Opening, Unit } from "./units.ts";

/** A stretch from which the oldest part may be cut. */
export interface Region {
  readonly from: number;
  /** Where such a cut may end, oldest first; the last is the region's end. None: there is nothing to cut. */
  readonly marks: readonly number[];
}

/**
 * What lies before this turn. It is cut between turns, so that what is left begins with a user's message. A message that
 * was sent while a turn was under way counts as the beginning of one: nothing in the log tells them apart.
 */
export function historyOf(units: readonly Unit[], end: number): Region {
  const marks: number[] = [];
  let start = -1; // where the parts of hooks before a user's message begin
  for (const { from, kind, aside } of units) {
    if (from >= end) break;
    if (kind === "none") continue;
    if (kind === "user" && start < 0) start = from;
    if (kind === "user" && aside) continue;
    if (kind === "user" && start > 0) marks.push(start);
    start = -1;
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
