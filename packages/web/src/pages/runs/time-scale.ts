import { formatDuration } from "../../format/duration.ts";
import { barOf, type Row } from "./waterfall.ts";

interface Gap {
  readonly from: number;
  readonly to: number;
}

interface Tick {
  /** Between 0 and 1. */
  readonly place: number;
  readonly label: string;
}

/** Where times lie on the axis, from 0 to 1. Long stretches in which nothing was done may be drawn short. */
export interface TimeScale {
  place(at: number): number;
  readonly ticks: readonly Tick[];
  /** Stretches drawn short, with their places. */
  readonly breaks: readonly { readonly from: number; readonly to: number; readonly label: string }[];
}

/** Stretches of a run in which nothing worked: it waited for somebody, or nobody had it. */
export function idleGaps(rows: Iterable<Row>, from: number, to: number): Gap[] {
  const work: Gap[] = [];
  for (const row of rows) {
    if (row.kind !== "model" && row.kind !== "tool" && row.kind !== "rail" && row.kind !== "node") continue;
    // What runs in it tells; of a node only where somebody was asked meanwhile.
    const isTold = row.kind === "node" ? row.asks !== undefined : hasChildRuns(row);
    if (isTold && row.children.length > 0) continue;
    for (const segment of barOf(row, to))
      if (segment.kind === "work" && segment.to !== null) work.push({ from: segment.from, to: segment.to });
  }
  work.sort((a, b) => a.from - b.from);
  const gaps: Gap[] = [];
  let until = from;
  for (const stretch of work) {
    if (stretch.from > until) gaps.push({ from: until, to: stretch.from });
    until = Math.max(until, stretch.to);
  }
  if (to > until) gaps.push({ from: until, to });
  return gaps;
}

const hasChildRuns = ({ children }: Row) => children.some(({ kind }) => kind === "subagent");

/** A gap is worth shortening when it dwarfs the work. */
const SHORTEST_MS = 5_000;
/** So much of the work's width a shortened gap takes. */
const SHARE = 0.08;

export function timeScale(from: number, to: number, gaps: readonly Gap[] = []): TimeScale {
  const span = Math.max(1, to - from);
  const idle = gaps.reduce((sum, gap) => sum + gap.to - gap.from, 0);
  const busy = Math.max(1, span - idle);
  const short = gaps.filter((gap) => gap.to - gap.from > Math.max(SHORTEST_MS, busy / 4));
  const width = busy * SHARE;
  const total = span - short.reduce((sum, gap) => sum + gap.to - gap.from - width, 0);
  const place = (at: number) => {
    let lost = 0;
    for (const gap of short) {
      if (at <= gap.from) break;
      const length = gap.to - gap.from;
      lost += Math.min(1, (at - gap.from) / length) * (length - width);
    }
    return Math.min(1, Math.max(0, (at - from - lost) / total));
  };
  const breaks = short.map((gap) => ({
    from: place(gap.from),
    to: place(gap.to),
    label: `${formatDuration(gap.to - gap.from)} in which nothing ran`,
  }));
  return { place, breaks, ticks: ticksOf(from, to, total, place, short) };
}

function ticksOf(
  from: number,
  to: number,
  total: number,
  place: (at: number) => number,
  short: readonly Gap[],
): Tick[] {
  const step = niceStep(total / 4);
  const ticks: Tick[] = [{ place: 0, label: "0" }];
  let last = 0;
  // Along the work only: a tick for every second of a night's wait is none at all.
  for (let at = from + step; at < to; ) {
    const gap = short.find((one) => at > one.from && at < one.to);
    if (gap) {
      at = from + Math.ceil((gap.to - from) / step) * step;
      continue;
    }
    const where = place(at);
    const label = formatDuration(at - from);
    if (where - last >= 0.12 && where <= 1 - label.length * 0.018) {
      ticks.push({ place: where, label });
      last = where;
    }
    at += step;
  }
  return ticks;
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 10e3, 15e3, 30e3, 60e3, 120e3, 300e3, 600e3,
];

function niceStep(least: number): number {
  const found = STEPS.find((step) => step >= least);
  if (found !== undefined) return found;
  const hour = 3_600_000;
  return Math.ceil(least / hour) * hour;
}
