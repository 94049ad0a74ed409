import type { Probe, Report } from "./probe.ts";

/** Takes what a scanner has made up its mind about, in order. */
export interface Sink {
  text(piece: string): void;
  /** Something was found; of matches that overlap, the first gives its kind to all of it. */
  match(value: string, kind: string): void;
}

interface Match {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
  readonly glued: boolean;
}

/** Text that was given on is cut off once there is so much of it: not each time, not never. */
const SLACK = 1024;

/**
 * Runs probes over a text that arrives in pieces. Matches that overlap become one, so nothing any probe found is ever
 * given on as text; and nothing is given on before every probe is sure of it. However the text is cut, the sink is told the
 * same.
 */
export class Scanner {
  readonly #probes: readonly Probe[];
  readonly #sink: Sink;
  readonly #reach: number;
  readonly #report: Report;
  /** Where each probe goes on. */
  readonly #at: number[];
  #window: string;
  /** What of the window was given on. */
  #given: number;
  #found: Match[] = [];
  /** What was given on last was a match that may go on. */
  #open = false;

  /** `before` is text to look at and not to scan: what stands before the text, such as the key of a value. */
  constructor(probes: readonly Probe[], sink: Sink, before = "") {
    this.#probes = probes;
    this.#sink = sink;
    this.#reach = Math.max(0, ...probes.map(({ reach }) => reach));
    this.#window = before;
    this.#given = before.length;
    this.#at = probes.map(() => before.length);
    this.#report = (start, end, kind, glued = false) => {
      this.#found.push({ start, end, kind, glued });
    };
  }

  push(chunk: string): void {
    if (chunk !== "") this.#scan(chunk, false);
  }

  flush(): void {
    this.#scan("", true);
  }

  #scan(chunk: string, done: boolean): void {
    this.#window += chunk;
    const window = this.#window;
    let sure = window.length;
    for (const [i, probe] of this.#probes.entries()) {
      const at = probe.scan(window, this.#at[i] ?? 0, done, this.#report);
      this.#at[i] = at;
      if (at < sure) sure = at;
    }
    if (!done && sure === window.length && isHighSurrogate(window.charCodeAt(sure - 1))) sure -= 1;
    if (sure > this.#given) this.#giveUpTo(sure);
    if (this.#given - this.#reach > SLACK) this.#forget(this.#given - this.#reach);
  }

  #giveUpTo(sure: number): void {
    const matches = this.#found;
    if (matches.length > 1) matches.sort(inOrder);
    let left: Match[] = [];
    for (let i = 0; i < matches.length; ) {
      const first = matches[i];
      if (first === undefined) break;
      let end = first.end;
      let next = i + 1;
      for (let match = matches[next]; match !== undefined; match = matches[++next]) {
        if (match.start > end || (match.start === end && !match.glued)) break;
        if (match.end > end) end = match.end;
      }
      if (end > sure) {
        left = matches.slice(i);
        break;
      }
      const goesOn = first.glued && this.#open && first.start <= this.#given;
      this.#textUpTo(first.start);
      if (!goesOn) this.#sink.match(this.#window.slice(first.start, end), first.kind);
      this.#given = Math.max(this.#given, end);
      this.#open = true;
      i = next;
    }
    this.#found = left;
    this.#textUpTo(Math.min(sure, left[0]?.start ?? sure));
  }

  #textUpTo(end: number): void {
    if (end <= this.#given) return;
    this.#sink.text(this.#window.slice(this.#given, end));
    this.#given = end;
    this.#open = false;
  }

  #forget(length: number): void {
    this.#window = this.#window.slice(length);
    this.#given -= length;
    for (let i = 0; i < this.#at.length; i++) this.#at[i] = (this.#at[i] ?? 0) - length;
    this.#found = this.#found.map((match) => ({
      ...match,
      start: match.start - length,
      end: match.end - length,
    }));
  }
}

/** What goes on comes before what begins at the same place, and the longer before the shorter. */
function inOrder(a: Match, b: Match): number {
  return a.start - b.start || Number(b.glued) - Number(a.glued) || b.end - a.end;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}
