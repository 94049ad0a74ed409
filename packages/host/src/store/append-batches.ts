import type { CommitEntry } from "./store.ts";

/** Sends entries and answers which landed. An entry that is refused by itself is answered with its error. */
export type SendBatch = (
  entries: readonly CommitEntry[],
) => Promise<ReadonlyMap<CommitEntry, boolean | Error>>;

interface Waiting {
  readonly entry: CommitEntry;
  resolve(landed: boolean): void;
  reject(error: unknown): void;
}

const BATCH_ENTRIES = 2_000;
const BATCH_CHARACTERS = 8_000_000;
/** A batch that takes longer waits for somebody's lock: the runs of others go on beside it. */
const SLOW_MS = 250;
const LANES = 4;

/**
 * Gathers the appends of a turn of the event loop, and those that come while a batch is under way, so that a busy store
 * sends few and large ones. Deliveries of one run never overtake each other.
 */
export class AppendBatches {
  readonly #send: SendBatch;
  #waiting: Waiting[] = [];
  #lanes = 0;
  #slow = 0;
  #scheduled = false;
  readonly #runsUnderWay = new Set<string>();

  constructor(send: SendBatch) {
    this.#send = send;
  }

  add(entry: CommitEntry): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject });
      this.#schedule();
    });
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0 || !this.#mayStart()) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#start();
    });
  }

  #mayStart(): boolean {
    return this.#lanes === this.#slow && this.#lanes < LANES;
  }

  #start(): void {
    const batch = this.#take();
    if (batch.length === 0) return;
    this.#lanes += 1;
    let slow = false;
    const timer = setTimeout(() => {
      slow = true;
      this.#slow += 1;
      this.#schedule();
    }, SLOW_MS);
    void this.#deliver(batch).then(() => {
      clearTimeout(timer);
      this.#lanes -= 1;
      if (slow) this.#slow -= 1;
      for (const { entry } of batch) this.#runsUnderWay.delete(entry.run_id);
      this.#schedule();
    });
  }

  /** The oldest entries, without those of runs under way in another batch. */
  #take(): Waiting[] {
    const batch: Waiting[] = [];
    const rest: Waiting[] = [];
    let characters = 0;
    let full = false;
    for (const waiting of this.#waiting) {
      const { run_id, body } = waiting.entry;
      full ||=
        batch.length >= BATCH_ENTRIES || (characters > 0 && characters + body.length > BATCH_CHARACTERS);
      if (full || this.#runsUnderWay.has(run_id)) {
        rest.push(waiting);
        continue;
      }
      characters += body.length;
      batch.push(waiting);
    }
    for (const { entry } of batch) this.#runsUnderWay.add(entry.run_id);
    this.#waiting = rest;
    return batch;
  }

  async #deliver(batch: readonly Waiting[]): Promise<void> {
    try {
      const answers = await this.#send(batch.map(({ entry }) => entry));
      for (const { entry, resolve, reject } of batch) {
        const answer = answers.get(entry) ?? false;
        if (typeof answer === "boolean") resolve(answer);
        else reject(answer);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
