import type { DurableEvent, LiveEvent, Usage } from "trackside";

/** What a run has used so far, as its events tell. */
export class UsageMeter {
  #total: Usage | undefined;

  read(event: DurableEvent | LiveEvent, runId: string): void {
    if (event.type === "usage" && event.run_id === runId) this.#total = event.total;
  }

  get total(): Usage | undefined {
    return this.#total;
  }
}
