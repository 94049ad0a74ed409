import type {
  JSONRPCMessage,
  MessageExtraInfo,
  RequestId,
  Transport,
  TransportSendOptions,
} from "@modelcontextprotocol/client";
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

/** Progress as it is sent, before the client sees it. */
export type OnProgress = (params: Record<string, unknown>) => void;

/**
 * What lies between the client and a link: it keeps a server from flooding us, knows what was not answered, and lets
 * progress be heard in the order it was sent (the client drops progress that arrives together with the result).
 */
export class Wire implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly setProtocolVersion?: (version: string) => void;
  readonly #link: Link;
  readonly #onProgress: OnProgress;
  readonly #gate = new FloodGate();
  readonly #notices = new Set<Promise<void>>();
  readonly #unanswered = new Set<number>();

  constructor(link: Link, onProgress: OnProgress) {
    this.#link = link;
    this.#onProgress = onProgress;
    link.onclose = () => this.onclose?.();
    link.onerror = (error) => this.onerror?.(error);
    link.onmessage = (message, extra) => this.#receive(message, extra);
    if (link.setProtocolVersion) this.setProtocolVersion = (version) => link.setProtocolVersion?.(version);
    // The client tells processes from sites by these two.
    if ("pid" in link) Object.assign(this, { pid: null, stderr: null });
  }

  get hasPerRequestStream(): boolean {
    return this.#link.hasPerRequestStream === true;
  }

  get sessionId(): string | undefined {
    return this.#link.sessionId;
  }

  start(): Promise<void> {
    return this.#link.start();
  }

  /** Whether there is anything we asked that may still be answered, though we may no longer wait. */
  get isQuiet(): boolean {
    return this.#unanswered.size === 0;
  }

  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const sending = this.#link.send(message, this.#watched(message, options));
    if (!("id" in message)) {
      const settled = sending.catch(() => undefined);
      this.#notices.add(settled);
      void settled.then(() => this.#notices.delete(settled));
    }
    return sending;
  }

  /** Done when the notices handed over so far have left, such as cancellations, or could not. */
  async flushed(): Promise<void> {
    await Promise.all(this.#notices);
  }

  close(): Promise<void> {
    return this.#link.close();
  }

  /** A request that is waited for: when the stream of its answer ends without one, that is the answer. */
  #watched(
    message: JSONRPCMessage,
    options: TransportSendOptions | undefined,
  ): TransportSendOptions | undefined {
    if (!("method" in message) || !("id" in message) || message.method === "subscriptions/listen")
      return options;
    const { id } = message;
    if (typeof id === "number") this.#unanswered.add(id); // others are probes, which nothing comes of later
    const onRequestStreamEnd = () => {
      if (typeof id === "string" || this.#unanswered.has(id))
        this.#receive(noAnswer(id, "the stream of its answer ended"));
    };
    return { ...options, onRequestStreamEnd };
  }

  #receive(message: JSONRPCMessage, extra?: MessageExtraInfo): void {
    if (!("method" in message)) {
      // One answer each; what comes after is nobody's.
      const known = this.#unanswered.delete(Number(message.id)) || typeof message.id === "string";
      if (known || this.#unasked()) this.onmessage?.(message, extra);
      return;
    }
    if (!this.#unasked() || message.method === "notifications/message") return; // nobody reads a server's log
    if (message.method === "notifications/progress" && !("id" in message))
      this.#onProgress(message.params ?? {});
    else this.onmessage?.(message, extra);
  }

  /** Counts what nobody asked for; false once it is too much. */
  #unasked(): boolean {
    const flood = this.#gate.unasked();
    if (flood !== undefined) this.#link.fail(flood);
    return flood === undefined;
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

/** What stands for an answer that is none. */
export function noAnswer(id: RequestId, why: string): JSONRPCMessage {
  return { jsonrpc: "2.0", id, error: { code: -32603, message: why } };
}
