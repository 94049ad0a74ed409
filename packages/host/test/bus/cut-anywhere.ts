import { setImmediate as turn } from "node:timers/promises";
import { Agent, cont, defineTool, postHook, regenerate } from "trackside";
import type { DurableEvent, LiveEvent } from "trackside/schema";
import { scriptedModel } from "trackside/testing";
import { expect } from "vitest";
import { type Bus, parseCursor, RunReader } from "../../src/bus/index.ts";

type RunEvent = DurableEvent | LiveEvent;

/** A run with everything that makes reading hard: reasoning, calls side by side that report, a draft taken back. */
export async function recordedRun(): Promise<RunEvent[]> {
  const work = defineTool({
    name: "work",
    execute: async (_, { progress }) => {
      progress({ progress: 1, total: 2 });
      await turn();
      progress({ progress: 2, total: 2 });
      return "done";
    },
  });
  const model = scriptedModel(
    [
      { reasoning: "I will look.", text: "Let me look.", calls: [{ tool: "work" }, { tool: "work" }] },
      { reasoning: "A draft.", text: "Something rude about 🚂." },
      { text: "Something kind about 🚂." },
    ],
    { chunk: 3 },
  );
  const kind = postHook({ name: "kind" }, (said) =>
    String(said.answer).includes("rude") ? regenerate("be kind") : cont(said),
  );
  const agent = new Agent({ name: "a", model, tools: [work], hooks: { post: [kind] } });
  const events: RunEvent[] = [];
  for await (const event of agent.stream("Go")) events.push(event);
  return events;
}

/** The run happens again, event by event: durable ones are stored and announced, live ones go over the bus. */
export async function happen(events: readonly RunEvent[], store: DurableEvent[], bus: Bus): Promise<void> {
  const runId = events[0]?.run_id ?? "";
  for (const event of events) {
    if ("seq" in event) {
      store.push(event);
      bus.publish(runId, { type: "committed", run_id: runId, seq: event.seq });
    } else bus.publish(runId, event);
    await turn();
  }
  bus.finish(runId);
}

/** Reads a run to its end from a cursor, as a host does. Each event comes with the cursor to go on from. */
export async function* follow(
  runId: string,
  after: string,
  store: readonly DurableEvent[],
  bus: Bus,
): AsyncGenerator<[RunEvent, cursor: string]> {
  const reader = new RunReader(parseCursor(after));
  const live = bus.subscribe(runId, reader.position);
  try {
    let stale = true;
    while (!reader.ended && !isOver(store, reader.seq)) {
      if (stale) {
        for (const stored of store.slice(reader.seq))
          for (const event of reader.read(stored)) yield [event, reader.cursor];
        stale = false;
        continue;
      }
      const { done, value: item } = await live.next();
      if (done) return;
      if (item.type === "committed" || item.type === "gap") stale = true;
      else if (item.type !== "wake") for (const event of reader.read(item)) yield [event, reader.cursor];
    }
  } finally {
    live.close();
  }
}

/** The reader comes back with a cursor at the very end. */
const isOver = (store: readonly DurableEvent[], seq: number) => {
  const last = store.at(-1);
  return last?.seq === seq && last.type === "status" && last.status === "completed";
};

/** What is on the screen of somebody who appends deltas, and lets durable events replace them. */
export function screen(events: readonly RunEvent[]): Record<string, string> {
  const texts = new Map<string, string>();
  const settled = new Set<string>();
  for (const event of events) {
    if (event.type === "text_delta" || event.type === "reasoning_delta") {
      const key = `${event.type.split("_")[0]} of ${event.message_id}`;
      const shown = texts.get(key) ?? "";
      expect(settled.has(key)).toBe(false);
      expect(event.offset).toBe(shown.length);
      texts.set(key, shown + event.text);
    } else if (event.type === "text" || event.type === "reasoning") {
      const key = `${event.type} of ${event.message_id}`;
      settled.add(key);
      expect(event.text.startsWith(texts.get(key) ?? "")).toBe(true);
      texts.set(key, event.text);
    } else if (event.type === "message_retracted") {
      texts.delete(`text of ${event.message_id}`);
      texts.delete(`reasoning of ${event.message_id}`);
    }
  }
  return Object.fromEntries(texts);
}

/** Two readers of one run while it happens: the second goes on where the first was cut. */
export async function cutAndResume(
  events: readonly RunEvent[],
  cut: number,
  { into, outOf }: { into: Bus; outOf: Bus },
): Promise<RunEvent[]> {
  const runId = events[0]?.run_id ?? "";
  const store: DurableEvent[] = [];
  const seen: RunEvent[] = [];
  const happening = happen(events, store, into);
  let last = "0";
  for (const limit of [cut, Number.POSITIVE_INFINITY]) {
    let taken = 0;
    if (limit === 0) continue;
    for await (const [event, cursor] of follow(runId, last, store, outOf)) {
      seen.push(event);
      last = cursor;
      taken += 1;
      if (taken === limit) break;
    }
  }
  await happening;
  return seen;
}
