import type { DurableEvent, LiveEvent, LiveEventOf } from "trackside/schema";
import type { BusItem, Gap, Subscription } from "../../src/bus/index.ts";

export const RUN = "run_1";
export const message = (n = 1) => `${RUN}.main.1.m${n}`;
export const call = (n = 0) => `${RUN}.main.1.${n}`;

const moment = { run_id: RUN, turn_ref: "turn_1", path: [], after_seq: 3, attempt: 1 };

export function text(offset: number, said: string, more: Partial<LiveEventOf<"text_delta">> = {}): LiveEvent {
  return { type: "text_delta", ...moment, message_id: message(), offset, text: said, ...more };
}

export function reasoning(offset: number, said: string, more = {}): LiveEvent {
  return { type: "reasoning_delta", ...moment, message_id: message(), offset, text: said, ...more };
}

export function input(offset: number, said: string, more = {}): LiveEvent {
  const of = { message_id: message(), call_id: call(), tool: "t" };
  return { type: "tool_input_delta", ...moment, ...of, offset, text: said, ...more };
}

export function progress(offset: number, more = {}): LiveEvent {
  const report = { server: null, progress: offset, total: null, message: null };
  return { type: "mcp_progress", ...moment, call_id: call(), offset, ...report, ...more };
}

export const committed = (seq: number): BusItem => ({ type: "committed", run_id: RUN, seq });
export const wake = (what: string): BusItem => ({ type: "wake", run_id: RUN, what });

/** A durable event of which only these fields matter. */
export function durable(
  seq: number,
  fields: { type: DurableEvent["type"] } & Record<string, unknown>,
): DurableEvent {
  // The reader looks at no other field.
  return { run_id: RUN, turn_ref: "turn_1", seq, at: 0, path: [], ...fields } as unknown as DurableEvent;
}

/** Splits a text into deltas of these lengths. */
export function pieces(
  whole: string,
  size: number,
  more: Partial<LiveEventOf<"text_delta">> = {},
): LiveEvent[] {
  const all: LiveEvent[] = [];
  for (let at = 0; at < whole.length; at += size) all.push(text(at, whole.slice(at, at + size), more));
  return all;
}

/** Everything from a subscription until it holds what is waited for. */
export async function until(
  subscription: Subscription,
  enough: (items: readonly (BusItem | Gap)[]) => boolean,
): Promise<(BusItem | Gap)[]> {
  const items: (BusItem | Gap)[] = [];
  while (!enough(items)) {
    const { done, value } = await subscription.next();
    if (done) throw new Error(`the subscription ended with ${JSON.stringify(items)}`);
    items.push(value);
  }
  return items;
}

/** The text of a message in what was read, if its pieces join up. */
export function joined(items: readonly (BusItem | Gap)[], messageId = message()): string {
  let whole = "";
  for (const item of items) {
    if (item.type !== "text_delta" || item.message_id !== messageId) continue;
    if (item.offset !== whole.length)
      throw new Error(`offset ${item.offset} after ${whole.length} characters`);
    whole += item.text;
  }
  return whole;
}

export const hasText = (whole: string) => (items: readonly (BusItem | Gap)[]) => joined(items) === whole;
export const hasType = (type: (BusItem | Gap)["type"]) => (items: readonly (BusItem | Gap)[]) =>
  items.some((item) => item.type === type);
