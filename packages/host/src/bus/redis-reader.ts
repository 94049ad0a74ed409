import { setTimeout as sleep } from "node:timers/promises";
import type { MemoryBus } from "./memory.ts";
import { decodeEntry, type Fields } from "./redis-entry.ts";
import type { Keys } from "./redis-keys.ts";
import { type Client, type Session, within } from "./redis-session.ts";

const BLOCK_MS = 5000;
const ANSWER_MS = 5000;
const ENTRIES_AT_ONCE = 64;
const RUNS_AT_ONCE = 100;
const START = "0-0";

/** A run that somebody in this process reads. */
interface Followed {
  readonly runId: string;
  readers: number;
  /** The last entry that was read. */
  last: string;
  caughtUp: boolean;
  /** How many entries each bus has written, as far as they were read. */
  readonly counts: Map<string, number>;
}

/**
 * Reads the streams of all runs that have readers in this process, on one connection, and passes on to the memory bus what
 * other processes wrote.
 */
export class RedisReader {
  readonly #memory: MemoryBus;
  readonly #keys: Keys;
  readonly #id: string;
  #lost = false;
  readonly #followed = new Map<string, Followed>();

  constructor(memory: MemoryBus, keys: Keys, id: string) {
    this.#memory = memory;
    this.#keys = keys;
    this.#id = id;
  }

  /** True when the run was not followed yet: the session has to be told, it may be waiting for others. */
  follow(runId: string): boolean {
    const followed = this.#followed.get(runId);
    if (followed !== undefined) {
      followed.readers += 1;
      return false;
    }
    this.#followed.set(runId, { runId, readers: 1, last: START, caughtUp: false, counts: new Map() });
    return true;
  }

  unfollow(runId: string): void {
    const followed = this.#followed.get(runId);
    if (followed === undefined) return;
    followed.readers -= 1;
    if (followed.readers > 0) return;
    this.#followed.delete(runId);
    this.#memory.finishRemote(runId);
  }

  /** The connection is gone: nobody knows what is missed from now on. Said once, and once more when it is back. */
  lose(): void {
    if (!this.#lost) this.#gap();
    this.#lost = true;
  }

  #gap(): void {
    for (const { runId } of this.#followed.values())
      this.#memory.publishAll(runId, [{ type: "gap", run_id: runId }], true);
  }

  readonly session: Session = async (client, { signal, alive }) => {
    // A server that has come back may have begun again with earlier ids, so all is read from the start: what is known
    // already is not taken twice.
    for (const followed of this.#followed.values()) {
      followed.last = START;
      followed.caughtUp = false;
      followed.counts.clear();
    }
    let bell = START;
    for (;;) {
      await this.#catchUp(client, signal);
      if (this.#lost) this.#gap();
      this.#lost = false;
      const following = [...this.#followed.values()];
      const streams = following.map(({ runId, last }) => ({ key: this.#keys.run(runId), id: last }));
      streams.push({ key: this.#keys.bell(this.#id), id: bell });
      const asked = client.xRead(streams, { BLOCK: BLOCK_MS, COUNT: ENTRIES_AT_ONCE });
      const reply = await within(BLOCK_MS + ANSWER_MS, asked, signal);
      alive();
      const byKey = new Map(following.map((followed) => [this.#keys.run(followed.runId), followed]));
      for (const { name, messages } of reply ?? []) {
        const followed = byKey.get(name);
        if (followed === undefined) bell = messages.at(-1)?.id ?? bell;
        else for (const { id, message } of messages) this.#take(followed, id, message);
      }
      // The server goes through every stream each time, so many of them are read a little less often.
      const pause = Math.min(following.length / 50, 20);
      if (pause >= 1) await sleep(pause, undefined, { signal });
    }
  };

  /** What the streams hold of runs that are new here. */
  async #catchUp(client: Client, signal: AbortSignal): Promise<void> {
    const behind = [...this.#followed.values()].filter((followed) => !followed.caughtUp);
    for (let at = 0; at < behind.length; at += RUNS_AT_ONCE) {
      const some = behind.slice(at, at + RUNS_AT_ONCE);
      const asked = Promise.all(some.map(({ runId }) => client.xRange(this.#keys.run(runId), "-", "+")));
      for (const [i, entries] of (await within(ANSWER_MS, asked, signal)).entries()) {
        const followed = some[i];
        if (followed === undefined) continue;
        for (const { id, message } of entries ?? []) this.#take(followed, id, message);
        followed.caughtUp = true;
      }
    }
  }

  #take(followed: Followed, id: string, fields: Fields): void {
    const { runId, counts, caughtUp } = followed;
    followed.last = id;
    const entry = decodeEntry(fields);
    if (entry === null || entry.by === this.#id || this.#followed.get(runId) !== followed) return;
    const before = counts.get(entry.by) ?? (caughtUp ? 0 : entry.n - 1);
    counts.set(entry.by, entry.n);
    // One that had nothing more to say counts from 1 again.
    const missed = entry.n !== before + 1 && entry.n !== 1;
    const items = missed ? [{ type: "gap", run_id: runId } as const, ...entry.items] : entry.items;
    this.#memory.publishAll(runId, items, true);
    if (entry.finished) this.#memory.finish(runId);
  }
}
