/** What Trackside promises, relative to the other contestants of the same run. */
export interface Target {
  scenario: string;
  metric: string;
  atMost: number;
  /** Divide by the baseline's value, or by that of the best peer. Absent: the value itself. */
  against?: "baseline" | "best peer";
  says: string;
}

export const targets: Target[] = [
  {
    scenario: "steps",
    metric: "stepMicros",
    against: "baseline",
    atMost: 5,
    says: "per step at most 5× bare",
  },
  {
    scenario: "steps",
    metric: "stepMicros",
    against: "best peer",
    atMost: 1 / 5,
    says: "per step at least 5× faster than the fastest peer",
  },
  { scenario: "steps", metric: "heapKiB", atMost: 10, says: "at most 10 KiB of heap per step" },
  {
    scenario: "growth",
    metric: "ratio",
    atMost: 1.2,
    says: "a step at 500 steps costs at most 1.2× one at 10",
  },
  {
    scenario: "stream",
    metric: "deltaMicros",
    against: "baseline",
    atMost: 2,
    says: "streaming at most 2× bare",
  },
  {
    scenario: "stream",
    metric: "deltaMicros",
    against: "best peer",
    atMost: 1,
    says: "streaming ahead of every peer",
  },
  { scenario: "stream", metric: "firstDeltaMillis", atMost: 0.2, says: "first delta within 0.2 ms" },
  {
    scenario: "concurrent",
    metric: "totalMillis",
    against: "baseline",
    atMost: 4,
    says: "1,000 concurrent runs at most 4× bare",
  },
  { scenario: "concurrent", metric: "heapMB", atMost: 40, says: "1,000 concurrent runs within 40 MB" },
  { scenario: "hooks", metric: "hookNanos", atMost: 200, says: "a no-op hook at most 200 ns" },
  { scenario: "rails", metric: "railNanos", atMost: 200, says: "a no-op rail at most 200 ns" },
  {
    scenario: "import",
    metric: "importMillis",
    against: "baseline",
    atMost: 1.5,
    says: "import at most 1.5× importing zod",
  },
  { scenario: "import", metric: "packages", atMost: 5, says: "at most 5 transitive packages" },
];
