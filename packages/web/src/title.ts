import { useEffect, useSyncExternalStore } from "react";

let page = "";
let pending = 0;
const listeners = new Set<() => void>();

/** "(3) Inbox · Trackside": the count first, since tabs are narrow. */
export function titleOf(name: string, count: number): string {
  const title = name ? `${name} · Trackside` : "Trackside";
  return count > 0 ? `(${count > 99 ? "99+" : count}) ${title}` : title;
}

function write(): void {
  document.title = titleOf(page, pending);
  for (const listener of listeners) listener();
}

/** The title of the page, in the tab and read out when the page changes. */
export function useTitle(title: string): void {
  useEffect(() => {
    page = title;
    write();
  }, [title]);
}

/** How much waits for a decision; the shell keeps it. */
export function usePendingInTitle(count: number): void {
  useEffect(() => {
    pending = count;
    write();
  }, [count]);
}

/** For the shell: announces the page to screen readers after a navigation. */
export function usePageTitle(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => page,
    () => page,
  );
}
