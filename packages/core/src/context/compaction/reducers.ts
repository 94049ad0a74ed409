import type { Asking } from "./summarise.ts";
import type { View } from "./view.ts";

/** One way to make a log smaller. It does what it can towards `view.aim`; the next one follows while it does not fit. */
export interface Reducer {
  readonly name: string;
  reduce(view: View): Asking<void> | undefined;
}

/** At most so many turns, the current one included, stay as they are once there is something to be summarised. */
const RECENT_TURNS = 2;
/** A summary has a quarter of what it stands for, within bounds. */
const SHARE = 4;
const LEAST_SUMMARY = 100;
const MOST_SUMMARY = 2_000;

/** Sends old tool results as stubs, oldest first, never those of the latest step. */
export const stubResults: Reducer = {
  name: "stub-results",
  reduce(view) {
    const marks = view.stubMarks;
    const to = least(view, marks, (mark) => view.tokensIfStubbed(mark)) ?? marks.at(-1);
    if (to !== undefined && view.tokensIfStubbed(to) < view.tokens) view.stub(to);
    return undefined;
  },
};

/** Makes one summary of the oldest turns, in which an earlier summary is folded. */
export const summariseTurns: Reducer = {
  name: "summarise-turns",
  *reduce(view) {
    const { history, steps, target, floor } = view;
    const marks = history.marks.slice(-RECENT_TURNS - (view.inTurn ? 0 : 1));
    const to = least(view, marks, (mark) => view.tokensIfCut(0, mark, leastFor(view))) ?? marks.at(-1);
    if (to === undefined) return;
    // Where this is not enough and steps have to go too, their summary has half of the room.
    const alone = room(view, history.from, to);
    const isMore = view.messagesIn(steps.from, steps.marks.at(-1) ?? steps.from) > 0;
    const most = alone >= leastFor(view) || !isMore ? alone : (target - floor) / 2;
    yield* replace(view, history.from, to, most);
  },
};

/** Makes one summary of the oldest steps of the current turn; the latest stays. */
export const summariseSteps: Reducer = {
  name: "summarise-steps",
  *reduce(view) {
    const { from, marks } = view.steps;
    const to = least(view, marks, (mark) => view.tokensIfCut(from, mark, leastFor(view))) ?? marks.at(-1);
    if (to !== undefined) yield* replace(view, from, to, room(view, from, to));
  },
};

/** Leaves out the oldest turns, then the oldest steps, and summaries last. */
export const drop: Reducer = {
  name: "drop",
  reduce(view) {
    for (const { from, marks } of [view.history, view.steps]) {
      if (view.fits) return undefined;
      const to = least(view, marks, (mark) => view.tokensIfDropped(from, mark)) ?? marks.at(-1);
      if (to !== undefined && view.tokensIfDropped(from, to) < view.tokens) view.drop(from, to);
    }
    for (const { from, marks } of [view.history, view.steps]) {
      const to = marks.at(-1);
      if (!view.fits && to !== undefined && view.tokensIn(from, to) > 0)
        view.drop(from, to, { summaries: true });
    }
    return undefined;
  },
};

/** The built-in way (B4). */
export const REDUCERS: readonly Reducer[] = [stubResults, summariseTurns, summariseSteps, drop];

/** The least that makes room enough: for the aim, else for the target. */
function least(
  view: View,
  marks: readonly number[],
  tokensWith: (mark: number) => number,
): number | undefined {
  return (
    marks.find((mark) => tokensWith(mark) <= view.aim) ??
    marks.find((mark) => tokensWith(mark) <= view.target)
  );
}

function leastFor(view: View): number {
  return view.summaryHead + LEAST_SUMMARY;
}

/** What a summary of a stretch may take. */
function room(view: View, from: number, to: number): number {
  const without = view.tokensIfCut(from, to, 0);
  return (without + leastFor(view) <= view.aim ? view.aim : view.target) - without;
}

function* replace(view: View, from: number, to: number, most: number): Asking<void> {
  const there = view.tokensIn(from, to);
  const wanted = Math.max(LEAST_SUMMARY, Math.min(MOST_SUMMARY, Math.floor(there / SHARE)));
  const given = Math.min(most, view.summaryHead + wanted);
  const worthIt = view.messagesIn(from, to) > 0 && given >= leastFor(view) && given < there;
  if (worthIt) yield* view.summarise(from, to, given);
}
