import { useSyncExternalStore } from "react";

const QUERY = "(min-width: 768px)";

function subscribe(listener: () => void): () => void {
  const media = matchMedia(QUERY);
  media.addEventListener("change", listener);
  return () => media.removeEventListener("change", listener);
}

/** Whether there is room for two things side by side. */
export function useWide(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(QUERY).matches);
}
