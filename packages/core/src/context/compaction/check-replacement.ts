import type { Message } from "../../schema/message.ts";
import type { Cut, Projection } from "../../schema/projection.ts";
import { walk } from "./project.ts";
import { type Unit, unitsOf } from "./units.ts";
import type { CompactionInput, ContextChange } from "./view.ts";

/** The log that a CONTEXT_WINDOW rail was shown. */
export type Replaceable = Pick<
  CompactionInput,
  "id" | "entries" | "upTo" | "projection" | "opening" | "open" | "count" | "fixed"
>;

/** A message as it was shown to the rail, and the entry it stands for. */
interface Shown {
  readonly message: Message;
  readonly at: number;
}

/** A part of the log between two things that must stay, and what the rail wants in its place. */
interface Segment {
  readonly from: number;
  readonly to: number;
  readonly shown: readonly Shown[];
  readonly wanted: readonly Message[];
}

/** Says what is wrong with the messages a CONTEXT_WINDOW rail wants sent instead (B4); undefined when nothing is. */
export function checkReplacement(messages: readonly Message[], log: Replaceable): string | undefined {
  const found = replace(messages, log);
  return "problem" in found ? found.problem : undefined;
}

/**
 * The projection that sends what a CONTEXT_WINDOW rail wants sent. Only what it changed is kept in it; null when that is
 * nothing.
 */
export function replace(
  messages: readonly Message[],
  log: Replaceable,
): { problem: string } | { projection: Projection | null; change: ContextChange } {
  const units = unitsOf(log.entries, log.upTo, log.projection?.cuts ?? [], log.open ?? [], log.opening);
  const open = openCalls(units, log);
  const problem = pairProblem(messages, open);
  if (problem !== undefined) return { problem };
  const segments = segmentsOf(messages, units, log);
  if (typeof segments === "string") return { problem: segments };

  const made: Cut[] = [];
  for (const segment of segments) {
    const cut = cutOf(segment, units);
    if (typeof cut === "string") return { problem: cut };
    if (cut !== null) made.push(cut);
  }
  const kept = (log.projection?.cuts ?? []).filter(
    (old) => !made.some(({ from, to }) => old.from >= from && old.to <= to),
  );
  const sizes = sizesOf(messages, log);
  const projection: Projection = {
    id: log.id,
    role: "projection",
    cuts: [...kept, ...made].sort((a, b) => a.from - b.from),
    stubs_to: log.projection?.stubs_to ?? 0,
    ...sizes,
  };
  const detail = `a rail decided what is sent of the conversation: ${messages.length} messages`;
  return {
    projection: made.length === 0 ? null : projection,
    change: { action: "replaced", ...sizes, detail },
  };
}

function sizesOf(messages: readonly Message[], { entries, upTo, projection, count, fixed }: Replaceable) {
  let before = fixed;
  walk(entries, 0, upTo, projection, (message) => {
    before += count(message);
  });
  const after = messages.reduce((tokens, message) => tokens + count(message), fixed);
  return { tokens_before: Math.ceil(before), tokens_after: Math.ceil(after) };
}

/** Calls that have no result yet, or wait for somebody. */
function openCalls(units: readonly Unit[], { entries, open = [] }: Replaceable): ReadonlySet<string> {
  const calls = new Set(open);
  for (const { open: isOpen, from, to } of units) {
    for (let i = from; isOpen && i < to; i++) {
      const entry = entries[i];
      if (entry?.role !== "assistant") continue;
      for (const part of entry.parts) if (part.type === "tool_call") calls.add(part.call_id);
    }
  }
  return calls;
}

/** Providers refuse a call without its result right behind it, a result without its call, and ids used twice. */
export function pairProblem(
  messages: readonly Message[],
  open: ReadonlySet<string> = new Set(),
): string | undefined {
  const calls = new Set<string>();
  const wires = new Set<string>();
  let waiting = new Map<string, { tool: string; wire_id: string }>();
  const unanswered = () => {
    for (const [id, { tool }] of waiting)
      if (!open.has(id)) return `the call ${id} of ${tool} has no result right behind it`;
    return undefined;
  };
  for (const message of messages) {
    if (message.role === "tool") {
      const { call_id, tool, wire_id } = message;
      const call = waiting.get(call_id);
      if (call === undefined) return `the result ${message.id} of ${tool} has no call right before it`;
      if (call.wire_id !== wire_id) return `the result ${message.id} has another wire_id than its call`;
      waiting.delete(call_id);
      continue;
    }
    const problem = unanswered();
    if (problem !== undefined) return problem;
    waiting = new Map();
    for (const part of message.role === "assistant" ? message.parts : []) {
      if (part.type !== "tool_call") continue;
      if (calls.has(part.call_id) || wires.has(part.wire_id))
        return `the call ${part.call_id} of ${part.tool} is there twice`;
      calls.add(part.call_id);
      wires.add(part.wire_id);
      waiting.set(part.call_id, part);
    }
  }
  return unanswered();
}

