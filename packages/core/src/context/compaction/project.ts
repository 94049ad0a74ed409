import type { Message } from "../../schema/message.ts";
import type { Cut, LogEntry, Projection } from "../../schema/projection.ts";
import { sourcesIn } from "../../schema/sources.ts";
import { stubbed } from "./stub.ts";
import { summaryMessage } from "./texts.ts";

const NO_CUTS: readonly Cut[] = [];

/**
 * Goes through a stretch of the log as it is sent: cuts as what stands in for them, old results as stubs, projections not
 * at all. Each message comes with the position it stands for; what stands in for a cut comes at the cut's first.
 */
export function walk(
  entries: readonly LogEntry[],
  from: number,
  to: number,
  projection: Projection | null,
  visit: (message: Message, at: number) => void,
): void {
  const cuts = projection?.cuts ?? NO_CUTS;
  const stubsTo = projection?.stubs_to ?? 0;
  let next = 0;
  for (let i = from; i < to; i++) {
    let cut = cuts[next];
    while (cut !== undefined && cut.to <= i) cut = cuts[++next];
    if (projection !== null && cut !== undefined && cut.from <= i) {
      if (cut.from === i) for (const message of standIns(projection.id, cut, entries)) visit(message, i);
      i = cut.to - 1;
      continue;
    }
    const entry = entries[i];
    if (entry === undefined) return;
    if (entry.role === "projection") continue;
    visit(i < stubsTo && entry.role === "tool" ? stubbed(entry) : entry, i);
  }
}

/** The messages of a log up to a position as they are sent, with a projection in force. */
export function project(
  entries: readonly LogEntry[],
  upTo: number,
  projection: Projection | null,
  from = 0,
): Message[] {
  const sent: Message[] = [];
  walk(entries, from, upTo, projection, (message) => sent.push(message));
  return sent;
}

/** What is sent in place of a cut. A summary passes on what the results it was made from said. */
export function standIns(
  projectionId: string,
  { from, to, summary, messages }: Cut,
  entries: readonly LogEntry[] = [],
): readonly Message[] {
  const id = `${projectionId}.${from}`;
  const summarised =
    summary === null ? [] : [summaryMessage(id, summary, sourcesIn(entries.slice(from, to)))];
  return messages === undefined ? summarised : [...summarised, ...messages];
}
