/** What a server may send unasked: so many at once, and so many a second for ever. */
const BURST = 10_000;
const PER_SECOND = 2_000;

/** Tells a server that talks from one that only fills our time and memory. */
export class FloodGate {
  readonly #now: () => number;
  #left = BURST;
  #at: number;
  #bytesLeft = Number.POSITIVE_INFINITY;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#at = now();
  }

  /** Counts a message nobody asked for; says what is wrong once it is too many. */
  unasked(): string | undefined {
    const now = this.#now();
    this.#left = Math.min(BURST, this.#left + ((now - this.#at) * PER_SECOND) / 1000) - 1;
    this.#at = now;
    if (this.#left >= 0) return undefined;
    return `floods us: more than ${PER_SECOND} messages a second that answer nothing`;
  }

  /** Counts bytes; says what is wrong once they are more than `allow` allowed. */
  received(bytes: number): string | undefined {
    this.#bytesLeft -= bytes;
    return this.#bytesLeft < 0 ? "sent more than a list of tools may take" : undefined;
  }

  /** From now on so many bytes, or any number. */
  allow(bytes: number): void {
    this.#bytesLeft = bytes;
  }
}
