import { useEffect, useSyncExternalStore } from "react";
import { Button, IconButton } from "./button.tsx";
import { cx } from "./class-names.ts";
import { CloseIcon, WarningIcon } from "./icons.tsx";

export interface Toast {
  /** What happened: "Agent clerk is saved". */
  title: string;
  detail?: string;
  kind?: "plain" | "problem";
  action?: { label: string; run(): void };
}

interface Shown extends Toast {
  id: number;
}

const STAYS_MS = 6000;
let shown: readonly Shown[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

function change(next: readonly Shown[]): void {
  shown = next;
  for (const listener of listeners) listener();
}

/** Says something in the corner. Problems stay until they are closed. */
export function toast(given: Toast): void {
  lastId += 1;
  // The same words twice are one message, not two.
  const others = shown.filter((one) => one.title !== given.title || one.detail !== given.detail);
  change([...others, { ...given, id: lastId }].slice(-4));
}

export function closeToasts(): void {
  change([]);
}

const close = (id: number) => change(shown.filter((one) => one.id !== id));

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Read out politely, so it interrupts nobody; above the bottom bar of a phone. */
export function ToastRegion() {
  const toasts = useSyncExternalStore(
    subscribe,
    () => shown,
    () => shown,
  );
  return (
    <section
      aria-live="polite"
      aria-label="Messages"
      className="pointer-events-none fixed inset-x-4 bottom-[calc(64px+env(safe-area-inset-bottom))] z-60 flex flex-col items-end gap-2 md:bottom-4"
    >
      {toasts.map((one) => (
        <ToastCard key={one.id} toast={one} />
      ))}
    </section>
  );
}

function ToastCard({ toast: { id, title, detail, kind, action } }: { toast: Shown }) {
  useEffect(() => {
    if (kind === "problem" || action) return;
    const timer = setTimeout(() => close(id), STAYS_MS);
    return () => clearTimeout(timer);
  }, [id, kind, action]);
  return (
    <div className="popup pointer-events-auto flex w-full max-w-96 items-start gap-2 p-3">
      {kind === "problem" && <WarningIcon className="mt-0.5 text-red" />}
      <div className="min-w-0 flex-1">
        <p className={cx("font-medium break-words", kind === "problem" && "text-red")}>{title}</p>
        {detail && <p className="mt-0.5 text-sm break-words text-muted">{detail}</p>}
      </div>
      {action && (
        <Button
          size="small"
          onClick={() => {
            close(id);
            action.run();
          }}
        >
          {action.label}
        </Button>
      )}
      <IconButton size="small" icon={CloseIcon} label="Close this message" onClick={() => close(id)} />
    </div>
  );
}
