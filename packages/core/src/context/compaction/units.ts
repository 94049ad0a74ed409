import type { Cut, LogEntry } from "../../schema/projection.ts";

/** This turn's opening: durable parts and the user's message, from the first to behind the last. It stays as it is. */
export interface Opening {
  readonly from: number;
  readonly to: number;
}

/** A stretch of the log that is cut whole or not at all. */
export interface Unit {
  readonly from: number;
  to: number;
  /** `step`: what the model said, with the results of its calls. `cut`: gone already. `none`: not sent anyway. */
  readonly kind: "user" | "step" | "cut" | "none";
  /** Added by a hook, or a result whose call is gone: it opens no turn. */
  readonly aside: boolean;
  /** A call in it has no result yet, or waits for somebody: nothing of it may change. */
  open: boolean;
}

/** Splits a log so that no call is ever parted from its result (B4). One pass. */
export function unitsOf(
  entries: readonly LogEntry[],
  upTo: number,
  cuts: readonly Cut[],
  open: readonly string[],
  opening: Opening | null,
): Unit[] {
  const units: Unit[] = [];
  const callAt = new Map<string, number>();
  const waiting = new Set(open);
  let next = 0;
  for (let i = 0; i < upTo; i++) {
    const cut = cuts[next];
    if (cut?.from === i) {
      units.push({ from: i, to: cut.to, kind: "cut", aside: false, open: false });
      i = cut.to - 1;
      next += 1;
      continue;
    }
    const entry = entries[i];
    if (entry === undefined) break;
    if (entry.role === "tool") {
      const at = callAt.get(entry.call_id);
      if (at === undefined) units.push({ from: i, to: i + 1, kind: "step", aside: true, open: false });
      else joinResult(units, at, i);
      if (!open.includes(entry.call_id)) waiting.delete(entry.call_id);
      continue;
    }
    const aside = entry.role === "user" && entry.by_hook !== undefined;
    units.push({ from: i, to: i + 1, kind: KINDS[entry.role], aside, open: false });
    if (entry.role !== "assistant") continue;
    for (const part of entry.parts) {
      if (part.type !== "tool_call") continue;
      callAt.set(part.call_id, i);
      waiting.add(part.call_id);
    }
  }
  for (const call of waiting) {
    const unit = unitAt(units, callAt.get(call));
    if (unit !== undefined) unit.open = true;
  }
  for (const edge of opening === null ? [] : [opening.from, opening.to]) {
    const unit = unitAt(units, edge);
    if (unit !== undefined && unit.from < edge && edge < unit.to) unit.open = true; // a result that came a turn late
  }
  return units;
}

const KINDS = { user: "user", assistant: "step", projection: "none" } as const;

/** A result belongs to its call, and so does whatever got in between. */
function joinResult(units: Unit[], callAt: number, resultAt: number): void {
  let last = units.at(-1);
  while (last !== undefined && last.from > callAt) {
    units.pop();
    last = units.at(-1);
  }
  if (last !== undefined) last.to = resultAt + 1;
}

/** The unit that a position is in. */
export function unitAt(units: readonly Unit[], position: number | undefined): Unit | undefined {
  if (position === undefined) return undefined;
  let low = 0;
  let high = units.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((units[middle]?.from ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return units[low];
}
