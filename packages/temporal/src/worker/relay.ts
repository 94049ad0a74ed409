import { type WorkflowClient, WorkflowNotFoundError } from "@temporalio/client";
import type { Effects } from "@trackside/host/effects";
import type { StartRun } from "../common/start-run.ts";
import { HEARD, type Heard } from "../common/wire.ts";

export interface RelayInit {
  readonly effects: Effects;
  readonly workflows: WorkflowClient;
  readonly engine: string;
  readonly start: StartRun;
  readonly notice: (message: string) => void;
}

const LOOK_MS = 2_000;
const AGAIN_MS = 30_000;

/**
 * Passes on to workflows what is in the store: that somebody decided, sent a message or cancelled, and runs that nobody has
 * begun. The rows are the truth and the word is only a word: said twice it does nothing, unsaid it is said by the next look.
 */
export class Relay {
  readonly #init: RelayInit;
  readonly #said = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;

  constructor(init: RelayInit) {
    this.#init = init;
  }

  start(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
    this.#look();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  /** Somebody left something for these. */
  async woken(runIds: ReadonlySet<string>): Promise<void> {
    const { effects, engine, notice } = this.#init;
    try {
      for (const { id, status } of await effects.toTell(engine, [...runIds])) {
        if (status === "queued") await this.#begin([id]);
        else await this.#tell(id);
      }
    } catch (error) {
      notice(`a run was not told that something came for it; it is looked at again: ${String(error)}`);
    }
  }

  #look(): void {
    this.#looking ??= this.#lookOnce()
      .catch(() => {}) // the store or the server is away: the next look is soon
      .finally(() => {
        this.#looking = undefined;
      });
  }

  async #lookOnce(): Promise<void> {
    const { effects, engine } = this.#init;
    const { ready, called } = await effects.calls(engine);
    await this.#begin(ready);
    const now = Date.now();
    for (const [id, at] of this.#said) if (now - at > AGAIN_MS) this.#said.delete(id);
    for (const id of called) if (!this.#said.has(id)) await this.#tell(id);
  }

  async #begin(runIds: readonly string[]): Promise<void> {
    for (const id of runIds) await this.#init.start(id);
  }

  async #tell(runId: string): Promise<void> {
    const { effects, workflows } = this.#init;
    this.#said.set(runId, Date.now());
    const cancelled = await effects.cancelOf(runId);
    const what: Heard = cancelled === null ? {} : { cancelled };
    try {
      await workflows.getHandle(runId).signal(HEARD, what);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
      await this.#begin([runId]); // somebody has ended its workflow, or it was never begun: the rows are the truth
    }
  }
}
