import type { LogEntry, Message } from "trackside";
import { newId } from "trackside/engine";
import type { StoredMessage } from "./rows.ts";

/** Above this a message is kept in the artifact store, so that rows stay small. */
const LARGE = 8192;
const SEALED = "trackside:sealed";

/** Encrypts what must not lie about in the open. The context is bound to it: it opens nowhere else. */
export interface Sealer {
  seal(text: string, context: string): string;
  open(sealed: string, context: string): string;
}

/** A body on its way into the artifact store. */
export interface NewArtifact {
  readonly id: string;
  readonly media_type: string;
  readonly content: Uint8Array;
}

/** Messages on their way to rest and back: large ones by reference, signed reasoning encrypted (H8). */
export class Codec {
  readonly #sealer: () => Sealer;

  /** The sealer is asked for when something has to be sealed: most runs need no key. */
  constructor(sealer: () => Sealer) {
    this.#sealer = sealer;
  }

  encode(messages: readonly LogEntry[]): { stored: StoredMessage[]; artifacts: NewArtifact[] } {
    const artifacts: NewArtifact[] = [];
    const latest = new Map(messages.map((message) => [message.id, message]));
    const stored = [...latest.values()].map((message) => this.#put(message, artifacts));
    return { stored, artifacts };
  }

  decode(stored: StoredMessage, read: (artifactId: string) => Uint8Array): LogEntry {
    const entry: LogEntry =
      "artifact" in stored ? JSON.parse(new TextDecoder().decode(read(stored.artifact))) : stored;
    return mapMessages(entry, (message) => (message.role === "assistant" ? this.#opened(message) : message));
  }

  #put(message: LogEntry, artifacts: NewArtifact[]): StoredMessage {
    const sealed = mapMessages(message, (one) => (one.role === "assistant" ? this.#sealed(one) : one));
    if (!mayBeLarge(sealed)) return sealed;
    const text = JSON.stringify(sealed);
    if (text.length <= LARGE) return sealed;
    const artifact = newId("art");
    artifacts.push({ id: artifact, media_type: "application/json", content: new TextEncoder().encode(text) });
    return { id: message.id, artifact };
  }

  #sealed(message: Extract<Message, { role: "assistant" }>): Message {
    if (!message.parts.some((part) => part.type === "reasoning" && part.provider !== undefined))
      return message;
    const parts = message.parts.map((part, i) => {
      if (part.type !== "reasoning" || part.provider === undefined) return part;
      const sealed = this.#sealer().seal(JSON.stringify(part.provider), `${message.id}/${i}`);
      return { ...part, provider: { [SEALED]: sealed } };
    });
    return { ...message, parts };
  }

  #opened(message: Extract<Message, { role: "assistant" }>): Message {
    const isSealed = message.parts.some(
      (part) => part.type === "reasoning" && part.provider?.[SEALED] !== undefined,
    );
    if (!isSealed) return message;
    const parts = message.parts.map((part, i) => {
      const sealed = part.type === "reasoning" ? part.provider?.[SEALED] : undefined;
      if (part.type !== "reasoning" || typeof sealed !== "string") return part;
      return { ...part, provider: JSON.parse(this.#sealer().open(sealed, `${message.id}/${i}`)) };
    });
    return { ...message, parts };
  }
}

/** An entry with its messages changed: itself, or what a projection has instead of others. */
export function mapMessages(entry: LogEntry, change: (message: Message) => Message): LogEntry {
  if (entry.role !== "projection") return change(entry);
  if (!entry.cuts.some(({ messages }) => messages !== undefined)) return entry;
  const cuts = entry.cuts.map((cut) =>
    cut.messages === undefined ? cut : { ...cut, messages: cut.messages.map(change) },
  );
  return { ...entry, cuts };
}

/** A cheap look before the expensive one: most messages are short. Written out, text rarely becomes four times as long. */
function mayBeLarge(message: LogEntry): boolean {
  return room(message, LARGE / 4) < 0;
}

/** What is left of a number of characters once a value has taken its own; below zero nothing more is looked at. */
function room(value: unknown, left: number): number {
  if (typeof value === "string") return left - value.length;
  if (typeof value !== "object" || value === null) return left - 5;
  let rest = left;
  for (const one of Array.isArray(value) ? value : Object.values(value)) {
    rest = room(one, rest - 10); // about what a key takes
    if (rest < 0) return rest;
  }
  return rest;
}
