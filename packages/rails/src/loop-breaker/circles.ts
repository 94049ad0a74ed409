import type { Made } from "./history.ts";

/** What must not be called now, and why. */
export interface Blocked {
  /** By the digest of a call. */
  readonly calls: Readonly<Record<string, string>>;
  /** By the name of a tool, whatever its arguments. */
  readonly tools: Readonly<Record<string, string>>;
}

/** Finds the circle a run is in, if it is in one. */
export function circleOf(made: readonly Made[], pingPong: number, noProgress: number): Blocked | undefined {
  return alternating(made, pingPong) ?? standingStill(made, noProgress);
}

/** The same two calls in turn, `rounds` times. */
function alternating(made: readonly Made[], rounds: number): Blocked | undefined {
  const tail = made.slice(-2 * rounds);
  const [a, b] = tail;
  if (tail.length < 2 * rounds || a === undefined || b === undefined || a.call === b.call) return undefined;
  if (!tail.every(({ call }, i) => call === (i % 2 === 0 ? a : b).call)) return undefined;
  const why = `${a.tool} and ${b.tool} have been called in turn ${rounds} times with the same arguments`;
  return { calls: { [a.call]: why, [b.call]: why }, tools: {} };
}

/** So many calls in a row that brought what was known already. */
function standingStill(made: readonly Made[], times: number): Blocked | undefined {
  const known = new Set<string>();
  const lastOf = new Map<string, string>();
  const stale: { readonly made: Made; readonly anyArguments: boolean }[] = [];
  for (const one of made) {
    const again = known.has(`${one.call} ${one.result}`);
    const barrenAgain = one.barren && lastOf.get(one.tool) === one.result;
    if (again || barrenAgain) stale.push({ made: one, anyArguments: barrenAgain && !again });
    else stale.length = 0;
    known.add(`${one.call} ${one.result}`);
    lastOf.set(one.tool, one.result);
  }
  // The first of them brought something new, and counts as the first time.
  if (stale.length + 1 < times) return undefined;
  const calls: Record<string, string> = {};
  const tools: Record<string, string> = {};
  for (const { made: one, anyArguments } of stale.slice(-times)) {
    const why = `the last ${stale.length} calls brought nothing new, ${one.tool} among them`;
    calls[one.call] = why;
    if (anyArguments) tools[one.tool] = why;
  }
  return { calls, tools };
}
