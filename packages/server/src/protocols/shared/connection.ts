import type { ProtocolContext } from "../env.ts";
import { mayStart } from "./access.ts";
import { Refusal } from "./refusal.ts";

/**
 * What ties a client to the run it reads. A client that goes away takes its run with it where its protocol says so; a
 * server that closes only stops reading: the run goes on with the next process.
 */
export class Connection {
  readonly #c: ProtocolContext;
  readonly #runId: string;
  readonly #over = new AbortController();
  #isClosing = false;

  constructor(c: ProtocolContext, runId: string) {
    this.#c = c;
    this.#runId = runId;
    const signal = c.get("signal");
    const heard = () => {
      // It says both: that the client has gone, and that the server is about to.
      if (c.req.raw.signal.aborted || c.env?.outgoing?.destroyed) return;
      this.#isClosing = true;
      this.#over.abort();
    };
    if (signal?.aborted) heard();
    else signal?.addEventListener("abort", heard, { once: true });
  }

  /** Aborted when there is nobody left to read for. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** The client has gone. `cancels`: nobody else will want what the run comes to. */
  gone(cancels: boolean): void {
    this.#over.abort();
    if (cancels) this.cancel();
  }

  cancel(): void {
    const credential = this.#c.get("credential");
    if (this.#isClosing || !mayStart(credential)) return;
    const { tenant, user } = credential;
    this.#c
      .get("trackside")
      .runs.cancel(this.#runId, { tenant, reason: `stopped by the client of ${user.id}` })
      .catch(() => {}); // it ended in this moment
  }
}

/** For a client whose run goes on without it. */
export function closing(): Refusal {
  return new Refusal(503, "closing", "The server closes; the run goes on. Ask again in a moment.");
}
