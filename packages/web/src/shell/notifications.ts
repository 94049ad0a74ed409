import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useSyncExternalStore } from "react";

/** Whether this browser tells of new approvals; `unsupported` and `blocked` are the browser's word, not ours. */
export type Notifying = "on" | "off" | "blocked" | "unsupported";

const STORED = "trackside.notify";
const listeners = new Set<() => void>();

function read(): Notifying {
  if (typeof Notification === "undefined") return "unsupported";
  if (Notification.permission === "denied") return "blocked";
  return Notification.permission === "granted" && stored() ? "on" : "off";
}

function stored(): boolean {
  try {
    return localStorage.getItem(STORED) === "on";
  } catch {
    return false; // a browser that keeps nothing
  }
}

export function useNotifying(): Notifying {
  return useSyncExternalStore(subscribe, read, () => "off");
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}

/** Asks the browser for permission when it is switched on, and never before. */
export async function setNotifying(on: boolean): Promise<void> {
  if (on && typeof Notification !== "undefined" && Notification.permission === "default")
    await Notification.requestPermission();
  try {
    localStorage.setItem(STORED, on ? "on" : "off");
  } catch {
    // Then it lasts as long as nobody asks.
  }
  for (const listener of listeners) listener();
}

export interface Waiting {
  readonly id: string;
  /** What is asked about: a tool, or the question of a workflow's node. */
  readonly tool: string | null;
  readonly agent: string;
}

/** Which of those that wait are new since the last look. The first look tells of none. */
export function newOnes(known: ReadonlySet<string> | undefined, waiting: readonly Waiting[]): Waiting[] {
  return known === undefined ? [] : waiting.filter(({ id }) => !known.has(id));
}

/** Tells of new approvals while nobody looks at the page. A click leads to the question. */
export function useNotifications(waiting: readonly Waiting[] | undefined): void {
  const navigate = useNavigate();
  const known = useRef<Set<string>>(undefined);
  useEffect(() => {
    if (waiting === undefined) return;
    const fresh = newOnes(known.current, waiting);
    known.current ??= new Set();
    for (const { id } of waiting) known.current.add(id);
    if (read() !== "on" || !document.hidden) return;
    for (const { id, tool, agent } of fresh)
      notify(
        id,
        tool?.endsWith("?") ? tool : `${tool ?? "A request"} waits for you`,
        `Asked by ${agent}`,
        () => {
          window.focus();
          void navigate({ to: "/inbox/$id", params: { id } });
        },
      );
  }, [waiting, navigate]);
}

function notify(id: string, title: string, body: string, open: () => void): void {
  try {
    // One for each question, however many tabs are open.
    const shown = new Notification(title, { body, tag: id });
    shown.onclick = () => {
      shown.close();
      open();
    };
  } catch {
    // Some phones allow it to service workers only: the count in the title still tells.
  }
}
