/** `84 ms`, `2.3 s`, `1 min 12 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** `1,204`. */
export function count(number: number): string {
  return number.toLocaleString("en-US");
}

/** `1 step`, `2 steps`. */
export function counted(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** `812 bytes`, `12.3 kB`. */
export function bytes(number: number): string {
  if (number < 1000) return counted(number, "byte");
  return number < 1e6 ? `${(number / 1e3).toFixed(1)} kB` : `${(number / 1e6).toFixed(1)} MB`;
}
