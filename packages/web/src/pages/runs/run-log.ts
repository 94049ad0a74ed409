import type { LiveEvent, RunEvent } from "./types.ts";
import { Waterfall } from "./waterfall.ts";

/** What is on the way in one message, until its durable event is there. */
interface LiveText {
  readonly messageId: string;
  readonly text: string;
  readonly reasoning: string;
}

/**
 * Everything that is known of a run's events, as it comes. Listeners are told once for whatever came at once, so that a
 * burst of events is one render.
 */
export class RunLog {
  readonly runId: string;
  readonly waterfall: Waterfall;
  readonly events: RunEvent[] = [];
  #live: LiveText | undefined;
  #ended = false;
  #version = 0;
  #scheduled = false;
  readonly #listeners = new Set<() => void>();
  readonly #schedule: (tell: () => void) => void;

  constructor(runId: string, schedule: (tell: () => void) => void = (tell) => setTimeout(tell, 50)) {
    this.runId = runId;
    this.waterfall = new Waterfall(runId);
    this.#schedule = schedule;
  }

  /** Whether the run's last event is here. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Text of the run itself that is being written right now. */
  get live(): LiveText | undefined {
    return this.#live;
  }

  /** All at once, as a page opens. */
  load(events: readonly RunEvent[]): void {
    let isNew = false;
    for (const event of events) isNew = this.#take(event) || isNew;
    if (isNew) this.#tell();
  }

  /** One event of a stream; false when it was there already. */
  add(event: RunEvent | LiveEvent): boolean {
    if (isDurable(event)) {
      if (!this.#take(event)) return false;
    } else {
      this.waterfall.pushLive(event);
      this.#hear(event);
    }
    this.#later();
    return true;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  version = (): number => this.#version;

  #take(event: RunEvent): boolean {
    if (!this.waterfall.push(event)) return false;
    this.events.push(event);
    if (event.type === "status" && event.run_id === this.runId) this.#ended = ENDS.has(event.status);
    // What is durable now is no longer on the way.
    if (
      event.run_id === this.runId &&
      (event.type === "text" || event.type === "message_retracted" || event.type === "step")
    )
      this.#live = undefined;
    return true;
  }

  #hear(event: LiveEvent): void {
    if (event.run_id !== this.runId || (event.type !== "text_delta" && event.type !== "reasoning_delta"))
      return;
    const before = this.#live?.messageId === event.message_id ? this.#live : undefined;
    const { text = "", reasoning = "" } = before ?? {};
    // An offset that was there before begins again from it: the answer is another attempt.
    this.#live =
      event.type === "text_delta"
        ? { messageId: event.message_id, text: text.slice(0, event.offset) + event.text, reasoning }
        : { messageId: event.message_id, text, reasoning: reasoning.slice(0, event.offset) + event.text };
  }

  #later(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#schedule(() => {
      this.#scheduled = false;
      this.#tell();
    });
  }

  #tell(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

const ENDS: ReadonlySet<string> = new Set(["completed", "error", "cancelled"]);

/** Only what is durable has a number. */
function isDurable(event: RunEvent | LiveEvent): event is RunEvent {
  return "seq" in event;
}

/** Whether a value of the stream is one of ours: newer servers may say more. */
export function isRunEvent(value: unknown): value is RunEvent | LiveEvent {
  return (
    typeof value === "object" && value !== null && "type" in value && "run_id" in value && "path" in value
  );
}
