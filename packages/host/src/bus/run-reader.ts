import type { DurableEvent, LiveEvent, LiveEventOf } from "trackside/schema";
import { formatCursor, type MessagePosition, type Position } from "./cursor.ts";

type Delta = LiveEventOf<"text_delta" | "reasoning_delta" | "tool_input_delta">;

/** Live events that wait for the durable ones before them. More than that, and the reader does without. */
const MAX_HELD_CHARS = 262_144;
const MAX_HELD = 4096;

/**
 * What one reader of a run is given (E4). Durable events come from the store, in order, perhaps some of them again; live
 * ones from the bus, late, early, twice, or not at all. Out comes what follows the reader's position, each thing once:
 * somebody who appends deltas and lets a durable event replace them always holds a beginning of what the model wrote, and
 * in the end the durable transcript.
 *
 *     const reader = new RunReader(parseCursor(after));
 *     const live = bus.subscribe(runId, reader.position);          // before the store is read, so that nothing is missed
 *     for (const item of stored) for (const event of reader.read(item)) send(event, reader.cursor);
 *     for await (const item of live) …                             // `committed`, `gap`: read the store after reader.seq
 */
export class RunReader {
  #seq: number;
  /** Live events from before this position belong to what the reader already has, if it is not in `#offsets`. */
  #floor: number;
  /** How far each open stream of characters was given out, by `keyOf`. */
  readonly #offsets = new Map<string, number>();
  /** Streams whose durable event was given out since `#floor`: late deltas of them are dropped. */
  readonly #settled = new Set<string>();
  #message: string | undefined;
  #held: LiveEvent[] = [];
  #heldChars = 0;
  #ended = false;

  constructor(position: Position = { seq: 0 }) {
    this.#seq = position.seq;
    this.#floor = position.seq;
    if (position.message !== undefined) this.#open(position.message);
  }

  /** The last durable event given out: the store is read after it. */
  get seq(): number {
    return this.#seq;
  }

  /** Whether the terminal status was given out: nothing follows it. */
  get ended(): boolean {
    return this.#ended;
  }

