import { useSyncExternalStore } from "react";

export type ThemeChoice = "system" | "light" | "dark";
const STORED = "trackside.theme";
const listeners = new Set<() => void>();
const dark = () => window.matchMedia("(prefers-color-scheme: dark)");

export function themeChoice(): ThemeChoice {
  const chosen = document.documentElement.dataset["theme"];
  return chosen === "light" || chosen === "dark" ? chosen : "system";
}

/** Follows the system, or a choice that this browser remembers. public/theme.js reads it before the first paint. */
export function chooseTheme(choice: ThemeChoice): void {
  if (choice === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = choice;
  try {
    if (choice === "system") localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, choice);
  } catch {
    // Storage is off: the choice holds until the page is left.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  const system = dark();
  listeners.add(listener);
  system.addEventListener("change", listener);
  return () => {
    listeners.delete(listener);
    system.removeEventListener("change", listener);
  };
}

export function useThemeChoice(): ThemeChoice {
  return useSyncExternalStore(subscribe, themeChoice, () => "system");
}

/** The theme that is on the screen: for what is drawn rather than styled. */
export function useThemeName(): "light" | "dark" {
  const read = () => {
    const choice = themeChoice();
    return choice === "system" ? (dark().matches ? "dark" : "light") : choice;
  };
  return useSyncExternalStore(subscribe, read, () => "light");
}
