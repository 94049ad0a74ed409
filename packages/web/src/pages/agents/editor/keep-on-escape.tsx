import type { ReactNode } from "react";

/**
 * Esc closes a list. With the list closed the lists of Base UI take it as "choose nothing", and one key would ungate every
 * tool: here it does nothing then.
 */
export function KeepOnEscape({ children }: { children: ReactNode }) {
  return (
    <div
      className="min-w-0 flex-1"
      onKeyDownCapture={(event) => {
        if (event.key !== "Escape" || !(event.target instanceof HTMLInputElement)) return;
        if (event.target.getAttribute("aria-expanded") !== "true") event.stopPropagation();
      }}
    >
      {children}
    </div>
  );
}
