/** Says that `[start, end)` is something of a kind. `glued` when it goes on with what was reported up to `start`. */
export type Report = (start: number, end: number, kind: string, glued?: boolean) => void;

/**
 * Looks for one sort of thing in a text that arrives in pieces. One is made for each text.
 *
 * `scan` is given a window on the text and where to go on from. It reports every match that starts before the position
 * it returns, and none after it: up to there its word is final, whatever follows. What might become a match with more
 * text is held back by returning its start. With `done` nothing follows, so it returns the end. From one call to the next
 * the window moves: positions are not kept, only what was learned. How the text was cut must make no difference.
 */
export interface Probe {
  /** How many characters before a match it looks at, at most. */
  readonly reach: number;
  scan(text: string, from: number, done: boolean, report: Report): number;
}
