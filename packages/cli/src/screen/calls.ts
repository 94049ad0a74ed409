import type { AgentEvent } from "trackside";
import type { ShownCall } from "./approval-view.ts";

/** The calls of a run by number: the step, then the place in it. */
export class Calls {
  readonly #calls = new Map<string, ShownCall>();
  #step = 0;
  #count = 0;

  note(event: AgentEvent): void {
    if (event.type === "step" && event.state === "started") {
      this.#step = event.step;
      this.#count = 0;
    }
    if (event.type !== "tool_call") return;
    this.#count += 1;
    this.#calls.set(event.call_id, { label: `${this.#step}.${this.#count}`, written: event.arguments });
  }

  get step(): number {
    return this.#step;
  }

  of(callId: string | null): ShownCall | undefined {
    return callId === null ? undefined : this.#calls.get(callId);
  }
}
