import {
  type Bus,
  type BusItem,
  type BusLimits,
  DEFAULT_LIMITS,
  type Gap,
  type Subscription,
} from "./bus.ts";
import type { Position } from "./cursor.ts";
import { Reader } from "./reader.ts";
import { Topic } from "./topic.ts";

/** A bus within one process. */
export function memoryBus(limits: Partial<BusLimits> = {}): Bus {
  return new MemoryBus(limits);
}

export class MemoryBus implements Bus {
  readonly limits: BusLimits;
  readonly #topics = new Map<string, Topic>();
  readonly #sweep: NodeJS.Timeout;
  #closed = false;
  /** Told of runs in which nothing happened for too long. */
  onForgotten: (runId: string) => void = () => {};

  constructor(limits: Partial<BusLimits> = {}) {
    this.limits = { ...DEFAULT_LIMITS, ...limits };
    this.#sweep = setInterval(() => this.#forgetOld(), this.limits.ttlMs / 4).unref();
  }

  publish(runId: string, item: BusItem): void {
    this.publishAll(runId, [item]);
  }

  /** `remote`: they came from another process. */
  publishAll(runId: string, items: readonly (BusItem | Gap)[], remote = false): void {
    if (this.#closed) return;
    let topic = this.#topics.get(runId);
    if (topic === undefined) {
      // Signals are for those who listen; only text is kept for those who come later.
      if (!items.some((item) => "offset" in item)) return;
      topic = this.#topic(runId);
    }
    topic.publish(items, remote);
  }

  subscribe(runId: string, from: Position = { seq: 0 }): Subscription {
    return this.read(runId, from);
  }

  /** A subscription that can also be read without waiting. */
  read(runId: string, from: Position, options: { localOnly?: boolean; onClose?: () => void } = {}): Reader {
    const topic = this.#topic(runId);
    const onClose = () => {
      this.#release(topic);
      options.onClose?.();
    };
    const reader = new Reader(topic, from, { ...options, onClose });
    if (this.#closed) reader.close();
    return reader;
  }

  finish(runId: string): void {
    const topic = this.#topics.get(runId);
    topic?.clear();
    if (topic !== undefined) this.#release(topic);
  }

  /** Nobody here follows what other processes publish in this run any more. */
  finishRemote(runId: string): void {
    const topic = this.#topics.get(runId);
    topic?.clearRemote();
    if (topic !== undefined) this.#release(topic);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#sweep);
    for (const topic of [...this.#topics.values()]) topic.end();
    this.#topics.clear();
  }

  #topic(runId: string): Topic {
    let topic = this.#topics.get(runId);
    if (topic === undefined) {
      topic = new Topic(runId, this.limits);
      this.#topics.set(runId, topic);
    }
    return topic;
  }

  #release(topic: Topic): void {
    if (!topic.isRead && topic.isEmpty && this.#topics.get(topic.runId) === topic)
      this.#topics.delete(topic.runId);
  }

  #forgetOld(): void {
    const before = Date.now() - this.limits.ttlMs;
    for (const topic of this.#topics.values()) {
      if (topic.touchedAt > before || topic.isEmpty) continue;
      topic.clear();
      topic.publish([{ type: "gap", run_id: topic.runId }]);
      this.onForgotten(topic.runId);
      this.#release(topic);
    }
  }
}