  get position(): Position {
    const id = this.#message;
    if (id === undefined) return { seq: this.#seq };
    const inputs: [string, number][] = [];
    const prefix = keyOf("tool_input_delta", id, "");
    for (const [key, offset] of this.#offsets) {
      if (key.startsWith(prefix)) inputs.push([key.slice(prefix.length), offset]);
    }
    const text = this.#offsets.get(keyOf("text_delta", id)) ?? 0;
    const reasoning = this.#offsets.get(keyOf("reasoning_delta", id)) ?? 0;
    return { seq: this.#seq, message: { id, text, reasoning, inputs: Object.fromEntries(inputs) } };
  }

  /** What to reconnect with after everything given out so far. */
  get cursor(): string {
    return formatCursor(this.position);
  }

  /**
   * What the reader gets because of this event: nothing, the event, the rest of it, or also live events that waited for it.
   * `cursor` is right after each. A durable event that is not the next one is dropped: the store is read after `seq`.
   */
  *read(event: DurableEvent | LiveEvent): Generator<DurableEvent | LiveEvent> {
    if (this.#ended) return;
    if (!("seq" in event)) {
      yield* this.#live(event);
      return;
    }
    if (event.seq !== this.#seq + 1) return;
    this.#seq = event.seq;
    this.#settle(event);
    yield event;
    if (this.#held.length === 0) return;
    const held = this.#held;
    this.#held = [];
    this.#heldChars = 0;
    for (const waiting of held) yield* this.#live(waiting);
  }

  *#live(event: LiveEvent): Generator<LiveEvent> {
    if (event.after_seq > this.#seq) {
      this.#hold(event);
      return;
    }
    const key = event.type === "mcp_progress" ? progressKey(event) : deltaKey(event);
    if (this.#settled.has(key) || this.#settled.has(wholeKey(event))) return;
    if (event.after_seq < this.#floor && !this.#offsets.has(key)) return;
    const fresh = event.type === "mcp_progress" ? this.#report(event, key) : this.#delta(event, key);
    if (fresh !== undefined) yield fresh;
  }

  #report(event: LiveEventOf<"mcp_progress">, key: string): LiveEvent | undefined {
    if (event.offset < (this.#offsets.get(key) ?? 0)) return undefined;
    this.#offsets.set(key, event.offset + 1);
    return event;
  }

  #delta(event: Delta, key: string): LiveEvent | undefined {
    const have = this.#offsets.get(key) ?? 0;
    const end = event.offset + event.text.length;
    // After a hole the rest would not join up: it comes with the durable event, or when the bus sends it all again.
    if (event.offset > have || end <= have) return undefined;
    this.#offsets.set(key, end);
    this.#message = event.message_id;
    if (event.offset === have) return event;
    return { ...event, offset: have, text: event.text.slice(have - event.offset) };
  }

  /** Shown once the events that were committed before it have been. */
  #hold(event: LiveEvent): void {
    this.#held.push(event);
    this.#heldChars += event.type === "mcp_progress" ? 0 : event.text.length;
    if (this.#heldChars <= MAX_HELD_CHARS && this.#held.length <= MAX_HELD) return;
    this.#held = [];
    this.#heldChars = 0;
  }

  #open({ id, text, reasoning, inputs }: MessagePosition): void {
    this.#message = id;
    // At 0 the reader has none of it, or its durable event.
    if (text > 0) this.#offsets.set(keyOf("text_delta", id), text);
    if (reasoning > 0) this.#offsets.set(keyOf("reasoning_delta", id), reasoning);
    for (const [call, offset] of Object.entries(inputs)) {
      this.#offsets.set(keyOf("tool_input_delta", id, call), offset);
    }
  }

  #settle(event: DurableEvent): void {
    switch (event.type) {
      case "text":
        this.#close(keyOf("text_delta", event.message_id));
        // Reasoning is committed before its text; what has none by now has none.
        this.#close(keyOf("reasoning_delta", event.message_id));
        this.#leave(event.message_id);
        break;
      case "reasoning":
        this.#close(keyOf("reasoning_delta", event.message_id));
        break;
      case "tool_call":
        this.#close(keyOf("tool_input_delta", event.message_id, event.call_id));
        this.#leave(event.message_id);
        break;
      case "tool_result":
        this.#closeAll(keyOf("mcp_progress", event.call_id));
        break;
      case "message_retracted":
        this.#closeAll(keyOf("tool_input_delta", event.message_id));
        this.#close(keyOf("text_delta", event.message_id));
        this.#close(keyOf("reasoning_delta", event.message_id));
        this.#leave(event.message_id);
        break;
      case "step":
        if (event.state === "completed") this.#forget();
        break;
      case "status":
        this.#ended =
          event.status === "completed" || event.status === "error" || event.status === "cancelled";
        if (this.#ended) this.#forget();
        break;
      default:
        break;
    }
  }

  #close(key: string): void {
    this.#offsets.delete(key);
    this.#settled.add(key);
  }

  /** The message is no longer open once nothing of it is. */
  #leave(messageId: string): void {
    if (this.#message !== messageId) return;
    const { message } = this.position;
    const open = message !== undefined && (message.text > 0 || message.reasoning > 0);
    if (!open && Object.keys(message?.inputs ?? {}).length === 0) this.#message = undefined;
  }

  #closeAll(whole: string): void {
    for (const key of this.#offsets.keys()) if (key.startsWith(`${whole}\n`)) this.#offsets.delete(key);
    this.#settled.add(whole);
  }

  /** A step is over, and with it every message and call in it: whatever of them is still on its way is too late. */
  #forget(): void {
    this.#floor = this.#seq;
    this.#offsets.clear();
    this.#settled.clear();
    this.#message = undefined;
    if (this.#ended) this.#held = [];
  }
}

// A line break is in no id.
const keyOf = (type: LiveEvent["type"], id: string, part?: string | number): string =>
  part === undefined ? `${type}\n${id}` : `${type}\n${id}\n${part}`;

/** What settles all reports of a call at once, or all arguments in a message. */
const wholeKey = (event: LiveEvent) =>
  keyOf(event.type, event.type === "mcp_progress" ? event.call_id : event.message_id);

/** A call made again reports from the beginning. */
const progressKey = (event: LiveEventOf<"mcp_progress">) => keyOf(event.type, event.call_id, event.attempt);

/** A call keeps its id when its message is made again, with other arguments. */
const deltaKey = (event: Delta) =>
  event.type === "tool_input_delta"
    ? keyOf(event.type, event.message_id, event.call_id)
    : keyOf(event.type, event.message_id);
