import type { RailContext } from "trackside";
import { NO_LIMIT } from "../kit/operation.ts";

type Reserving = Pick<RailContext, "reserve" | "runId">;

/** Amounts by unit, whole numbers: tokens, billionths of a dollar. */
export type Amounts = Readonly<Record<string, number>>;

/** What could not be taken. */
export interface Refusal {
  readonly unit: string;
  readonly needed: number;
  readonly left: number;
  readonly max: number;
}

/**
 * One ledger for a run and everything below it. Before a call its estimate is taken, atomically, or the call is not made;
 * after it the estimate is replaced by what was really spent. Each run has one model call open at a time, so what is open
 * when the next begins was never settled: that call failed, and its estimate goes back.
 */
export class Ledger {
  readonly #name: string;
  readonly #limits: Amounts;

  constructor(name: string, limits: Amounts) {
    this.#name = name;
    this.#limits = limits;
  }

  async open(ctx: Reserving, estimate: Amounts): Promise<Refusal | undefined> {
    await this.settle(ctx, {});
    for (const [unit, max] of Object.entries(this.#limits)) {
      const needed = estimate[unit] ?? 0;
      const { granted, used } = await ctx.reserve(this.#total(unit), needed, max);
      if (!granted) {
        await this.settle(ctx, {});
        return { unit, needed, left: Math.max(0, max - used), max };
      }
      await ctx.reserve(this.#open(unit, ctx), needed, NO_LIMIT);
    }
    return undefined;
  }

  /** Replaces what is open by what was spent. Without an amount nothing was. */
  async settle(ctx: Reserving, spent: Amounts): Promise<void> {
    for (const unit of Object.keys(this.#limits)) {
      const { used: open } = await ctx.reserve(this.#open(unit, ctx), 0, NO_LIMIT);
      const really = spent[unit] ?? 0;
      if (open !== 0) await ctx.reserve(this.#open(unit, ctx), -open, NO_LIMIT);
      if (really !== open) await ctx.reserve(this.#total(unit), really - open, NO_LIMIT);
    }
  }

  /** Lets the estimate stand as what was spent: for a call whose usage nobody reports. */
  async keep(ctx: Reserving): Promise<void> {
    for (const unit of Object.keys(this.#limits)) {
      const { used: open } = await ctx.reserve(this.#open(unit, ctx), 0, NO_LIMIT);
      if (open !== 0) await ctx.reserve(this.#open(unit, ctx), -open, NO_LIMIT);
    }
  }

  #total(unit: string): string {
    return `${this.#name}/${unit}`;
  }

  #open(unit: string, { runId }: Reserving): string {
    return `${this.#name}/${unit}/open/${runId}`;
  }
}
