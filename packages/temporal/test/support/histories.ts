import type { WorkflowClient } from "@temporalio/client";

export type History = Awaited<ReturnType<ReturnType<WorkflowClient["getHandle"]>["fetchHistory"]>>;

/** The histories of a run, the first one first: a long run has several. */
export async function historiesOf(workflows: WorkflowClient, runId: string): Promise<readonly History[]> {
  const found: History[] = [];
  for (let at: string | undefined; ; ) {
    const history = await workflows.getHandle(runId, at).fetchHistory();
    found.unshift(history);
    const started = history.events?.[0]?.workflowExecutionStartedEventAttributes;
    at = started?.continuedExecutionRunId || undefined;
    if (at === undefined) return found;
  }
}

/**
 * A history as it is kept: a line for each event, and without who worked on it on which machine. Temporal's own JSON needs one copy of
 * protobufjs for all of its packages, and there are several here.
 */
export function writeHistory(history: History, names: readonly string[]): string {
  let text = (history.events ?? []).map((event) => `${JSON.stringify(plain(event))}\n`).join("");
  for (const name of names) text = text.replaceAll(name, "somebody");
  return text;
}

export function readHistory(text: string): History {
  return {
    events: text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line, revived)),
  };
}

function revived(_key: string, value: { $text?: string; $long?: string } | null): unknown {
  if (typeof value?.$text === "string") return Buffer.from(value.$text);
  return typeof value?.$long === "string" ? { ...LONG, ...halves(value.$long) } : value;
}

const LONG = { __isLong__: true, unsigned: false };

/** A 64-bit number as protobuf wants it. */
function halves(decimal: string): { low: number; high: number } {
  const bits = BigInt.asUintN(64, BigInt(decimal));
  return { low: Number(BigInt.asIntN(32, bits)), high: Number(BigInt.asIntN(32, bits >> 32n)) };
}

function plain(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Uint8Array) return { $text: Buffer.from(value).toString() }; // payloads are JSON
  if ("__isLong__" in value) return { $long: String(value) };
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, entry]) =>
      entry === null || entry === undefined ? [] : [[key, plain(entry)]],
    ),
  );
}
