import { useEffect, useState } from "react";

/** The value once it has rested: the server is asked when someone stops typing, not with every letter. */
export function useDebounced<T>(value: T, ms = 350): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}
