import type { Content } from "./artifact.ts";
import { LinedJson } from "./lined-json.ts";
import { cutAt } from "./text-cut.ts";

/** A result as it is kept, with as much of its text as may be shown. */
export interface TextContent {
  readonly media_type: string;
  readonly content: Content;
  /** How many characters it has. */
  readonly chars: number;
  /** All of it, or its beginning and its end, each longer than anybody is shown. */
  readonly ends: string;
}

/** Longer than what is shown of a result, in any script. */
const END_BYTES = 16_384;
/** So much of a text is encoded at once. */
const PIECE = 65_536;

/** A result that was written in pieces. JSON is kept in lines, so that it can be paged and searched. */
export function contentOf(type: "text" | "json", pieces: readonly string[]): TextContent {
  const encoded = new Encoded(pieces);
  const content = type === "json" ? new LinedJson(encoded) : encoded;
  const media_type = type === "json" ? "application/json" : "text/plain";
  return { media_type, content, ...endsOf(content) };
}

/** A text as UTF-8, encoded anew for whoever reads it: all of it at once would be as large again. */
export class Encoded implements Content {
  readonly #texts: Iterable<string>;

  constructor(texts: Iterable<string>) {
    this.#texts = texts;
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    const encoder = new TextEncoder();
    const bytes = new Uint8Array(3 * PIECE);
    for (const text of this.#texts) {
      for (let from = 0; from < text.length; ) {
        const to = cutAt(text, from + PIECE);
        const { written } = encoder.encodeInto(text.slice(from, to), bytes);
        yield bytes.subarray(0, written);
        from = to;
      }
    }
  }
}

function endsOf(content: Content): { readonly chars: number; readonly ends: string } {
  const kept = new Uint8Array(2 * END_BYTES);
  let chars = 0;
  let filled = 0;
  for (const piece of content) {
    chars += charsIn(piece);
    const fitting = piece.subarray(0, kept.length - filled);
    kept.set(fitting, filled);
    filled += fitting.length;
    // The first half stays; the second one moves on to the end.
    const last = piece.subarray(fitting.length).subarray(-END_BYTES);
    kept.copyWithin(END_BYTES, END_BYTES + last.length);
    kept.set(last, kept.length - last.length);
  }
  return { chars, ends: textOf(kept.subarray(0, filled)) };
}

/** How many characters begin here. Goes by numbers: an iterator makes an object of every byte until it is compiled. */
function charsIn(bytes: Uint8Array): number {
  let chars = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    if ((byte & 0xc0) !== 0x80) chars += byte >= 0xf0 ? 2 : 1; // four bytes are a pair of surrogates
  }
  return chars;
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
