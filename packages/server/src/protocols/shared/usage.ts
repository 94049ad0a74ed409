import type { DurableEvent, LiveEvent, Usage } from "trackside";

/** What a run has used, as its events tell: in all, and since the client was last answered. */
export class UsageMeter {
  #total: Usage | undefined;
  #before: Usage | undefined;

  read(event: DurableEvent | LiveEvent, runId: string, isPast = false): void {
    if (event.type !== "usage" || event.run_id !== runId) return;
    this.#total = event.total;
    if (isPast) this.#before = event.total;
  }

  get total(): Usage | undefined {
    return this.#total;
  }

  /** Tokens of this answer alone. */
  get since(): Record<"input" | "cached" | "written" | "output" | "reasoning", number> {
    const of = (key: keyof Omit<Usage, "cost">) => (this.#total?.[key] ?? 0) - (this.#before?.[key] ?? 0);
    return {
      input: of("input_tokens"),
      cached: of("cached_input_tokens"),
      written: of("cache_write_tokens"),
      output: of("output_tokens"),
      reasoning: of("reasoning_tokens"),
    };
  }
}
