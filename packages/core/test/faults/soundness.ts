import type { AgentEvent } from "trackside";
import { expect } from "vitest";

type Delta = Extract<AgentEvent, { type: "text_delta" | "reasoning_delta" | "tool_input_delta" }>;

/** What holds for every run, however its provider behaved (E1, E2, X8). */
export function expectSound({ events }: { events: readonly AgentEvent[] }, what: string): void {
  expect(problemsOf(events), what).toEqual([]);
}

/** The pieces of an answer that were shown while it came. */
export function deltasOf(events: readonly AgentEvent[]): Delta[] {
  return events.filter(isDelta);
}

/** Every text that was committed, in order. */
export function textsOf(events: readonly AgentEvent[]): { text: string; partial: boolean }[] {
  return events.flatMap((event) =>
    event.type === "text" ? [{ text: event.text, partial: event.partial === true }] : [],
  );
}

export function shownText(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
}

/** The waits announced before each new attempt (X8). */
export function retriesOf(events: readonly AgentEvent[]): number[] {
  return events.flatMap((event) =>
    event.type === "error" && event.retry_in_ms !== undefined ? [event.retry_in_ms] : [],
  );
}

function isDelta(event: AgentEvent): event is Delta {
  return event.type === "text_delta" || event.type === "reasoning_delta" || event.type === "tool_input_delta";
}

// Collected as text: this runs for tens of thousands of runs, and an assertion each would cost more than the runs.
function problemsOf(events: readonly AgentEvent[]): string[] {
  return [...badOrder(events), ...badDeltas(events), ...badRetries(events), ...badCalls(events)];
}

function badOrder(events: readonly AgentEvent[]): string[] {
  const problems: string[] = [];
  let seq = 0;
  for (const event of events) {
    if ("seq" in event && event.seq !== ++seq) problems.push(`seq ${event.seq} where ${seq} was due`);
  }
  const endings = events.filter((event) => event.type === "status" && event.status !== "starting");
  if (endings.length !== 1) problems.push(`${endings.length} terminal statuses`);
  if (events.at(-1) !== endings[0]) problems.push(`${events.at(-1)?.type} after the terminal status`);
  return problems;
}

/** Nothing is shown twice, nothing is left out, and the committed text is what was shown. */
function badDeltas(events: readonly AgentEvent[]): string[] {
  const problems: string[] = [];
  const shown = new Map<string, string>();
  for (const event of events) {
    if (isDelta(event)) {
      const id = event.type === "tool_input_delta" ? event.call_id : event.message_id;
      const before = shown.get(`${event.type} ${id}`) ?? "";
      if (event.offset !== before.length)
        problems.push(`${event.type} at ${event.offset}, not ${before.length}`);
      shown.set(`${event.type} ${id}`, before + event.text);
    } else if (event.type === "text") {
      const was = shown.get(`text_delta ${event.message_id}`);
      if (was !== event.text)
        problems.push(`shown ${JSON.stringify(was)}, kept ${JSON.stringify(event.text)}`);
      shown.delete(`text_delta ${event.message_id}`);
    }
  }
  const lost = [...shown.keys()].filter((key) => key.startsWith("text_delta"));
  return [...problems, ...lost.map((key) => `${key} was shown and never kept`)];
}

function badRetries(events: readonly AgentEvent[]): string[] {
  const problems: string[] = [];
  let shown = 0;
  for (const event of events) {
    if (event.type === "step") shown = 0;
    else if (isDelta(event)) shown += 1;
    else if (event.type === "error" && event.retry_in_ms !== undefined && shown > 0)
      problems.push(`tried again after ${shown} deltas were shown`);
  }
  return problems;
}

function badCalls(events: readonly AgentEvent[]): string[] {
  const open = new Set<string>();
  const problems: string[] = [];
  for (const event of events) {
    if (event.type === "tool_call") open.add(event.call_id);
    else if (event.type === "tool_result" && !open.delete(event.call_id))
      problems.push(`a result without a call, or a second one, for ${event.call_id}`);
  }
  return [...problems, ...[...open].map((id) => `no result for ${id}`)];
}
