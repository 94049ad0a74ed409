import type { DurableEvent, LiveEvent } from "trackside";
import { expand, isEvent } from "trackside/loop";
import { type Bus, type Cursor, parseCursor } from "../bus/index.ts";
import type { Codec } from "../journal/codec.ts";
import { runBody } from "../journal/row-codecs.ts";
import { loadCommits, messagesOf, openingMessage } from "../journal/run-records.ts";
import { type Builder, type Operation, rows, type Store } from "../store/store.ts";
import { TreeReader } from "./tree-reader.ts";

/** One thing a reader of a run is given, and the cursor to come back with. */
export interface StreamedEvent {
  readonly event: DurableEvent | LiveEvent;
  readonly cursor: string;
}

export interface EventsInit {
  readonly store: Store;
  readonly bus: Bus;
  readonly codec: Codec;
}

/** The durable events of a run after a number, made from its rows. */
export function* storedEvents(
  db: Builder,
  runId: string,
  after: number,
  codec: Codec,
): Operation<readonly DurableEvent[]> {
  const [run] = yield* rows(db.selectFrom("runs").select(["turn_ref", "body"]).where("id", "=", runId));
  if (run === undefined) return [];
  const commits = yield* loadCommits(db, runId);
  const messages = yield* messagesOf(db, commits, codec);
  const { user, path = [] } = runBody.read(run.body, runId);
  const opening = yield* openingMessage(db, user, codec);
  const find = (id: string) => {
    const found = messages.get(id)?.message ?? (id === opening.id ? opening : undefined);
    return found?.role === "projection" ? undefined : found;
  };
  const events: DurableEvent[] = [];
  let seq = 0;
  for (const { body } of commits) {
    for (const note of body.notes) {
      if (!isEvent(note)) continue;
      seq += 1;
      if (seq <= after) continue;
      const lineage = note.path === undefined ? path : [...path, ...note.path];
      events.push(
        expand(note, { run_id: runId, turn_ref: run.turn_ref, seq, at: body.at, path: lineage }, find),
      );
    }
  }
  return events;
}

/**
 * The same with those of its sub-agents, and theirs: each between the events that say it started and completed; of one
 * that is under way, at the end.
 */
export function* storedTree(
  db: Builder,
  runId: string,
  after: number,
  codec: Codec,
): Operation<readonly DurableEvent[]> {
  const events: DurableEvent[] = [];
  const open = new Set<string>();
  for (const event of yield* storedEvents(db, runId, 0, codec)) {
    if (event.type === "subagent") {
      const { child_run_id: child, state } = event;
      if (state === "started") open.add(child);
      else if (open.delete(child) && event.seq > after)
        events.push(...(yield* storedTree(db, child, 0, codec)));
    }
    if (event.seq > after) events.push(event);
  }
  for (const child of open) events.push(...(yield* storedTree(db, child, 0, codec)));
  return events;
}

/**
 * A run's events from a cursor to its end, with those of its sub-agents (E4): what is stored, then what happens, live text
 * included.
 */
export async function* runEvents(
  init: EventsInit,
  runId: string,
  after: string | Cursor,
  signal?: AbortSignal,
): AsyncGenerator<StreamedEvent> {
  const cursor = typeof after === "string" ? parseCursor(after) : after;
  const reader = new TreeReader(init, runId, cursor);
  try {
    yield* reader.read(signal);
  } finally {
    reader.close();
  }
}
