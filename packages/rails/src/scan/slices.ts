/** So long may all scanning together go on before other work gets its turn. */
const SLICE_MS = 3;

/** When the first scan of this turn of the event loop began; undefined when there was none yet. */
let began: number | undefined;

/**
 * Call between pieces of work. Nothing to wait for while there is time left; else a promise for the next turn of the event
 * loop. All scans of the process share one slice, so that many at once do not add up to a long one.
 */
export function nextSlice(): Promise<void> | undefined {
  const now = performance.now();
  if (began === undefined) {
    began = now;
    setImmediate(() => {
      began = undefined;
    });
    return undefined;
  }
  return now - began < SLICE_MS ? undefined : new Promise((resolve) => setImmediate(resolve));
}
