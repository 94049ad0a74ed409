import { type DurableEvent, type LiveEvent, TracksideError } from "trackside";
import { expand, isEvent } from "trackside/loop";
import { type Bus, parseCursor, RunReader } from "../bus/index.ts";
import type { Codec } from "../journal/codec.ts";
import { runBody } from "../journal/row-codecs.ts";
import { loadCommits, messagesOf, openingMessage } from "../journal/run-records.ts";
import { type Builder, type Operation, rows, type Store } from "../store/store.ts";

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

const POLL_MS = 500;

/** A run's events from a cursor to its end (E4): what is stored, then what happens, live text included. */
export async function* runEvents(
  { store, bus, codec }: EventsInit,
  runId: string,
  after: string,
  signal?: AbortSignal,
): AsyncGenerator<StreamedEvent> {
  const reader = new RunReader(parseCursor(after));
  const live = bus.subscribe(runId, reader.position);
  const close = () => live.close();
  signal?.addEventListener("abort", close, { once: true });
  // Other processes may say nothing on this bus: look now and then.
  const poll = new Poll(POLL_MS);
  try {
    let waiting: ReturnType<typeof live.next> | undefined;
    while (!signal?.aborted) {
      for (const stored of await store.read((db) => storedEvents(db, runId, reader.seq, codec)))
        for (const event of reader.read(stored)) yield { event, cursor: reader.cursor };
      if (reader.ended || (await isOver(store, runId, reader.seq))) return;
      for (let stale = false; !stale && !signal?.aborted; ) {
        waiting ??= live.next();
        const item = await Promise.race([waiting, poll.next()]);
        if (item === undefined) break;
        waiting = undefined;
        if (item.done) return;
        const { value } = item;
        if (value.type === "committed" || value.type === "gap") stale = true;
        else if (value.type !== "wake")
          for (const event of reader.read(value)) yield { event, cursor: reader.cursor };
      }
    }
  } finally {
    poll.stop();
    signal?.removeEventListener("abort", close);
    live.close();
  }
}

/** Whether a reader that has come this far has everything. */
async function isOver(store: Store, runId: string, seq: number): Promise<boolean> {
  return store.read(function* (db) {
    const [run] = yield* rows(db.selectFrom("runs").select("ended_at").where("id", "=", runId));
    if (run === undefined) throw new TracksideError("not_found", `There is no run ${runId}.`);
    if (run.ended_at === null) return false;
    const [last] = yield* rows(
      db.selectFrom("commits").select("seq").where("run_id", "=", runId).orderBy("ord", "desc").limit(1),
    );
    return seq >= (last?.seq ?? 0);
  });
}

/** Wakes every so often, while somebody waits. */
class Poll {
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  next(): Promise<undefined> {
    return new Promise((resolve) => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(resolve, this.#ms, undefined);
    });
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
