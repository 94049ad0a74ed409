import type { BusItem, Gap, Subscription } from "./bus.ts";
import type { Position } from "./cursor.ts";
import type { Topic } from "./topic.ts";

const MAX_WAKES = 64;

const END = { done: true, value: undefined } as const;

/** One subscription: what it still has to be told that is not in the topic, and who waits for it. */
export class Reader implements Subscription {
  readonly #topic: Topic;
  readonly from: Position;
  /** It reads what this process publishes, to send it to others. */
  readonly localOnly: boolean;
  committed: number;
  lost = false;
  readonly wakes: string[] = [];
  #waiting: ((next: IteratorResult<BusItem | Gap>) => void)[] = [];
  #closed = false;
  readonly #onClose: () => void;

  constructor(topic: Topic, from: Position, { localOnly = false, onClose = () => {} } = {}) {
    this.#topic = topic;
    this.from = from;
    this.localOnly = localOnly;
    // What was committed before it came, it finds in the store.
    this.committed = from.seq;
    this.#onClose = onClose;
    topic.add(this);
  }

  next(): Promise<IteratorResult<BusItem | Gap>> {
    if (this.#closed) return Promise.resolve(END);
    const item = this.#waiting.length > 0 ? undefined : this.#topic.next(this);
    if (item !== undefined) return Promise.resolve({ done: false, value: item });
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#topic.wait(this);
    });
  }

  /** What there is now, without waiting. */
  *drain(): Generator<BusItem | Gap> {
    for (let item = this.#topic.next(this); item !== undefined; item = this.#topic.next(this)) yield item;
  }

  /** As if it had read nothing yet. */
  rewind(): void {
    this.#topic.rewind(this);
  }

  /** Whether this process shows anything in the run. */
  get hasLocal(): boolean {
    return this.#topic.hasLocal;
  }

  hand(item: BusItem | Gap): void {
    this.#waiting.shift()?.({ done: false, value: item });
    if (this.#waiting.length > 0) this.#topic.wait(this);
  }

  wake(what: string): void {
    if (this.localOnly || this.wakes.includes(what)) return;
    if (this.wakes.length < MAX_WAKES) this.wakes.push(what);
    else this.lost = true; // whoever is told of a gap looks at everything
  }

  lose(): void {
    this.lost = true;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#topic.remove(this);
    for (const resolve of this.#waiting.splice(0)) resolve(END);
    this.#onClose();
  }

  return(): Promise<IteratorResult<BusItem | Gap>> {
    this.close();
    return Promise.resolve(END);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
