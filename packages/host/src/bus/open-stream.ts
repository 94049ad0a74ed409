import type { LiveEvent, LiveEventOf } from "trackside/schema";
import type { Reader } from "./reader.ts";

export type Delta = LiveEventOf<"text_delta" | "reasoning_delta" | "tool_input_delta">;
export type Progress = LiveEventOf<"mcp_progress">;

const FLATTEN_EVERY = 128;

/** How far a reader has come is kept with what it reads, so that both are forgotten together. */
type Places = Map<Reader, number>;

/** The characters of one kind in one message, as far as they are kept: `text` begins at `base`. */
export interface OpenText {
  readonly sort: "text";
  readonly first: Delta;
  afterSeq: number;
  base: number;
  text: string;
  /** The piece that came last: who has all before it is given just that, without flattening the whole text. */
  last: { readonly offset: number; readonly text: string };
  pieces: number;
  readonly remote: boolean;
  readonly places: Places;
}

/** The last reports of a call: `reports[0]` is the one with offset `base`. */
export interface OpenProgress {
  readonly sort: "progress";
  readonly first: Progress;
  afterSeq: number;
  base: number;
  readonly reports: Progress[];
  readonly remote: boolean;
  readonly places: Places;
}

export type Open = OpenText | OpenProgress;

export function openText(first: Delta, remote: boolean): OpenText {
  const { after_seq: afterSeq, offset: base, text } = first;
  const last = { offset: base, text };
  return { sort: "text", first, afterSeq, base, text, last, pieces: 1, remote, places: new Map() };
}

/** How many characters it now holds more. What it has already, it does not take again. */
export function extend(open: OpenText, delta: Delta): number {
  const before = open.text.length;
  const end = endOf(open);
  open.afterSeq = Math.max(open.afterSeq, delta.after_seq);
  if (delta.offset > end) {
    // Something between is missing: who had all until here gets a gap, since its place is now before the base.
    open.base = delta.offset;
    open.text = delta.text;
    open.last = delta;
    return open.text.length - before;
  }
  const added = delta.text.slice(end - delta.offset);
  if (added === "") return 0;
  open.text += added;
  open.last = { offset: end, text: added };
  open.pieces += 1;
  // Looking at a character makes one string of what is a tree of pieces until then, at many times their size.
  if (open.pieces % FLATTEN_EVERY === 0) open.text.charCodeAt(0);
  return added.length;
}

export const endOf = (open: Open): number =>
  open.base + (open.sort === "text" ? open.text.length : open.reports.length);

export function readOpen(open: Open, reader: Reader, place: number): LiveEvent | undefined {
  if (open.sort === "progress") {
    open.places.set(reader, Math.max(place, open.base) + 1);
    return open.reports[Math.max(place - open.base, 0)];
  }
  open.places.set(reader, endOf(open));
  const { last, text } = open;
  const rest = last.offset === place ? last.text : text.slice(place - open.base);
  return { ...open.first, after_seq: open.afterSeq, offset: place, text: rest };
}

// A line break is in no id.
export function keyOf(event: LiveEvent): string {
  if (event.type === "mcp_progress") return `${event.type}\n${event.call_id}\n${event.attempt}`;
  const call = event.type === "tool_input_delta" ? event.call_id : "";
  return `${event.type}\n${event.message_id}\n${call}`;
}
