import { cutAt, utf8Length } from "./text-cut.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const NEWLINE = 0x0a;
/** So much of the text is looked at at once. */
const PIECE = 65_536;

/** JSON in lines, as UTF-8. */
export interface JsonLines {
  readonly content: Uint8Array;
  readonly chars: number;
}

/**
 * Breaks written JSON into lines, so that it can be paged and searched: after a comma, once the line is long enough, and the
 * sooner the further out the comma is. It stays the same JSON and hardly gets longer. It may be large: nothing is made of
 * it on the way, neither another text nor one for each line.
 */
export function jsonLines(text: string): JsonLines {
  const breaks = breaksOf(text);
  const content = new Uint8Array(utf8Length(text) + breaks.length);
  const encoder = new TextEncoder();
  const bytes = new Uint8Array(3 * PIECE);
  let unit = 0; // where in the text this is
  let line = 0;
  let at = 0;
  for (let from = 0; from < text.length; ) {
    const to = cutAt(text, from + PIECE);
    const { written } = encoder.encodeInto(text.slice(from, to), bytes);
    for (let i = 0; i < written; i++) {
      const byte = bytes[i] ?? 0;
      if ((byte & 0xc0) !== 0x80) {
        if (unit === breaks[line]) {
          content[at++] = NEWLINE;
          line += 1;
        }
        unit += byte >= 0xf0 ? 2 : 1; // four bytes are a pair of surrogates
      }
      content[at++] = byte;
    }
    from = to;
  }
  return { content, chars: text.length + breaks.length };
}

/** Where lines begin. */
function breaksOf(text: string): readonly number[] {
  const breaks: number[] = [];
  let from = 0;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === QUOTE) i = endOfString(text, i);
    // [ { and ] } differ from one another in one bit only.
    else if ((unit | 0x20) === 0x7b) depth += 1;
    else if ((unit | 0x20) === 0x7d) depth -= 1;
    else if (unit === COMMA && i + 1 - from > Math.min(depth, 3) * 40) {
      from = i + 1;
      breaks.push(from);
    }
  }
  return breaks;
}

/** Where the string that begins here ends. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at > 0; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text.charCodeAt(at - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at;
  }
  return text.length;
}
