import { numberOf, type Search } from "../../search.ts";

export interface Range {
  readonly from: number;
  readonly to: number;
}

export const PRESETS = [
  { value: "1h", label: "1 hour", ms: 3_600_000 },
  { value: "24h", label: "24 hours", ms: 86_400_000 },
  { value: "7d", label: "7 days", ms: 7 * 86_400_000 },
  { value: "30d", label: "30 days", ms: 30 * 86_400_000 },
] as const;

export type Preset = (typeof PRESETS)[number]["value"];
const USUAL: Preset = "24h";

/** The preset in the URL; undefined where a range of one's own is. */
export function presetOf(search: Search): Preset | undefined {
  if (numberOf(search, "from") !== undefined && numberOf(search, "to") !== undefined) return undefined;
  const named = PRESETS.find(({ value }) => value === search["range"]);
  return named?.value ?? USUAL;
}

/** The stretch of time a page shows: what was dragged over a plot, or the last so many hours. */
export function rangeOf(search: Search, now: number): Range {
  const from = numberOf(search, "from");
  const to = numberOf(search, "to");
  if (from !== undefined && to !== undefined && from < to) return { from, to };
  const ms = PRESETS.find(({ value }) => value === presetOf(search))?.ms ?? 86_400_000;
  return { from: now - ms, to: now };
}
