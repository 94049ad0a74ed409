import type { AgentEvent } from "../../events.ts";
import type { Engine, EngineOptions } from "../../local/engine.ts";
import type { DurableEvent } from "../../schema/durable-events.ts";
import type { LiveEvent } from "../../schema/live-events.ts";

/** Makes the engine under test. Every behaviour makes its own. */
export type MakeEngine = (options?: EngineOptions) => Engine | Promise<Engine>;

/** One thing an engine must do. `check` throws when the engine does not do it. */
export interface Behaviour<Make = MakeEngine> {
  /** Begins with the numbers of the rules it checks, and is unique in its suite. */
  readonly title: string;
  /** What it is about, or what it asks of an engine: subsets are chosen by these, never by position. */
  readonly tags: readonly string[];
  readonly check: (make: Make) => Promise<void>;
}

export function behaviour<Make = MakeEngine>(title: string, check: Behaviour<Make>["check"]): Behaviour<Make>;
export function behaviour<Make = MakeEngine>(
  title: string,
  tags: readonly string[],
  check: Behaviour<Make>["check"],
): Behaviour<Make>;
export function behaviour<Make>(
  title: string,
  ...rest: [Behaviour<Make>["check"]] | [readonly string[], Behaviour<Make>["check"]]
): Behaviour<Make> {
  const [tags, check] = rest.length === 1 ? [[], rest[0]] : rest;
  return { title, tags, check };
}

type AnyEvent = AgentEvent | DurableEvent | LiveEvent;

/** Reads a stream to its end. */
export async function collect<E extends AnyEvent>(stream: AsyncIterable<E>): Promise<E[]> {
  const events: E[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

export function isLive(event: AnyEvent): boolean {
  return !("seq" in event);
}

/** A durable trace in short: `status:starting step:1:started usage text …`. */
export function trace(events: readonly AnyEvent[]): string[] {
  return events.filter((event) => !isLive(event)).map((event) => shortly(event as DurableEvent)); // those left are durable
}

function shortly(event: DurableEvent): string {
  switch (event.type) {
    case "status":
      return `status:${event.status}${event.stop_reason ? `:${event.stop_reason}` : ""}`;
    case "step":
      return `step:${event.step}:${event.state}`;
    case "tool_call":
      return `tool_call:${event.tool}`;
    case "tool_result":
      return `tool_result:${event.tool}:${event.metadata.status}`;
    case "error":
      return `error:${event.failure.code}`;
    default:
      return event.type;
  }
}

/** The text that live deltas add up to, for each message and attempt. */
export function shown(events: readonly AnyEvent[]): string {
  return events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
}

/** What a promise is rejected with; fails when it is not. */
export async function rejection(
  promise: Promise<unknown>,
): Promise<Error & { code?: string; result?: unknown }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("it should have been rejected with an error");
}

/** How long a behaviour waits for a condition: only a condition that never holds takes as long. */
export const PATIENCE_MS = 120_000;

/** Waits until a condition holds. */
export async function until(holds: () => boolean, what: string): Promise<void> {
  const start = performance.now();
  while (performance.now() - start < PATIENCE_MS) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`this did not happen: ${what}`);
}
