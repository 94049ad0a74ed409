import { type DurableEvent, type LiveEvent, TracksideError } from "trackside";
import { type Cursor, formatCursor, type Position, RunReader, type Subscription } from "../bus/index.ts";
import { rows } from "../store/store.ts";
import { type EventsInit, type StreamedEvent, storedEvents } from "./events.ts";

/** What is said of a sub-agent by its parent. */
type Announced = Extract<DurableEvent, { type: "subagent" }>;

/** What one of the runs has to show. */
interface Heard {
  readonly branch: Branch;
  readonly item: Awaited<ReturnType<Subscription["next"]>>;
}

/** A run that is being read, and the sub-agents it has under way, as far as the reader knows. */
interface Branch {
  readonly runId: string;
  readonly reader: RunReader;
  readonly live: Subscription;
  readonly children: Map<string, Branch>;
  waiting: Promise<Heard> | undefined;
  /** Nothing of it was read yet: what it said before somebody listened is in the store only. */
  isFresh: boolean;
}

const POLL_MS = 500;

/**
 * Reads a run with its sub-agents (E4): one reader for each, opened by the event that says it started, and read to its end
 * before the one that says it completed. A cursor has the position of each that is between the two.
 */
export class TreeReader {
  readonly #init: EventsInit;
  readonly #root: Branch;
  /** Positions of sub-agents that a reader comes back with. */
  readonly #positions: Cursor["children"];
  readonly #poll = new Poll(POLL_MS);

  constructor(init: EventsInit, runId: string, { children, ...position }: Cursor) {
    this.#init = init;
    this.#positions = children;
    this.#root = this.#open(runId, position);
  }

  async *read(signal?: AbortSignal): AsyncGenerator<StreamedEvent> {
    const close = () => this.close();
    signal?.addEventListener("abort", close, { once: true });
    const root = this.#root;
    try {
      let stale: Branch | undefined;
      while (!signal?.aborted) {
        yield* stale === undefined ? this.#catchUp(root, "all") : this.#catchUp(stale, "fresh");
        if (root.reader.ended || (await this.#isOver(root))) return;
        // What is live is shown as it comes; what was committed is read from the store.
        stale = undefined;
        while (stale === undefined && !signal?.aborted) {
          const heard: Heard | undefined = await Promise.race([
            this.#poll.next(),
            ...this.#all().map(waiting),
          ]);
          if (heard === undefined) break; // other processes may say nothing on this bus: look now and then
          const { branch, item } = heard;
          branch.waiting = undefined;
          if (item.done) return;
          const { value } = item;
          if (value.type === "committed" || value.type === "gap") stale = branch;
          else if (value.type !== "wake")
            for (const event of branch.reader.read(value)) yield this.#shown(event);
        }
      }
    } finally {
      signal?.removeEventListener("abort", close);
    }
  }

  close(): void {
    this.#poll.stop();
    for (const branch of this.#all()) branch.live.close();
  }

  #open(runId: string, position: Position): Branch {
    const reader = new RunReader(position);
    const live = this.#init.bus.subscribe(runId, reader.position); // before the store is read, so that nothing is missed
    return { runId, reader, live, children: new Map(), waiting: undefined, isFresh: true };
  }

  /** Everything of a run that is in the store and was not shown, then of its sub-agents: of all, or of those just met. */
  async *#catchUp(branch: Branch, which: "all" | "fresh"): AsyncGenerator<StreamedEvent> {
    const { reader, children } = branch;
    for (const stored of await this.#stored(branch)) {
      if (stored.seq !== reader.seq + 1) continue;
      const about = stored.type === "subagent" ? stored : undefined;
      const child = about && children.get(about.child_run_id);
      if (about?.state === "completed" && child) {
        yield* this.#catchUp(child, "all"); // it was over before this was said
        child.live.close();
        children.delete(child.runId);
      }
      for (const event of reader.read(stored)) {
        if (event === stored && about?.state === "started") this.#announced(branch, about);
        yield this.#shown(event);
      }
    }
    for (const child of [...children.values()])
      if (which === "all" || child.isFresh) yield* this.#catchUp(child, which);
  }

  /** Events after what was shown. Of a run that the reader comes back to, first who of its sub-agents is under way. */
  async #stored(branch: Branch): Promise<readonly DurableEvent[]> {
    const { store, codec } = this.#init;
    const { runId, reader } = branch;
    const { seq } = reader;
    const comesBack = branch.isFresh && seq > 0;
    branch.isFresh = false;
    const events = await store.read((db) => storedEvents(db, runId, comesBack ? 0 : seq, codec));
    if (!comesBack) return events;
    const open = new Map<string, Announced>();
    for (const event of events.slice(0, seq)) {
      if (event.type !== "subagent") continue;
      if (event.state === "started") open.set(event.child_run_id, event);
      else open.delete(event.child_run_id);
    }
    for (const about of open.values()) this.#announced(branch, about);
    return events.slice(seq);
  }

  #announced({ children }: Branch, { child_run_id: id }: Announced): void {
    if (!children.has(id)) children.set(id, this.#open(id, this.#positions[id] ?? { seq: 0 }));
  }

  #shown(event: DurableEvent | LiveEvent): StreamedEvent {
    const [root, ...others] = this.#all();
    const children = others.map(({ runId, reader }) => [runId, reader.position] as const);
    const position = root?.reader.position ?? { seq: 0 };
    return { event, cursor: formatCursor({ ...position, children: Object.fromEntries(children) }) };
  }

  /** Every run that is being read, each before its sub-agents. */
  #all(): readonly Branch[] {
    const all = [this.#root];
    for (const branch of all) all.push(...branch.children.values());
    return all;
  }

  /** Whether a reader that has come this far has everything. */
  async #isOver({ runId, reader: { seq } }: Branch): Promise<boolean> {
    return this.#init.store.read(function* (db) {
      const [run] = yield* rows(db.selectFrom("runs").select("ended_at").where("id", "=", runId));
      if (run === undefined) throw new TracksideError("not_found", `There is no run ${runId}.`);
      if (run.ended_at === null) return false;
      const [last] = yield* rows(
        db.selectFrom("commits").select("seq").where("run_id", "=", runId).orderBy("ord", "desc").limit(1),
      );
      return seq >= (last?.seq ?? 0);
    });
  }
}

/** What a run shows next, asked for once. */
function waiting(branch: Branch): NonNullable<Branch["waiting"]> {
  branch.waiting ??= branch.live.next().then((item) => ({ branch, item }));
  return branch.waiting;
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
