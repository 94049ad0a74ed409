import { factsOf, type ModelFacts, type ModelTable } from "../context/model-table.ts";
import type { AgentDefinition } from "../schema/agent.ts";

/** What is known of models, looked up once for each name. */
export class Facts {
  readonly #own: ModelTable;
  readonly #found = new Map<string, ModelFacts | undefined>();
  readonly #stated = new WeakMap<AgentDefinition, ModelFacts>();

  constructor(own: ModelTable) {
    this.#own = own;
  }

  of(model: string): ModelFacts | undefined {
    if (!this.#found.has(model)) this.#found.set(model, factsOf(model, this.#own));
    return this.#found.get(model);
  }

  /** The same for an agent's model, with the window its definition states. */
  ofAgent(definition: AgentDefinition): ModelFacts | undefined {
    const { model, context_window_tokens: window } = definition;
    if (window === null) return this.of(model);
    let stated = this.#stated.get(definition);
    if (stated === undefined) {
      stated = { ...(this.of(model) ?? { output: Math.floor(window / 4) }), window };
      this.#stated.set(definition, stated);
    }
    return stated;
  }
}
