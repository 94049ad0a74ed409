import { useState } from "react";

/** A choice about how a page looks, remembered in this browser. */
export function useKept(name: string, otherwise: boolean): [boolean, (value: boolean) => void] {
  const [value, setValue] = useState(() => read(name) ?? otherwise);
  const keep = (next: boolean) => {
    setValue(next);
    try {
      localStorage.setItem(name, String(next));
    } catch {
      // Some browsers store nothing; then it lasts as long as the page.
    }
  };
  return [value, keep];
}

function read(name: string): boolean | undefined {
  try {
    const kept = localStorage.getItem(name);
    return kept === null ? undefined : kept === "true";
  } catch {
    return undefined;
  }
}
