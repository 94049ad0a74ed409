import type { BusItem, BusLimits, Gap } from "./bus.ts";
import {
  type Delta,
  endOf,
  extend,
  keyOf,
  type Open,
  openText,
  type Progress,
  readOpen,
} from "./open-stream.ts";
import type { Reader } from "./reader.ts";

const MAX_STREAMS = 256;
const MAX_PROGRESS = 64;

/**
 * What is known of one run that happens now. Not a queue: it holds the text of each open message once, and for each reader
 * how much of it that reader has. So a slow reader costs a number, and gets what it missed in one piece.
 */
export class Topic {
  readonly runId: string;
  readonly #limits: BusLimits;
  readonly #open = new Map<string, Open>();
  #chars = 0;
  #committed = 0;
  /** Every new message follows an event at least as late as the one before it. */
  #newest = 0;
  readonly #readers = new Set<Reader>();
  /** Those of them that wait for something to happen. */
  readonly #waiting = new Set<Reader>();
  touchedAt = Date.now();

  constructor(runId: string, limits: BusLimits) {
    this.runId = runId;
    this.#limits = limits;
  }

  /** Whether anybody reads it here. */
  get isRead(): boolean {
    for (const reader of this.#readers) if (!reader.localOnly) return true;
    return false;
  }

  /** Whether it holds anything that a later reader would want. */
  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** `remote`: they came from another process, so they are not sent to others again. */
  publish(items: readonly (BusItem | Gap)[], remote = false): void {
    this.touchedAt = Date.now();
    for (const item of items) this.#take(item, remote);
    this.#serve();
  }

  #take(item: BusItem | Gap, remote: boolean): void {
    switch (item.type) {
      case "committed":
        this.#committed = Math.max(this.#committed, item.seq);
        break;
      case "wake":
        for (const reader of this.#readers) reader.wake(item.what);
        break;
      case "gap":
        for (const reader of this.#readers) if (!remote || !reader.localOnly) reader.lose();
        break;
      case "mcp_progress":
        this.#report(item, remote);
        break;
      default:
        this.#append(item, remote);
    }
  }

  /** Forgets the messages. Nobody lost anything: the run has ended, and its durable events are in the store. */
  clear(): void {
    this.#open.clear();
    this.#chars = 0;
  }

  /** Forgets what came from other processes: from now on nobody here follows them. */
  clearRemote(): void {
    for (const [key, open] of this.#open) if (open.remote) this.#drop(key, open);
  }

  /** Whether it holds anything that this process has published. */
  get hasLocal(): boolean {
    for (const open of this.#open.values()) if (!open.remote) return true;
    return false;
  }

  /** What this reader gets next. */
  next(reader: Reader): BusItem | Gap | undefined {
    if (reader.lost) return this.#gap(reader);
    for (const open of this.#open.values()) {
      if (open.remote && reader.localOnly) continue;
      const place = this.#place(reader, open);
      if (place >= endOf(open)) continue;
      // What it follows is announced first.
      if (this.#hasNews(reader) && open.afterSeq > reader.committed) break;
      if (place < open.base && open.sort === "text") {
        open.places.set(reader, open.base);
        return this.#gap(reader);
      }
      return readOpen(open, reader, place);
    }
    if (this.#hasNews(reader)) {
      reader.committed = this.#committed;
      return { type: "committed", run_id: this.runId, seq: this.#committed };
    }
    const what = reader.wakes.shift();
    return what === undefined ? undefined : { type: "wake", run_id: this.runId, what };
  }

  add(reader: Reader): void {
    this.#readers.add(reader);
  }

  wait(reader: Reader): void {
    this.#waiting.add(reader);
  }

  remove(reader: Reader): void {
    this.#readers.delete(reader);
    this.#waiting.delete(reader);
    for (const open of this.#open.values()) open.places.delete(reader);
  }

  rewind(reader: Reader): void {
    for (const open of this.#open.values()) open.places.delete(reader);
  }

  end(): void {
    for (const reader of [...this.#readers]) reader.close();
  }

  #append(delta: Delta, remote: boolean): void {
    const key = keyOf(delta);
    let open = this.#open.get(key);
    if (open !== undefined && open.first.attempt !== delta.attempt) {
      if (delta.attempt < open.first.attempt) return;
      this.#drop(key, open);
      open = undefined;
    }
    if (open?.sort !== "text") {
      if (!this.#supersede(delta.after_seq)) return;
      this.#open.set(key, openText(delta, remote));
      this.#chars += delta.text.length;
    } else {
      this.#chars += extend(open, delta);
    }
    this.#shrink();
  }

  #report(report: Progress, remote: boolean): void {
    const key = keyOf(report);
    const open = this.#open.get(key);
    if (open?.sort !== "progress") {
      if (!this.#supersede(report.after_seq)) return;
      const { after_seq: afterSeq, offset: base } = report;
      const reports = [report];
      this.#open.set(key, {
        sort: "progress",
        first: report,
        afterSeq,
        base,
        reports,
        remote,
        places: new Map(),
      });
      this.#shrink();
      return;
    }
    const end = endOf(open);
    open.afterSeq = Math.max(open.afterSeq, report.after_seq);
    if (report.offset < end) return;
    if (report.offset > end) {
      open.reports.length = 0;
      open.base = report.offset;
    }
    open.reports.push(report);
    if (open.reports.length <= MAX_PROGRESS) return;
    open.reports.shift();
    open.base += 1;
  }

  /**
   * What was shown before an event that is committed by now is in the store, or was taken back. It is kept until something
   * newer is shown, since the text itself may be committed some events after the stream has ended. False for what is too
   * late itself: it was read again from the beginning of a stream.
   */
  #supersede(afterSeq: number): boolean {
    if (afterSeq < this.#newest) return false;
    this.#newest = afterSeq;
    for (const [key, open] of this.#open) if (open.afterSeq < afterSeq) this.#drop(key, open);
    return true;
  }

  #drop(key: string, open: Open): void {
    this.#open.delete(key);
    if (open.sort === "text") this.#chars -= open.text.length;
  }

  /** The oldest goes first; of a message that is alone too long, its beginning. */
  #shrink(): void {
    while (this.#open.size > MAX_STREAMS || this.#chars > this.#limits.maxChars) {
      const [entry] = this.#open;
      if (entry === undefined) return;
      const [key, open] = entry;
      if (this.#open.size === 1 && open.sort === "text") {
        const cut = Math.ceil(open.text.length / 2);
        open.base += cut;
        open.text = open.text.slice(cut);
        this.#chars -= cut;
        continue;
      }
      for (const reader of this.#readers) if (this.#place(reader, open) < endOf(open)) reader.lose();
      this.#drop(key, open);
    }
  }

  /** Where a reader is; one that has not begun is where its position says. */
  #place(reader: Reader, open: Open): number {
    const place = open.places.get(reader);
    if (place !== undefined) return place;
    const { first } = open;
    if (first.type === "mcp_progress") return open.afterSeq < reader.from.seq ? endOf(open) : open.base;
    const { message } = reader.from;
    if (message?.id !== first.message_id) return open.afterSeq < reader.from.seq ? endOf(open) : 0;
    if (first.type === "text_delta") return message.text;
    return first.type === "reasoning_delta" ? message.reasoning : (message.inputs[first.call_id] ?? 0);
  }

  #hasNews(reader: Reader): boolean {
    return this.#committed > reader.committed && !reader.localOnly;
  }

  #gap(reader: Reader): Gap {
    reader.lost = false;
    return { type: "gap", run_id: this.runId };
  }

  #serve(): void {
    for (const reader of this.#waiting) {
      const item = this.next(reader);
      if (item === undefined) continue;
      this.#waiting.delete(reader);
      reader.hand(item);
    }
  }
}
