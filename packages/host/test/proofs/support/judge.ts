import type { LogEntry } from "trackside";
import type { Done } from "./job.ts";
import type { Entry } from "./ledger.ts";
import { renamed } from "./report.ts";
import type { Scenario } from "./scenario.ts";

/** A job that is over: what its last process said, and what happened to the world meanwhile. */
export interface Played extends Done {
  readonly entries: readonly Entry[];
  /** Processes that killed themselves on the way. */
  readonly deaths: number;
}

/** Says everything in which a run that died on the way differs from one that did not. */
export function differences(scenario: Scenario, calm: Played, played: Played): string[] {
  return [...faults(scenario, played), ...unlike(calm, played)];
}

/** What is wrong with a played scenario by itself. */
export function faults({ ends = ["completed"] }: Scenario, { report, entries, notices }: Played): string[] {
  const found: string[] = notices.map((notice) => `noticed: ${notice}`);
  const statuses = report.runs.map(({ status }) => status);
  if (!same(statuses, ends)) found.push(`runs ended as ${show(statuses)}, not ${show(ends)}`);
  for (const [i, { status, terminals, gaps }] of report.runs.entries()) {
    if (!same(terminals, [status])) found.push(`run ${i + 1} has the terminal statuses ${show(terminals)}`);
    found.push(...gaps.map((gap) => `run ${i + 1}: ${gap}`));
  }
  for (const { id, state } of report.approvals) if (state === "pending") found.push(`${id} is still pending`);
  for (const run of report.held) found.push(`a branch is still held by ${run}`);
  const told = new Set<string>();
  for (const node of report.nodes) {
    if (told.has(node)) found.push(`a node was told twice: ${node}`);
    told.add(node);
  }
  for (const state of report.deferred) if (state !== "done") found.push(`deferred work is ${state}`);
  const counted = new Map<string, number>();
  for (const { what, effect, call } of entries)
    if (effect === "once") counted.set(`${what} for ${call}`, (counted.get(`${what} for ${call}`) ?? 0) + 1);
  for (const [what, times] of counted) if (times > 1) found.push(`${what} happened ${times} times`);
  return found;
}

function unlike(calm: Played, played: Played): string[] {
  const found: string[] = [];
  if (calm.output !== played.output)
    found.push(`the output is ${show(played.output)}, not ${show(calm.output)}`);
  const asked = unknownCalls(played.report.transcript);
  const before = calm.report.transcript.map((message) => told(message, asked));
  const after = played.report.transcript.map((message) => told(message, asked));
  const at = before.findIndex((message, i) => !same(message, after[i]));
  if (!same(before, after))
    found.push(
      `the transcript has ${after.length} messages, not ${before.length}, and at ${at} it is ${show(after[at])}, not ${show(before[at])}`,
    );
  if (!same(calm.report.inbox, played.report.inbox))
    found.push(`messages were ${show(played.report.inbox)}, not ${show(calm.report.inbox)}`);
  if (!same(calm.report.deferred, played.report.deferred))
    found.push(`deferred work was ${show(played.report.deferred)}, not ${show(calm.report.deferred)}`);
  if (!same(calm.report.nodes, played.report.nodes))
    found.push(`nodes were ${show(played.report.nodes)}, not ${show(calm.report.nodes)}`);
  // Whether a tool asks again depends on whether it died with its process.
  const kinds = ({ report }: Played) =>
    report.approvals.filter(({ kind }) => kind !== "unknown_outcome" && kind !== "elicitation");
  if (!same(kinds(calm), kinds(played)))
    found.push(`approvals are ${show(kinds(played))}, not ${show(kinds(calm))}`);
  const done = effects(calm);
  const redone = effects(played);
  if (!same(done, redone)) found.push(`what happened is ${show(redone)}, not ${show(done)}`);
  return found;
}

/** Everything that happened, once each: how often is a matter of its effect, and checked apart. */
function effects({ entries, report: { names } }: Played): string[] {
  const real = entries.filter(({ what }) => !what.startsWith("model "));
  return [...new Set(real.map((entry) => JSON.stringify(renamed(entry, names))))].sort();
}

/** Calls whose outcome somebody had to find out: their record says that somebody was asked. */
function unknownCalls(transcript: readonly LogEntry[]): ReadonlySet<string> {
  return new Set(
    transcript.flatMap((message) =>
      message.role === "tool" && message.metadata.approval_id?.includes(".unknown.") ? [message.call_id] : [],
    ),
  );
}

/** A message without what may differ: times, and which attempt at the model it came from. */
function told(message: LogEntry, asked: ReadonlySet<string>): unknown {
  const id = message.id.replace(/\.m\d+$/, ".m");
  if (message.role !== "tool") return { ...message, id };
  const { started_at, completed_at, execution_time_ms, approval_wait_ms, ...metadata } = message.metadata;
  const { approval_id, approval_status, ...rest } = metadata;
  return { ...message, id, metadata: asked.has(message.call_id) ? rest : metadata };
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function show(value: unknown): string {
  return JSON.stringify(value) ?? "nothing";
}
