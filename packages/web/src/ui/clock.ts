import { useSyncExternalStore } from "react";

/**
 * One clock for the page: a timer that wakes once a second while anything shows a time, and not at all in a tab that
 * nobody sees. Each label re-renders only when its own words change.
 */
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

function tick(): void {
  if (typeof document !== "undefined" && document.hidden) return;
  now = Date.now();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    now = Date.now();
    timer = setInterval(tick, 1000);
    document.addEventListener("visibilitychange", tick);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    document.removeEventListener("visibilitychange", tick);
  };
}

/** What `read` says of the current time, kept up to date. `read` must return something comparable, like a string. */
export function useClock<T extends string | number | boolean>(read: (now: number) => T): T {
  return useSyncExternalStore(
    subscribe,
    () => read(now),
    () => read(Date.now()),
  );
}
