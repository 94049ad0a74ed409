import type { ModelInput } from "../../turn/world.ts";
import type { RunContext } from "../run-context.ts";
import type { Deltas, ToolSlot } from "./assembly.ts";
import { callIdOf, laneOf } from "./model-message.ts";

/** Shows a stream while it comes, or, when rails hold it (R15), not before they have passed. */
export class LiveDeltas implements Deltas {
  readonly #run: RunContext;
  readonly #path: readonly string[];
  readonly #lane: ReturnType<typeof laneOf>;
  readonly #step: number;
  readonly #attempt: number;
  readonly #messageId: string;
  readonly #showInput: boolean;
  #open: boolean;

  constructor(run: RunContext, input: ModelInput, messageId: string) {
    this.#run = run;
    this.#lane = laneOf(input);
    this.#path = this.#lane === "main" ? run.path : [...run.path, this.#lane];
    this.#step = input.step;
    this.#attempt = input.attempt;
    this.#messageId = messageId;
    this.#open = !run.agent.held;
    // Arguments are not shown before rails and transformers have seen them (R4).
    this.#showInput = run.agent.showsInput;
  }

  /** The rails have passed: what was held is shown, as they left it. */
  release(text: string, reasoning: string): void {
    if (this.#open) return;
    this.#open = true;
    if (reasoning !== "") this.reasoning(reasoning, 0);
    if (text !== "") this.text(text, 0);
  }

  // Written out rather than spread: this runs once for every piece of text.
  text(text: string, offset: number): void {
    if (!this.#open) return;
    const run = this.#run;
    run.live({
      type: "text_delta",
      run_id: run.id,
      turn_ref: run.turnRef,
      path: this.#path,
      after_seq: run.seq,
      attempt: this.#attempt,
      message_id: this.#messageId,
      offset,
      text,
    });
  }

  reasoning(text: string, offset: number): void {
    if (!this.#open) return;
    const run = this.#run;
    run.live({
      type: "reasoning_delta",
      run_id: run.id,
      turn_ref: run.turnRef,
      path: this.#path,
      after_seq: run.seq,
      attempt: this.#attempt,
      message_id: this.#messageId,
      offset,
      text,
    });
  }

  toolInput(slot: ToolSlot, text: string, offset: number): void {
    if (!this.#open || !this.#showInput) return;
    const run = this.#run;
    run.live({
      type: "tool_input_delta",
      run_id: run.id,
      turn_ref: run.turnRef,
      path: this.#path,
      after_seq: run.seq,
      attempt: this.#attempt,
      message_id: this.#messageId,
      call_id: callIdOf(run.id, this.#lane, this.#step, slot.index),
      tool: slot.tool,
      offset,
      text,
    });
  }
}
