import { isPlain } from "../schema/preview.ts";
import { cutAt } from "./text-cut.ts";

/** About so many characters are written at once: what is this large is not copied by the garbage collector. */
const PIECE = 1_048_576;
/** What is taken for the size of a value that only writes itself, or is deep inside of another. */
const UNKNOWN = 256;
const NUMBER = 8;
const BRACKETS = 16;
/** What is further in than this is written at once: to look for what is large at every depth takes long. */
const DEEPEST = 100;

/**
 * Writes a value as `JSON.stringify` does, but in pieces: of a large text the engine makes two at once, and one character
 * beyond Latin-1 doubles all of it. Pieces end anywhere but inside of a character or an escape. Nothing for what has no JSON
 * form; more than `most` characters are not written to the end. A `toJSON` in a large list is told its place in the piece.
 */
export function jsonPieces(value: unknown, most: number, size = PIECE): readonly string[] | undefined {
  if (roomAfter(value, size) < 0) {
    const writer = new Writer(most, size);
    writer.write(value);
    return writer.pieces;
  }
  const text: string | undefined = JSON.stringify(value);
  return text === undefined ? undefined : [text];
}

class Writer {
  readonly pieces: string[] = [];
  #left: number;
  readonly #size: number;
  #depth = 0;

  constructor(most: number, size: number) {
    this.#left = most;
    this.#size = size;
  }

  write(value: unknown): void {
    this.#depth += 1;
    if (typeof value === "string") this.#text(value);
    else if (Array.isArray(value)) this.#list(value);
    else if (typeof value === "object" && value !== null) this.#record(value); // nothing else is large
    this.#depth -= 1;
  }

  #text(value: string): void {
    this.#put('"');
    for (let from = 0; from < value.length && this.#left >= 0; ) {
      const to = cutAt(value, from + this.#size);
      this.#put(inside(JSON.stringify(value.slice(from, to))));
      from = to;
    }
    this.#put('"');
  }

  #list(values: readonly unknown[]): void {
    const between = this.#separator();
    let batch: unknown[] = [];
    let room = this.#size;
    const flush = () => {
      if (batch.length === 0) return;
      between();
      this.#put(inside(JSON.stringify(batch)));
      batch = [];
      room = this.#size;
    };
    this.#put("[");
    for (const one of values) {
      if (this.#left < 0) return;
      const left = roomAfter(one, this.#size);
      if (left < 0 && this.#depth < DEEPEST) {
        flush();
        between();
        this.write(one);
      } else {
        batch.push(one);
        room -= this.#size - left;
        if (room < 0) flush();
      }
    }
    flush();
    this.#put("]");
  }

  #record(values: object): void {
    const between = this.#separator();
    let batch: [string, unknown][] = [];
    let room = this.#size;
    const flush = () => {
      const text = inside(JSON.stringify(Object.fromEntries(batch)));
      if (text !== "") between(); // what has no JSON form is left out
      this.#put(text);
      batch = [];
      room = this.#size;
    };
    this.#put("{");
    for (const key of Object.keys(values)) {
      if (this.#left < 0) return;
      const one: unknown = Reflect.get(values, key);
      const left = roomAfter(one, this.#size);
      if (left < 0 && this.#depth < DEEPEST) {
        flush();
        between();
        this.#put(`${JSON.stringify(key)}:`);
        this.write(one);
      } else {
        batch.push([key, one]);
        room -= key.length + this.#size - left;
        if (room < 0) flush();
      }
    }
    flush();
    this.#put("}");
  }

  #separator(): () => void {
    let isFirst = true;
    return () => {
      if (!isFirst) this.#put(",");
      isFirst = false;
    };
  }

  #put(text: string): void {
    if (text === "") return;
    this.pieces.push(text);
    this.#left -= text.length;
  }
}

/** Without its quotes or brackets. */
function inside(text: string): string {
  return text.slice(1, -1);
}

/** What is left of a number of characters once a value is written; below zero nothing more of it is looked at. */
function roomAfter(value: unknown, room: number, depth = 0): number {
  if (typeof value === "string") return room - value.length;
  if (typeof value !== "object" || value === null) return room - NUMBER;
  if (depth > DEEPEST || !isWalkable(value)) return room - UNKNOWN;
  let left = room - BRACKETS;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length && left >= 0; i++) left = roomAfter(value[i], left, depth + 1);
    return left;
  }
  for (const key in value) {
    if (left < 0) return left;
    left = roomAfter(Reflect.get(value, key), left - key.length, depth + 1);
  }
  return left;
}

/** Whether nothing but its entries says how it is written. */
function isWalkable(value: object): boolean {
  if (typeof Reflect.get(value, "toJSON") === "function") return false;
  return Array.isArray(value) || isPlain(value);
}
