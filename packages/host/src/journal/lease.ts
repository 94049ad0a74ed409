import { setTimeout as sleep } from "node:timers/promises";
import { type Pulse, startPulse } from "../pulse.ts";
import { rows, type Store } from "../store/store.ts";
import { isGone, type ProcessIdentity, thisProcess } from "./process-identity.ts";

/** A process that shows no sign of life for this long has lost its runs. */
export const LEASE_MS = 10_000;
/** In place of a lease: others have taken the process's runs. */
export const FENCED = 0;
const ASK_AGAIN_MS = 250;
const PULSE_AFTER_MS = 200;

/**
 * This process's lease: one for all its runs. Others watch it change and take its runs when it no longer does; it knows by
 * its own clock when that may be, and acts no more from a moment before.
 */
export class Lease {
  readonly process: ProcessIdentity;
  readonly #store: Store;
  readonly #ms: number;
  /** By the system's steady clock, which every thread shares. */
  #renewed: bigint | undefined;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  #pulse: Pulse | undefined;
  #lost = false;
  readonly #onLost: () => void;

  /** `onLost` is called once, when others have taken this process's runs. */
  constructor(store: Store, onLost: () => void, ms = LEASE_MS, identity = thisProcess()) {
    this.#store = store;
    this.#ms = ms;
    this.#onLost = onLost;
    this.process = identity;
  }

  async take(): Promise<void> {
    const { id, host, machine, pid, started } = this.process;
    const asked = process.hrtime.bigint();
    const now = Date.now();
    const ms = this.#ms;
    await this.#store.write(function* (db) {
      const row = { id, host, machine, pid, started, expires_at: now + ms, created_at: now };
      yield* rows(db.insertInto("processes").values(row));
    });
    this.#renewed = asked;
    this.#timer = setInterval(() => void this.#beat(), ms / 4);
    this.#timer.unref();
    setTimeout(() => this.#startPulse(), PULSE_AFTER_MS).unref(); // most commands are over by then
  }

  /** The thread renews it; this only finds out when it is lost, and stands in where there is no thread. */
  async #beat(): Promise<void> {
    if (this.#pulse === undefined || this.#pulse.isLost || !this.valid) await this.#renew();
  }

  #startPulse(): void {
    const { reach } = this.#store;
    if (this.#lost || reach === undefined) return;
    const stopped = () => {
      this.#pulse = undefined;
    };
    this.#pulse = startPulse({ reach, processId: this.process.id, leaseMs: this.#ms }, stopped);
  }

  /** Whether this process may act: start a tool, claim a run. It stops a little earlier than others may start to. */
  get valid(): boolean {
    if (this.#lost || this.#renewed === undefined) return false;
    const now = process.hrtime.bigint();
    const since = Math.min(Number(now - this.#renewed), Number(now - (this.#pulse?.renewedAt ?? 0n)));
    return since / 1e6 < this.#ms * 0.9;
  }

  /** Whether it may act, found out from the store where the lease has run out: perhaps nobody took over (X4). */
  mayAct(): boolean | Promise<boolean> {
    return this.valid || this.#ask();
  }

  async #ask(): Promise<boolean> {
    while (!this.#lost) {
      await this.#renew();
      if (this.valid) return true;
      if (!this.#lost) await sleep(ASK_AGAIN_MS);
    }
    return false;
  }

  /** Gives the runs back. Nothing writes to the store for this lease once it resolves. */
  async release(): Promise<void> {
    await this.#stop();
    const { id } = this.process;
    await this.#store.write(function* (db) {
      yield* rows(db.updateTable("runs").set({ owner: null }).where("owner", "=", id));
      yield* rows(db.deleteFrom("processes").where("id", "=", id));
    });
  }

  #lose(): void {
    if (this.#lost) return;
    void this.#stop();
    this.#onLost();
  }

  async #stop(): Promise<void> {
    this.#lost = true;
    clearInterval(this.#timer);
    await this.#pulse?.stop();
  }

  async #renew(): Promise<void> {
    const { id } = this.process;
    const asked = process.hrtime.bigint(); // counted from before it was asked for
    const value = Date.now() + this.#ms + (this.#count++ % 2); // others watch it change, whatever clocks say
    try {
      const kept = await this.#store.write(function* (db) {
        const found = yield* rows(
          db
            .updateTable("processes")
            .set({ expires_at: value })
            .where("id", "=", id)
            .where("expires_at", "!=", FENCED)
            .returning("id"),
        );
        // It has seen the fence: whoever waits for that may go on.
        if (found.length === 0) yield* rows(db.deleteFrom("processes").where("id", "=", id));
        return found.length > 0;
      });
      if (kept) this.#renewed = asked;
      else this.#lose();
    } catch {
      // The store is away: the lease runs out unless it comes back in time.
    }
  }
}

interface Seen {
  value: number;
  since: number;
  looked: number;
}

/**
 * Watches other processes, by one's own clock: a lease that has not changed for its whole length has lapsed. Time in which
 * this process did not look does not count: a store that was away was away for the others, too.
 */
export class Watch {
  readonly #seen = new Map<string, Seen>();
  readonly #ms: number;

  constructor(ms = LEASE_MS) {
    this.#ms = ms;
  }

  /** Whether this process will not come back to its runs, or has had its time. */
  lapsed(other: ProcessIdentity & { readonly expires_at: number }): boolean {
    if (other.expires_at === FENCED || isGone(other)) return true;
    const seen = this.#seen.get(other.id);
    const now = performance.now();
    if (seen?.value !== other.expires_at) {
      this.#seen.set(other.id, { value: other.expires_at, since: now, looked: now });
      return false;
    }
    const gap = now - seen.looked;
    if (gap > this.#ms / 2) seen.since += gap;
    seen.looked = now;
    return now - seen.since > this.#ms;
  }

  forget(id: string): void {
    this.#seen.delete(id);
  }
}
