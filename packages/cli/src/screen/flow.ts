import { clean } from "./clean.ts";
import { graphemes, WIDE, widthOf } from "./width.ts";

export interface FlowOptions {
  /** Columns, indent included; `Infinity` leaves lines as they are. */
  readonly width: number;
  /** Every line starts this far in, so that no text can look like a line of ours. */
  readonly indent: number;
  readonly style?: (text: string) => string;
}

const TOKENS = new RegExp(`\\n|[^\\S\\n]+|[${WIDE}]\\p{M}*|[^\\s${WIDE}]+`, "gu");
const LONGEST_HELD = 200;
const BLANK = /^[^\S\n]+$/;

/**
 * Text that arrives in pieces, wrapped between words as it comes. A word is held until its end is known, line breaks until
 * something follows: those at either end of a text would only leave holes.
 */
export class Flow {
  readonly #write: (text: string) => void;
  readonly #options: FlowOptions;
  #held = "";
  #blank = "";
  #breaks = 0;
  /** How far in the first word of the line stands; what does not fit goes on below it. */
  #lead = 0;
  #column = 0;

  constructor(write: (text: string) => void, options: FlowOptions) {
    this.#write = write;
    this.#options = options;
  }

  push(text: string): void {
    const tokens = (this.#held + clean(text)).match(TOKENS) ?? [];
    const last = tokens.at(-1) ?? "";
    const complete = last === "\n" || widthOf(last) >= Math.min(this.#room, LONGEST_HELD);
    this.#held = complete ? "" : last;
    for (const token of complete ? tokens : tokens.slice(0, -1)) this.#place(token);
  }

  /** Shows what is held and ends the line. */
  end(): void {
    if (this.#held !== "") this.#place(this.#held);
    this.#held = "";
    if (this.#column > 0) this.#newline();
  }

  get #room(): number {
    return Math.max(this.#options.width - this.#options.indent, 10);
  }

  #place(token: string): void {
    if (token === "\n") {
      this.#breaks += 1;
      this.#blank = "";
    } else if (BLANK.test(token)) {
      this.#blank = token.replaceAll("\t", "    ");
    } else {
      this.#break();
      this.#word(token);
    }
  }

  #break(): void {
    if (this.#column > 0 && this.#breaks > 0) {
      this.#write("\n".repeat(this.#breaks));
      this.#column = 0;
    }
    this.#breaks = 0;
  }

  #word(word: string): void {
    const end = this.#options.indent + this.#room;
    let before = this.#blank;
    this.#blank = "";
    if (this.#column === 0) {
      // By half at most: blanks past the edge would put the word where lines of ours start.
      const blanks = Math.min(widthOf(before), Math.floor(this.#room / 2));
      this.#lead = this.#options.indent + blanks;
      before = " ".repeat(this.#lead);
    } else if (this.#column + widthOf(before) + widthOf(word) > end) {
      this.#newline();
      before = " ".repeat(this.#lead);
    }
    let line = before;
    let column = this.#column + widthOf(before);
    for (const char of column + widthOf(word) > end ? graphemes(word) : [word]) {
      if (column + widthOf(char) > end && column > this.#lead) {
        this.#print(line, column);
        this.#newline();
        line = " ".repeat(this.#lead);
        column = this.#lead;
      }
      line += char;
      column += widthOf(char);
    }
    this.#print(line, column);
  }

  #print(text: string, column: number): void {
    this.#write(this.#options.style ? this.#options.style(text) : text);
    this.#column = column;
  }

  #newline(): void {
    this.#column = 0;
    this.#write("\n");
  }
}

/** A whole text, wrapped and indented, with a line break at its end. */
export function flowed(text: string, options: FlowOptions): string {
  let out = "";
  const flow = new Flow((piece) => {
    out += piece;
  }, options);
  flow.push(text);
  flow.end();
  return out;
}
