import { WriteStream } from "node:tty";
import { styleText } from "node:util";
import type { Io, Output } from "../io.ts";
import { Flow, type FlowOptions, flowed } from "./flow.ts";

type Style = Parameters<typeof styleText>[0];

/** Lines longer than this are hard to read. */
const WIDEST = 84;

/** A stream that people read: its width, its colours, and a line that says what is being waited for. */
export class Screen {
  readonly #stream: Output;
  readonly #live: boolean;
  readonly #coloured: boolean;
  readonly #fileWidth: number;
  #waiting: NodeJS.Timeout | undefined;
  #shown = false;
  #lineOpen = false;

  constructor(stream: Output, env: Io["env"], { wrapFiles = false } = {}) {
    this.#stream = stream;
    this.#fileWidth = wrapFiles ? WIDEST : Number.POSITIVE_INFINITY;
    this.#live = stream.isTTY === true && env.TERM !== "dumb";
    // Decided by the command's own environment, as Node decides it by that of the process.
    const mayColour = stream.isTTY === true || env.FORCE_COLOR !== undefined;
    this.#coloured = mayColour && WriteStream.prototype.getColorDepth({ ...env }) > 2;
  }

  /** Columns to use. Text that goes into a file is not wrapped unless asked for, so that it can be searched. */
  get width(): number {
    return this.#stream.isTTY ? Math.min((this.#stream.columns || 80) - 1, WIDEST) : this.#fileWidth;
  }

  /** Whether people look at it while it is written. */
  get isTerminal(): boolean {
    return this.#stream.isTTY === true;
  }

  /** Every column there is, for tables. A file has no end of the line. */
  get columns(): number {
    return this.#stream.isTTY ? (this.#stream.columns || 80) - 1 : Number.POSITIVE_INFINITY;
  }

  /** The width for what needs one in any case. */
  get pageWidth(): number {
    return Math.min(this.width, WIDEST);
  }

  paint(style: Style, text: string): string {
    return this.#coloured ? styleText(style, text, { validateStream: false }) : text;
  }

  write(text: string): void {
    if (text === "") return;
    this.settled();
    this.#lineOpen = !text.endsWith("\n");
    this.#stream.write(text);
  }

  line(text = ""): void {
    this.write(`${text}\n`);
  }

  /** A paragraph, wrapped. */
  paragraph(text: string, indent = 0, style?: Style): void {
    this.write(flowed(text, this.#flowOptions(indent, style)));
  }

  flow(indent: number, style?: Style): Flow {
    return new Flow((text) => this.write(text), this.#flowOptions(indent, style));
  }

  /** Says what is being waited for, and for how long, until something else is written. Only on a terminal. */
  waitFor(what: string): void {
    this.settled();
    if (!this.#live) return;
    const since = Date.now();
    this.#waiting = setInterval(() => {
      if (this.#lineOpen) return;
      const seconds = Math.round((Date.now() - since) / 1000);
      const text = this.paint("dim", `  ${what} · ${seconds} s`.slice(0, this.width));
      this.#stream.write(`${ERASE_LINE}${text}`);
      this.#shown = true;
    }, 1000);
  }

  /** Ends the waiting, without a trace. */
  settled(): void {
    clearInterval(this.#waiting);
    this.#waiting = undefined;
    if (this.#shown) this.#stream.write(ERASE_LINE);
    this.#shown = false;
  }

  /** The same screen, with a bar before every line: what is shown there belongs to somebody else. Told before it writes. */
  inset(before: () => void): Screen {
    return new Inset(this, this.#stream, before);
  }

  #flowOptions(indent: number, style?: Style): FlowOptions {
    const options = { width: this.width, indent };
    return style === undefined ? options : { ...options, style: (text) => this.paint(style, text) };
  }
}

const BAR = "│ ";

/** A part of a screen. Text is indented elsewhere, so nothing that a model says looks like it. */
class Inset extends Screen {
  readonly #outer: Screen;
  readonly #before: () => void;
  #atStart = true;

  constructor(outer: Screen, stream: Output, before: () => void) {
    super(stream, {});
    this.#outer = outer;
    this.#before = before;
  }

  override get width(): number {
    return this.#outer.width - BAR.length;
  }

  override write(text: string): void {
    if (text !== "" && this.#atStart) this.#before();
    let out = "";
    for (const piece of text.split(/(?<=\n)/)) {
      if (this.#atStart && piece !== "") out += this.paint("dim", piece === "\n" ? BAR.trimEnd() : BAR);
      out += piece;
      this.#atStart = piece.endsWith("\n");
    }
    this.#outer.write(out);
  }

  override paint(style: Style, text: string): string {
    return this.#outer.paint(style, text);
  }

  override waitFor(what: string): void {
    this.#outer.waitFor(what);
  }

  override settled(): void {
    this.#outer.settled();
  }
}

const ERASE_LINE = "\r\x1b[2K";