/** Splits both at what must stay as it is: this turn's opening and what is open. A text says what is missing. */
function segmentsOf(
  messages: readonly Message[],
  units: readonly Unit[],
  { entries, upTo, projection, opening }: Replaceable,
): Segment[] | string {
  const shown: Shown[] = [];
  walk(entries, 0, upTo, projection, (message, at) => shown.push({ message, at }));
  const anchors = [...units.filter(({ open }) => open), ...(opening === null ? [] : [opening])]
    .map(({ from, to }) => ({ from, to, isOpening: from === opening?.from }))
    .sort((a, b) => a.from - b.from);

  const segments: Segment[] = [];
  let from = 0;
  let seen = 0;
  let used = 0;
  for (const anchor of anchors) {
    const start = indexAt(shown, anchor.from, seen);
    const end = indexAt(shown, anchor.to, start);
    const fixed = shown.slice(start, end).map(({ message }) => message);
    const [first] = fixed;
    if (first !== undefined) {
      const at = messages.findIndex((message, i) => i >= used && message.id === first.id);
      const isThere = at >= 0 && fixed.every((message, i) => isSame(message, messages[at + i]));
      if (!isThere) {
        const what = anchor.isOpening ? "this turn's opening" : "a call that waits for its result";
        return `${what} (${fixed.map(({ id }) => id).join(", ")}) must be in it unchanged, together and in place`;
      }
      segments.push({
        from,
        to: anchor.from,
        shown: shown.slice(seen, start),
        wanted: messages.slice(used, at),
      });
      used = at + fixed.length;
    } else segments.push({ from, to: anchor.from, shown: shown.slice(seen, start), wanted: [] });
    from = anchor.to;
    seen = end;
  }
  segments.push({ from, to: upTo, shown: shown.slice(seen), wanted: messages.slice(used) });
  return segments;
}

function indexAt(shown: readonly Shown[], position: number, from: number): number {
  let i = from;
  while ((shown[i]?.at ?? position) < position) i += 1;
  return i;
}

/** The least to be cut so that what is wanted can stand there; null when nothing changed. */
function cutOf({ from, to, shown, wanted }: Segment, units: readonly Unit[]): Cut | string | null {
  const starts = new Set(units.map((unit) => unit.from));
  const edge = (i: number) => (i < shown.length ? (shown[i]?.at ?? to) : to);
  // Between units, and not between the messages that stand in for one cut.
  const isEdge = (i: number) =>
    i === 0 || i === shown.length || (starts.has(edge(i)) && shown[i - 1]?.at !== shown[i]?.at);

  const most = Math.min(shown.length, wanted.length);
  let head = 0;
  while (head < most && isSame(shown[head]?.message, wanted[head])) head += 1;
  if (head === shown.length && head === wanted.length) return null;
  while (!isEdge(head)) head -= 1;
  let tail = 0;
  while (tail < most - head && isSame(shown.at(-1 - tail)?.message, wanted.at(-1 - tail))) tail += 1;
  while (!isEdge(shown.length - tail)) tail -= 1;
  // Something was added and nothing taken away: it needs an entry to stand in for.
  while (head + tail === shown.length && head > 0)
    do head -= 1;
    while (!isEdge(head));
  while (head + tail === shown.length && tail > 0)
    do tail -= 1;
    while (!isEdge(shown.length - tail));

  const start = head === 0 ? from : edge(head);
  const end = edge(shown.length - tail);
  const messages = wanted.slice(head, wanted.length - tail);
  if (start >= end) {
    const [added] = messages;
    return `${added?.id ?? "a message"} is added where the conversation has nothing it could stand in for`;
  }
  return { from: start, to: end, summary: null, ...(messages.length > 0 ? { messages } : {}) };
}

/** The same JSON; the order of keys does not matter, and what is undefined is not there. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = keysOf(a);
  if (keys.length !== keysOf(b).length) return false;
  return keys.every((key) => isSame(Reflect.get(a, key), Reflect.get(b, key)));
}

function keysOf(value: object): string[] {
  return Object.keys(value).filter((key) => Reflect.get(value, key) !== undefined);
}
