const MAX_LINE = 500;
const MAX_LINES = 10;

/** The last lines a server wrote to stderr: enough to tell what went wrong, whatever it writes. */
export class StderrTail {
  readonly #lines: string[] = [];
  readonly #decoder = new TextDecoder();
  #open = "";

  add(chunk: Uint8Array): void {
    const pieces = (this.#open + this.#decoder.decode(chunk, { stream: true })).split("\n");
    this.#open = (pieces.pop() ?? "").slice(0, MAX_LINE);
    for (const piece of pieces.slice(-MAX_LINES)) this.#push(piece);
  }

  get lines(): readonly string[] {
    return this.#open.trim() === "" ? this.#lines : [...this.#lines, this.#open].slice(-MAX_LINES);
  }

  #push(line: string): void {
    const shown = line.trimEnd().slice(0, MAX_LINE);
    if (shown === "") return;
    this.#lines.push(shown);
    if (this.#lines.length > MAX_LINES) this.#lines.shift();
  }
}
