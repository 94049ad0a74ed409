import type { AgentDefinition } from "../schema/agent.ts";
import { type ModelFacts, requestBudget } from "./model-table.ts";

/** The percentage of the window that `limit:n` allows; null in every other mode (B3). */
export function limitPercent({ budget_awareness: mode }: AgentDefinition): number | null {
  if (mode === null) return null;
  let percent = PERCENTS.get(mode);
  if (percent === undefined) {
    percent = mode.startsWith("limit:") ? Number(mode.slice("limit:".length)) : null;
    PERCENTS.set(mode, percent);
  }
  return percent;
}

/** Asked at every step; there are a hundred and two modes at most. */
const PERCENTS = new Map<string, number | null>();

/** The tokens a request may have: `limit:n` of the window, else the window less what the answer needs (H6). */
export function budgetOf(definition: AgentDefinition, facts: ModelFacts): number {
  const percent = limitPercent(definition);
  if (percent === null) return requestBudget(facts, definition.max_tokens);
  return Math.floor((facts.window * percent) / 100); // in this order: 29 % of 100 is 29
}

/** What is kept free for pre-hooks: nothing without any, and never more than half of the budget (H6). */
export function reserveOf(definition: AgentDefinition, budget: number, hasPreHooks: boolean): number {
  return hasPreHooks ? Math.min(definition.injection_reserve_tokens, Math.floor(budget / 2)) : 0;
}

/** A window is used best up to here, in percent (B2). */
const WORKING_PERCENT = 60;

const ADVISED = "[context: ";

/** The advisory of `per-message`: a fixed template, stamped once (B2). */
export function advisoryOf(used: number, { window }: ModelFacts): string {
  const working = Math.floor((window * WORKING_PERCENT) / 100);
  return `${ADVISED}${used} of ${window} tokens used; best kept below ${working}]`;
}

/** The tokens that an advisory says are used. */
export function usedIn(advisory: string | undefined): number | undefined {
  if (advisory === undefined || !advisory.startsWith(ADVISED)) return undefined;
  const used = Number.parseInt(advisory.slice(ADVISED.length), 10);
  return Number.isNaN(used) ? undefined : used;
}

/** What a run that has no more room says in place of an answer (B3). */
export function budgetMessage(estimate: number, limit: number): string {
  return (
    `The token budget of this run is used up: the next request would have about ${estimate} tokens, and ${limit} are ` +
    "allowed. Nothing was sent. Start a new conversation, or raise the budget."
  );
}
