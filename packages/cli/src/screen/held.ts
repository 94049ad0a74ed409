import type { AgentEvent } from "trackside";

/** Passes events on, or keeps them while a person is being asked: nothing moves under their hands. */
export class Held {
  readonly #show: (event: AgentEvent) => void;
  readonly #kept: AgentEvent[] = [];
  #holding = false;

  constructor(show: (event: AgentEvent) => void) {
    this.#show = show;
  }

  show(event: AgentEvent): void {
    if (this.#holding) this.#kept.push(event);
    else this.#show(event);
  }

  hold(): void {
    this.#holding = true;
  }

  release(): void {
    this.#holding = false;
    for (const event of this.#kept.splice(0)) this.#show(event);
  }
}
