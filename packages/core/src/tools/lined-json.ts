import type { Content } from "./artifact.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const NEWLINE = 0x0a;

/**
 * Written JSON in lines, so that it can be paged and searched: broken after a comma, once the line is long enough, and the
 * sooner the further out the comma is. It stays the same JSON and hardly gets longer. Where it is broken has nothing to do
 * with where pieces end. It may be large: no text is made of it on the way.
 */
export class LinedJson implements Content {
  readonly #json: Content;

  constructor(json: Content) {
    this.#json = json;
  }

  *[Symbol.iterator](): Generator<Uint8Array> {
    const place = new Place();
    let lined = new Uint8Array(0);
    for (const piece of this.#json) {
      if (lined.length < 2 * piece.length) lined = new Uint8Array(2 * piece.length); // no more breaks than bytes
      yield lined.subarray(0, place.copy(piece, lined));
    }
  }
}

/** How far into the JSON this is. */
class Place {
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** How many characters its line has so far. */
  #length = 0;

  /** Copies with breaks; returns how much it has become. */
  copy(from: Uint8Array, to: Uint8Array): number {
    let at = 0;
    for (let i = 0; i < from.length; i++) {
      const byte = from[i] ?? 0;
      to[at++] = byte;
      if ((byte & 0xc0) !== 0x80) this.#length += 1; // else it goes on with a character
      if (this.#inString) this.#takeInside(byte);
      else if (this.#endsLine(byte)) {
        to[at++] = NEWLINE;
        this.#length = 0;
      }
    }
    return at;
  }

  #takeInside(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#inString = false;
  }

  #endsLine(byte: number): boolean {
    if (byte === QUOTE) this.#inString = true;
    // [ { and ] } differ from one another in one bit only.
    else if ((byte | 0x20) === 0x7b) this.#depth += 1;
    else if ((byte | 0x20) === 0x7d) this.#depth -= 1;
    return byte === COMMA && this.#length > Math.min(this.#depth, 3) * 40;
  }
}
