import type { JSONRPCMessage, Transport, TransportSendOptions } from "@modelcontextprotocol/client";
import { FloodGate } from "./flood-gate.ts";

/** A transport that can say why it ended. */
export interface Link extends Transport {
  readonly fault: string | undefined;
  readonly noise: string;
  /** The last lines on stderr; empty for servers that have none. */
  readonly stderr: readonly string[];
  fail(fault: string): void;
  hold(needed: boolean): void;
}

export interface Tap {
  /** A message of the server, before the client sees it. */
  received(message: JSONRPCMessage): void;
  sent(message: JSONRPCMessage): void;
}

/**
 * What lies between the client and a link: it counts, keeps a server from flooding us, and lets progress be heard in
 * the order it was sent (the client drops progress that arrives together with the result).
 */
export class Wire implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly setProtocolVersion?: (version: string) => void;
  readonly #link: Link;
  readonly #gate = new FloodGate();
  readonly #sending = new Set<Promise<void>>();

  constructor(link: Link, tap: Tap) {
    this.#link = link;
    link.onclose = () => this.onclose?.();
    link.onerror = (error) => this.onerror?.(error);
    link.onmessage = (message, extra) => {
      if (!("id" in message) || "method" in message) {
        const flood = this.#gate.unasked();
        if (flood !== undefined) {
          link.fail(flood);
          return;
        }
      }
      if ("method" in message && message.method === "notifications/message") return; // nobody reads a server's log
      tap.received(message);
      this.onmessage?.(message, extra);
    };
    this.#tap = tap;
    if (link.setProtocolVersion) this.setProtocolVersion = (version) => link.setProtocolVersion?.(version);
    // The client tells processes from sites by these two.
    if ("pid" in link) Object.assign(this, { pid: null, stderr: null });
  }

  readonly #tap: Tap;

  get hasPerRequestStream(): boolean {
    return this.#link.hasPerRequestStream === true;
  }

  get sessionId(): string | undefined {
    return this.#link.sessionId;
  }

  start(): Promise<void> {
    return this.#link.start();
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.#tap.sent(message);
    const sending = this.#link.send(message, options);
    const settled = sending.then(
      () => undefined,
      () => undefined,
    );
    this.#sending.add(settled);
    void settled.then(() => this.#sending.delete(settled));
    return sending;
  }

  /** Done when everything handed over so far has left, or could not. */
  async flushed(): Promise<void> {
    await Promise.all(this.#sending);
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  /** Counts bytes as they come in. */
  readonly count = (bytes: number): void => {
    const tooMany = this.#gate.received(bytes);
    if (tooMany !== undefined) this.#link.fail(tooMany);
  };

  /** How many bytes may come in from now on. */
  allow(bytes: number): void {
    this.#gate.allow(bytes);
  }
}
