import type { Projection } from "../../schema/projection.ts";
import { REDUCERS, type Reducer } from "./reducers.ts";
import type { Asking } from "./summarise.ts";
import { type CompactionInput, type ContextChange, View } from "./view.ts";

/** What came of making room. */
export interface Compacted {
  /** Whether the request is within its target now. */
  readonly fits: boolean;
  /** For the log; null when there was nothing to do, or nothing to be done. */
  readonly projection: Projection | null;
  readonly changes: readonly ContextChange[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Why it does not fit. */
  readonly problem: string | null;
}

/**
 * Makes a request fit, as a projection of the log, which stays as it is (B4). Reducers take turns and it is over as soon as
 * it fits. Nothing here waits or calls anybody: it yields the summaries it wants and goes on with their texts, so the same
 * input and the same texts always come to the same projection.
 *
 * ```ts
 * const planning = compact(input);
 * let step = planning.next();
 * while (!step.done) step = planning.next(await ask(step.value)); // a text, or null when the model failed
 * const { fits, projection, changes } = step.value;
 * ```
 */
export function* compact(input: CompactionInput, reducers: readonly Reducer[] = REDUCERS): Asking<Compacted> {
  const view = new View(input);
  const tokensBefore = Math.ceil(view.tokens);
  const nothing = { projection: null, changes: [], tokensBefore, tokensAfter: tokensBefore };
  if (view.fits) return { ...nothing, fits: true, problem: null };
  // Known from the start, so nobody is asked for a summary that could not help (B3, H6).
  const isOutOfReach = view.floor > view.target;
  if (isOutOfReach && !input.anyway) return { ...nothing, fits: false, problem: tooLarge(view) };

  for (const reducer of reducers) {
    if (view.fits) break;
    view.reducer = reducer.name;
    const asking = reducer.reduce(view);
    if (asking !== undefined) yield* isOutOfReach ? unanswered(asking) : asking;
  }
  const { fits, changes, cuts, stubsTo: stubs_to } = view;
  const tokensAfter = Math.ceil(view.tokens);
  const sizes = { tokens_before: tokensBefore, tokens_after: tokensAfter };
  return {
    fits,
    projection: changes.length === 0 ? null : { id: input.id, role: "projection", cuts, stubs_to, ...sizes },
    changes,
    tokensBefore,
    tokensAfter,
    problem: fits ? null : `${tokensAfter} tokens are left, ${view.target} are allowed`,
  };
}

/** Work that goes on as if there were no summariser. */
// biome-ignore lint/correctness/useYield: it stands in for work that asks
function* unanswered(asking: Asking<void>): Asking<void> {
  let step = asking.next();
  while (!step.done) step = asking.next(null);
}

function tooLarge({ floor, target, inTurn }: View): string {
  const what = inTurn
    ? "The system prompt, the tools, this turn's message and the latest step"
    : "The system prompt and the tools";
  return `${what} cannot be made smaller and take about ${Math.ceil(floor)} tokens; ${Math.floor(target)} are allowed`;
}
