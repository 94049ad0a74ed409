import { factsOf, type ModelFacts, type ModelTable } from "../context/model-table.ts";
import type { AgentDefinition } from "../schema/agent.ts";

/** What is known of models, looked up once for each name. */
export class Facts {
  readonly #own: ModelTable;
  readonly #found = new Map<string, ModelFacts | undefined>();

  constructor(own: ModelTable) {
    this.#own = own;
  }

  of(model: string): ModelFacts | undefined {
    if (!this.#found.has(model)) this.#found.set(model, factsOf(model, this.#own));
    return this.#found.get(model);
  }

  /** The same for an agent's model, with the window its definition states. */
  ofAgent({ model, context_window_tokens: window }: AgentDefinition): ModelFacts | undefined {
    const known = this.of(model);
    if (window === null) return known;
    return { ...(known ?? { output: Math.floor(window / 4) }), window };
  }
}
