import { type AgentDefinition, costOf, factsOf, type ModelTable, type Usage } from "trackside";
import * as z from "zod";

/** Prices by `provider:model`, in US dollars for a million tokens; a name ending in `*` is a prefix. */
export function pricesOption() {
  const dollars = z.number().min(0);
  return z.record(
    z.string().min(1).describe("provider:model; a name ending in * is a prefix."),
    z.strictObject({
      input: dollars.describe("Input tokens."),
      output: dollars.describe("Output tokens."),
      cachedInput: dollars.optional().describe("Input tokens read from a cache."),
      cacheWrite: dollars.optional().describe("Input tokens written to a cache."),
    }),
  );
}

export interface Price {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

type Tokens = Pick<Usage, "input_tokens" | "cached_input_tokens" | "cache_write_tokens" | "output_tokens">;

/** What calls cost, in billionths of a dollar: whole numbers, so that a ledger of them adds up exactly. */
export class Prices {
  readonly #own: ModelTable;

  constructor(own: Readonly<Record<string, Price>>) {
    const tabled = Object.entries(own).map(([model, price]) => [
      model,
      { window: 0, output: 0, price: defined(price) },
    ]);
    this.#own = Object.fromEntries(tabled);
  }

  /** The models of an agent that nobody knows the price of. */
  unpriced(agent: AgentDefinition): readonly string[] {
    return modelsOf(agent).filter((model) => factsOf(model, this.#own)?.price === undefined);
  }

  /** What tokens cost at the most, whichever of the agent's models answers. */
  atMost(agent: AgentDefinition, tokens: Tokens): number {
    const costs = modelsOf(agent).map((model) => costOf(tokens, factsOf(model, this.#own)) ?? 0);
    return nano(Math.max(...costs));
  }

  /** What a call cost. The engine knows which model answered; own prices come before its table. */
  spent(agent: AgentDefinition, usage: Usage): number {
    const own = modelsOf(agent).every((model) => factsOf(model, this.#own) !== factsOf(model));
    return own || usage.cost === null ? this.atMost(agent, usage) : nano(usage.cost);
  }
}

export const NANO = 1_000_000_000;

function nano(cost: number): number {
  return Math.round(cost * NANO);
}

function modelsOf({ model, fallback_models }: AgentDefinition): readonly string[] {
  return [model, ...fallback_models];
}

function defined({ input, output, cachedInput, cacheWrite }: Price) {
  return {
    input,
    output,
    ...(cachedInput === undefined ? {} : { cachedInput }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
}
