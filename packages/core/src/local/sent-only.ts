import type { Message } from "../schema/message.ts";
import type { LogEntry } from "../schema/projection.ts";
import { digestOf } from "./digest.ts";

/** The end of the id of a message that is sent and in no log. A node of a workflow may be called "sent", too. */
const SENT = /\.sent\.\d+$/;

/** Whether an entry of a run's record is a message that only requests had. */
export function isSentOnly(entry: LogEntry): entry is Message {
  return entry.role !== "projection" && SENT.test(entry.id);
}

export function sentOnlyId(of: string, n: number): string {
  return `${of}.sent.${n}`;
}

/**
 * Messages that a run has sent and that are in no log: what those at PRE_LLM_CALL put in place of others. They are part of
 * its record as transient parts are, and forgotten like them (H4). The same message is kept once, however often it is sent:
 * whoever masks a name does it in every request from then on.
 */
export class SentOnly {
  readonly #byId = new Map<string, Message>();
  /** By what they say. Only made for a run that changes requests. */
  #ids: Map<string, string> | undefined;

  get all(): Iterable<Message> {
    return this.#byId.values();
  }

  get(id: string): Message | undefined {
    return this.#byId.get(id);
  }

  /** One that an earlier life of the run kept. */
  take(message: Message): void {
    this.#byId.set(message.id, message);
    this.#ids?.set(contentOf(message), message.id);
  }

  add(message: Message, id: string): { readonly kept: Message; readonly isNew: boolean } {
    if (this.#ids === undefined) {
      this.#ids = new Map();
      for (const one of this.#byId.values()) this.#ids.set(contentOf(one), one.id);
    }
    const kept = { ...message, id };
    const content = contentOf(kept);
    const known = this.#byId.get(this.#ids.get(content) ?? "");
    if (known !== undefined) return { kept: known, isNew: false };
    this.#byId.set(id, kept);
    this.#ids.set(content, id);
    return { kept, isNew: true };
  }
}

function contentOf({ id: _, ...content }: Message): string {
  return digestOf(JSON.parse(JSON.stringify(content))); // as it will come back from its row
}
