import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import { sameBytes } from "./same-bytes.ts";
import { commonLength, type Sent } from "./sent.ts";

/** What two requests have in common before their first message, and what differs if anything does. */
export type Heads =
  | { readonly alike: true }
  | {
      readonly alike: false;
      readonly what: string /** Tools, from the first one on. */;
      readonly tools: number;
    };

const ALIKE: Heads = { alike: true };
const MOST_NAMES = 8;

/** Compares what comes before the messages, in the order providers read it: tools, system prompt. */
export function compareHeads(last: Sent, next: Sent): Heads {
  const { by, model, tools, format } = next.heading;
  const before = last.heading;
  if (before.by !== by && before.model !== model) return differ(last, next, "model changed", 0);
  if (before.format !== format && !sameBytes(before.format, format))
    return differ(last, next, "output schema changed", 0);
  if (before.tools !== tools) {
    const common = commonTools(before.tools, tools);
    if (common < Math.max(before.tools.length, tools.length))
      return differ(last, next, `tools changed: ${toolChanges(before.tools, tools)}`, common);
  }
  if (!sameBytes(last.pieces.system, next.pieces.system))
    return differ(last, next, "instructions changed", tools.length);
  return ALIKE;
}

/** Another agent has other instructions, tools, a model of its own: it is the agent that changed. */
function differ(last: Sent, next: Sent, what: string, tools: number): Heads {
  const { agent, runId } = next.heading;
  if (last.heading.agent === agent) return { alike: false, what, tools };
  const isHandoff = last.heading.runId === runId;
  return { alike: false, what: `${isHandoff ? "handoff" : "agent changed"} to ${agent}`, tools };
}

function commonTools(
  a: readonly LanguageModelV4FunctionTool[],
  b: readonly LanguageModelV4FunctionTool[],
): number {
  const end = Math.min(a.length, b.length);
  for (let i = 0; i < end; i++) if (!sameBytes(a[i], b[i])) return i;
  return end;
}

/** `+` for what is new, `-` for what is gone, `~` for what is defined in another way. */
function toolChanges(
  before: readonly LanguageModelV4FunctionTool[],
  now: readonly LanguageModelV4FunctionTool[],
): string {
  const had = new Map(before.map((tool) => [tool.name, tool]));
  const has = new Set(now.map(({ name }) => name));
  const changes: string[] = [];
  for (const tool of now) {
    const known = had.get(tool.name);
    if (known === undefined) changes.push(`+${tool.name}`);
    else if (!sameBytes(known, tool)) changes.push(`~${tool.name}`);
  }
  for (const { name } of before) if (!has.has(name)) changes.push(`-${name}`);
  if (changes.length === 0) return "their order";
  const more = changes.length - MOST_NAMES;
  return more > 0 ? `${changes.slice(0, MOST_NAMES).join(" ")} and ${more} more` : changes.join(" ");
}

/** Why the request before is not wholly a prefix of the next one, whose first `common` messages are its. */
export function brokenBy(last: Sent, next: Sent, common: number): string {
  if (last.changed === undefined && next.changed === undefined) return movedBy(last, next, common);
  // What rails change in the same way each time breaks nothing; then it is what would have broken it without them.
  const unchanged = commonLength(last.asked, next.asked);
  const isRails = unchanged === askedLength(last) || common < unchanged;
  return isRails ? `${changers(last, next).join(", ")} changed the request` : movedBy(last, next, unchanged);
}

/** Who changed one of them and not the other; if that is nobody, whoever changed the later one. */
function changers(last: Sent, next: Sent): readonly string[] {
  const before = last.changed?.by ?? [];
  const now = next.changed?.by ?? [];
  const odd = [...before.filter((one) => !now.includes(one)), ...now.filter((one) => !before.includes(one))];
  return odd.length > 0 ? odd : now;
}

function movedBy(last: Sent, next: Sent, at: number): string {
  const was = transientAt(last, at);
  if (was !== undefined) return was;
  if (last.pieces.log !== next.pieces.log) return "compaction";
  return transientAt(next, at) ?? "history changed";
}

function askedLength({ pieces: { length, inserted, added, aside } }: Sent): number {
  return length + inserted.length + added.length + aside.length;
}

/** Whose a message is that later requests do not have; undefined for one of the log. */
function transientAt({ pieces }: Sent, index: number): string | undefined {
  const { at, length, tail, inserted, plan, added, notes, aside } = pieces;
  if (index < at) return undefined;
  if (index < at + inserted.length) {
    const message = tail[index - at];
    if (message?.id === plan || message?.role !== "user") return "planner";
    return `hook ${message.by_hook ?? "of the turn"}`;
  }
  const end = length + inserted.length;
  if (index < end || index >= end + added.length + aside.length) return undefined;
  if (index >= end + added.length) return "planner";
  return index >= end + added.length - notes ? "note" : "feedback";
}
