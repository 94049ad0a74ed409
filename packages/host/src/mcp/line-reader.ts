/** Cuts bytes into lines without ever holding more than a line of the largest size allowed. */
export class LineReader {
  readonly #maxBytes: number;
  #open: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that `chunk` completes. Throws `LineTooLong` when one grows above the limit. */
  *add(chunk: Buffer): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      this.#keep(chunk.subarray(start, end));
      start = end + 1;
      const line = this.#open.length === 1 ? this.#open[0] : Buffer.concat(this.#open);
      this.#open = [];
      this.#bytes = 0;
      if (line !== undefined) yield line.toString("utf8");
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  #keep(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.#maxBytes) {
      this.#open = [];
      throw new LineTooLong(`sent a message of more than ${this.#maxBytes} bytes`);
    }
    this.#open.push(piece);
  }
}

export class LineTooLong extends Error {}
