/** What a hidden tab does instead of frames, which it has none of. */
const HIDDEN_MS = 250;

/** Collects what comes and hands it over once per frame: a page that draws sixty times a second need not read faster. */
export function batchPerFrame<T>(read: (items: readonly T[]) => void): { add(item: T): void; stop(): void } {
  let waiting: T[] = [];
  let frame: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = undefined;
    timer = undefined;
  };
  const flush = () => {
    cancel();
    const items = waiting;
    waiting = [];
    if (items.length > 0) read(items);
  };
  return {
    add(item) {
      waiting.push(item);
      if (frame !== undefined || timer !== undefined) return;
      // The timer is there for a tab that is hidden before its frame comes.
      timer = setTimeout(flush, HIDDEN_MS);
      if (!document.hidden) frame = requestAnimationFrame(flush);
    },
    stop: cancel,
  };
}
