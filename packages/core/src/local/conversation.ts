import * as z from "zod";
import { type Rendered, renderInto } from "../context/render.ts";
import { TracksideError } from "../errors.ts";
import { deepFreeze, frozenCopy } from "../schema/json.ts";
import { type Message, message } from "../schema/message.ts";
import { newId } from "./ids.ts";

const stored = z.object({ v: z.literal(1), id: z.string().min(1), messages: z.array(message) });

/** A conversation's log and its rendering, as the engine holds it. */
export class Log {
  readonly messages: Message[];
  readonly #rendered: Rendered[] = [];
  #renderedTo = 0;
  /** Where this turn's tail goes: the same place for all its steps. */
  #mark = { upTo: 0, length: 0 };
  /** Wire ids in use: providers want them unique within a request (T7). */
  readonly wireIds = new Set<string>();
  activeRun: string | null = null;

  constructor(messages: Message[]) {
    this.messages = messages;
    for (const known of messages) this.#keepWireIds(known);
  }

  append(added: Message): void {
    this.messages.push(added);
  }

  /** The log up to a position as providers take it. Continues from the last rendering. */
  render(upTo: number): readonly Rendered[] {
    if (upTo < this.#renderedTo) {
      const again: Rendered[] = [];
      renderInto(again, this.messages, 0, upTo);
      return again;
    }
    renderInto(this.#rendered, this.messages, this.#renderedTo, upTo);
    this.#renderedTo = upTo;
    return this.#rendered;
  }

  /** How many messages the log up to a position renders to. */
  renderedLength(upTo: number): number {
    if (this.#mark.upTo !== upTo) {
      const again: Rendered[] = [];
      renderInto(again, this.messages, 0, upTo);
      this.#mark = { upTo, length: again.length };
    }
    return this.#mark.length;
  }

  find(id: string): Message | undefined {
    return this.messages.findLast((known) => known.id === id);
  }

  #keepWireIds(known: Message): void {
    if (known.role !== "assistant") return;
    for (const part of known.parts) if (part.type === "tool_call") this.wireIds.add(part.wire_id);
  }
}

const logs = new WeakMap<Conversation, Log>();

/**
 * A conversation in memory: the log that `run(input, { conversation })` continues. One run at a time; turn it into JSON to
 * keep it.
 */
export class Conversation {
  readonly id: string;

  constructor() {
    this.id = newId("conv");
    logs.set(this, new Log([]));
  }

  /** Every message so far, oldest first. A copy. */
  get messages(): readonly Message[] {
    return deepFreeze([...logOf(this).messages]);
  }

  toJSON(): { v: 1; id: string; messages: readonly Message[] } {
    return { v: 1, id: this.id, messages: this.messages };
  }

  static fromJSON(json: unknown): Conversation {
    const found = stored.safeParse(json);
    if (!found.success) {
      throw new TracksideError(
        "config_invalid",
        `This is no stored conversation: ${z.prettifyError(found.error)}`,
      );
    }
    return conversationWith(found.data.id, new Log([...frozenCopy(found.data.messages)]));
  }
}

/** A conversation that a store has: its id, and its log as the engine holds it. */
export function conversationWith(id: string, log: Log): Conversation {
  const conversation = new Conversation();
  Object.defineProperty(conversation, "id", { value: id, enumerable: true });
  logs.set(conversation, log);
  return conversation;
}

export function logOf(conversation: Conversation): Log {
  const log = logs.get(conversation);
  if (log === undefined)
    throw new TracksideError("config_invalid", "conversation: a Conversation of this package expected");
  return log;
}
