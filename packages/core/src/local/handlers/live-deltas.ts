import type { ModelInput } from "../../turn/world.ts";
import type { RunContext } from "../run-context.ts";
import type { Deltas, ToolSlot } from "./assembly.ts";
import { callIdOf } from "./model-message.ts";

/** Shows a stream while it comes. Makes nothing when nobody reads. */
export class LiveDeltas implements Deltas {
  readonly #run: RunContext;
  readonly #step: number;
  readonly #attempt: number;
  readonly #messageId: string;
  readonly #observed: boolean;

  constructor(run: RunContext, input: ModelInput, messageId: string) {
    this.#run = run;
    this.#step = input.step;
    this.#attempt = input.attempt;
    this.#messageId = messageId;
    this.#observed = run.observed;
  }

  text(text: string, offset: number): void {
    if (this.#observed) this.#run.live({ type: "text_delta", ...this.#common(), offset, text });
  }

  reasoning(text: string, offset: number): void {
    if (this.#observed) this.#run.live({ type: "reasoning_delta", ...this.#common(), offset, text });
  }

  toolInput(slot: ToolSlot, text: string, offset: number): void {
    if (!this.#observed) return;
    const call_id = callIdOf(this.#run.id, this.#step, slot.index);
    this.#run.live({ type: "tool_input_delta", ...this.#common(), call_id, tool: slot.tool, offset, text });
  }

  #common() {
    const run = this.#run;
    return {
      run_id: run.id,
      turn_ref: run.turnRef,
      path: run.path,
      after_seq: run.seq,
      attempt: this.#attempt,
      message_id: this.#messageId,
    };
  }
}
