import { expect } from "vitest";
import { pairProblem } from "../../../src/context/compaction/check-replacement.ts";
import { type Compacted, compact } from "../../../src/context/compaction/compact.ts";
import { project } from "../../../src/context/compaction/project.ts";
import type { SummaryRequest } from "../../../src/context/compaction/summarise.ts";
import type { CompactionInput } from "../../../src/context/compaction/view.ts";
import { estimateMessage } from "../../../src/context/estimate.ts";
import type { Message } from "../../../src/schema/message.ts";
import { projectionProblem } from "../../../src/schema/projection.ts";
import { callIds, type Says } from "./conversations.ts";

export interface Played {
  readonly out: Compacted;
  readonly requests: readonly SummaryRequest[];
}

/** Compacts, with a summariser that behaves in one way. */
export function play(input: CompactionInput, says: Says = "text"): Played {
  const requests: SummaryRequest[] = [];
  const planning = compact(input);
  let step = planning.next();
  while (!step.done) {
    requests.push(step.value);
    step = planning.next(answer(says, requests.length));
  }
  return { out: step.value, requests };
}

function answer(says: Says, asked: number): string | null {
  if (says === "null" || (says === "once" && asked > 1)) return null;
  if (says === "nothing") return "  \n";
  return `Summary ${asked}. ${"They talked. ".repeat(says === "too much" ? 5_000 : 10)}`;
}

export function sent(
  { entries, upTo, projection }: Pick<CompactionInput, "entries" | "upTo" | "projection">,
  out?: Compacted,
): Message[] {
  return project(entries, upTo, out?.projection ?? projection);
}

/** What nothing may change: the opening, the latest step and what follows it, and calls that are open. By position. */
function untouchable({ entries, upTo, opening, open = [] }: CompactionInput): Set<number> {
  const kept = new Set<number>();
  const done = new Set(
    entries.slice(0, upTo).flatMap((entry) => (entry.role === "tool" ? [entry.call_id] : [])),
  );
  const isOpen = (id: string) => open.includes(id) || !done.has(id);
  const latest = entries.slice(0, upTo).findLastIndex(({ role }) => role === "assistant");
  for (let i = 0; i < upTo; i++) {
    const entry = entries[i];
    if (entry === undefined || entry.role === "projection") continue;
    const inOpening = opening !== null && i >= opening.from && i < opening.to;
    const inLatest = opening !== null && i >= Math.max(latest, opening.to);
    const caller =
      entry.role === "tool" ? entries.find((one) => callIds(one).includes(entry.call_id)) : entry;
    if (inOpening || inLatest || (caller && callIds(caller).some(isOpen))) kept.add(i);
  }
  return kept;
}

/** What is left when everything that may go is gone. */
export function leastOf(input: CompactionInput): number {
  const kept = [...untouchable(input)].flatMap((at) => input.entries[at] ?? []);
  return kept.reduce((n, one) => n + (one.role === "projection" ? 0 : estimateMessage(one)), input.fixed);
}

/** A target between that and all there is. */
export function targetFor(input: CompactionInput, percent: number): number {
  const least = leastOf(input);
  const all = sent(input).reduce((n, one) => n + estimateMessage(one), input.fixed);
  return Math.floor(least + ((all - least) * percent) / 100);
}

/** Every rule that holds whatever the log, the target and the summariser (B4). */
export function expectSound(input: CompactionInput, { out, requests }: Played): void {
  const { entries, upTo, open = [], fixed, target, window } = input;
  const before = sent(input);
  const after = sent(input, out);
  const size = (messages: readonly Message[]) =>
    Math.ceil(messages.reduce((n, message) => n + estimateMessage(message), fixed));

  // The numbers are those of what is sent.
  expect(out.tokensBefore).toBe(size(before));
  expect(out.tokensAfter).toBe(size(after));
  expect(out.fits).toBe(out.tokensAfter <= target);
  expect(out.tokensAfter).toBeLessThanOrEqual(out.tokensBefore);

  // No call without its result, no result without its call; nothing that must stay is touched or moved.
  const dangling = new Set([...open, ...unanswered(input)]);
  expect(pairProblem(after, dangling)).toBeUndefined();
  const kept = [...untouchable(input)].map((at) => entries[at]);
  let from = 0;
  for (const entry of kept) {
    const at = after.findIndex((message, i) => i >= from && message === entry);
    expect(at, `${entry?.id} is there, whole and in place`).toBeGreaterThanOrEqual(from);
    from = at + 1;
  }
  const { opening } = input;
  if (opening !== null) {
    const at = after.findIndex(({ id }) => id === entries[opening.from]?.id);
    expect(after.slice(at, at + opening.to - opening.from)).toEqual(entries.slice(opening.from, opening.to));
  }

  // What is left begins with a user's message, unless something open does.
  if (dangling.size === 0 && before[0]?.role === "user" && after.length > 0)
    expect(after[0]?.role).toBe("user");

  // It fits unless it cannot, and then nobody was asked and nothing was done.
  if (leastOf(input) > target) {
    expect(out.fits).toBe(false);
    expect(out.problem).toMatch(/cannot be made smaller/);
    expect([requests, out.projection, out.changes]).toEqual([[], null, []]);
  } else expect(out.fits).toBe(true);
  if (out.tokensBefore <= target) expect([requests, out.projection, out.changes]).toEqual([[], null, []]);

  // Summaries are asked for in a way that fits.
  for (const { prompt, messages, maxTokens } of requests) {
    const asked: Message = { id: "", role: "user", parts: [{ type: "text", text: prompt }] };
    expect(
      estimateMessage(asked) + messages.reduce((n, one) => n + estimateMessage(one), maxTokens),
    ).toBeLessThanOrEqual(window);
  }
  expect(requests.length).toBeLessThanOrEqual(6);

  // Only a prefix is rewritten, apart from the opening in it.
  if (out.projection === null) return;
  expect(projectionProblem(out.projection, upTo)).toBeUndefined();
  const { cuts, stubs_to } = out.projection;
  const reach = Math.max(stubs_to, ...cuts.map(({ to }) => to));
  const rest = project(entries, upTo, null, reach);
  expect(rest.length === 0 ? [] : after.slice(-rest.length)).toEqual(rest);
  let tokens = out.tokensBefore;
  for (const change of out.changes) {
    expect(change.tokens_before).toBe(tokens);
    tokens = change.tokens_after;
  }
  expect(tokens).toBe(out.tokensAfter);
}

export function unanswered({ entries, upTo }: Pick<CompactionInput, "entries" | "upTo">): string[] {
  const log = entries.slice(0, upTo);
  const done = new Set(log.flatMap((entry) => (entry.role === "tool" ? [entry.call_id] : [])));
  return log.flatMap(callIds).filter((id) => !done.has(id));
}
