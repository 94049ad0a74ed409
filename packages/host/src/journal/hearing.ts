import type { RunDesk } from "../approvals/desk.ts";
import { readApproval } from "../approvals/records.ts";
import { rows, type Store } from "../store/store.ts";
import type { RunHost } from "./run-host.ts";

interface Listener {
  readonly host: Pick<RunHost, "cancelRun" | "call">;
  readonly desk: RunDesk;
}

export interface HearingInit {
  readonly store: Store;
  /** The runs under way here. */
  readonly runs: ReadonlyMap<string, Listener>;
  /** A run may be waiting to be taken up. */
  readonly queued: () => void;
  /** Told which runs somebody left something for, wherever they are driven. */
  readonly woken?: (runIds: ReadonlySet<string>) => void;
}

const WAKES_AT_ONCE = 1000;
const RUNS_AT_ONCE = 500;
const MISSING_AT_MOST = 200;

/**
 * Hears what other processes left for the runs of this one: decisions, messages, cancels. Wakes say where to look; they are
 * hints, so now and then it looks at all its runs. A few queries for many runs, and one look at a time.
 */
export class Hearing {
  readonly #init: HearingInit;
  #lastWake: number | undefined;
  /** Numbers that were passed over: in PostgreSQL a wake may become visible after a later one. */
  readonly #missing = new Set<number>();
  #looking: Promise<void> | undefined;
  #again: "some" | "all" | undefined;
  #closed = false;

  constructor(init: HearingInit) {
    this.#init = init;
  }

  /** Looks at the runs that wakes tell of, or at all of them. */
  hear(which: "some" | "all"): void {
    if (this.#closed) return;
    if (this.#looking !== undefined) {
      if (this.#again !== "all") this.#again = which;
      return;
    }
    this.#looking = this.#look(which)
      .catch(() => {}) // the store is away; the next tick looks again
      .finally(() => {
        this.#looking = undefined;
        const again = this.#again;
        this.#again = undefined;
        if (again !== undefined) this.hear(again);
      });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#looking;
  }

  async #look(which: "some" | "all"): Promise<void> {
    const { runs, queued } = this.#init;
    const all = which === "all" || this.#lastWake === undefined;
    const before = all ? [...this.#missing] : [];
    const woken = await this.#wakes();
    for (const n of before) this.#missing.delete(n); // this look is at everything they could tell of
    if (woken.queued) queued();
    if (woken.runs.size > 0) this.#init.woken?.(woken.runs);
    const ids = all ? [...runs.keys()] : [...woken.runs].filter((id) => runs.has(id));
    for (let from = 0; from < ids.length; from += RUNS_AT_ONCE)
      await this.#lookAt(ids.slice(from, from + RUNS_AT_ONCE));
  }

  async #wakes(): Promise<{ runs: ReadonlySet<string>; queued: boolean }> {
    const after = this.#lastWake;
    const missing = [...this.#missing];
    const found = await this.#init.store.read(function* (db) {
      const wakes = db.selectFrom("wakes").select(["n", "run_id", "what"]);
      // Of what was before this process it looks at the truth itself.
      if (after === undefined) return yield* rows(wakes.orderBy("n", "desc").limit(1));
      const late = missing.length === 0 ? [] : yield* rows(wakes.where("n", "in", missing));
      const next = yield* rows(wakes.where("n", ">", after).orderBy("n").limit(WAKES_AT_ONCE));
      return [...late, ...next];
    });
    this.#count(found.map(({ n }) => Number(n)));
    if (found.length >= WAKES_AT_ONCE) this.#again ??= "some";
    return {
      runs: new Set(found.map(({ run_id }) => run_id)),
      queued: found.some(({ what }) => what === "queued"),
    };
  }

  #count(numbers: readonly number[]): void {
    for (const n of numbers) {
      if (this.#missing.delete(n)) continue;
      const first = (this.#lastWake ?? n - 1) + 1;
      for (let passed = Math.max(first, n - MISSING_AT_MOST); passed < n; passed += 1)
        this.#missing.add(passed);
      this.#lastWake = n;
    }
    this.#lastWake ??= 0;
  }

  async #lookAt(ids: readonly string[]): Promise<void> {
    const { store, runs } = this.#init;
    const waiting = ids.flatMap((id) => runs.get(id)?.desk.waitingFor ?? []);
    const found = await store.read(function* (db) {
      const cancelled = yield* rows(
        db
          .selectFrom("runs")
          .select(["id", "cancel_reason"])
          .where("id", "in", ids)
          .where("cancel_reason", "is not", null),
      );
      const sent = yield* rows(
        db
          .selectFrom("inbox")
          .select("run_id")
          .distinct()
          .where("run_id", "in", ids)
          .where("state", "=", "queued"),
      );
      if (waiting.length === 0) return { cancelled, sent, decided: [] };
      const decided = yield* rows(
        db.selectFrom("approvals").select("body").where("id", "in", waiting).where("state", "!=", "pending"),
      );
      return { cancelled, sent, decided };
    });
    for (const { id, cancel_reason } of found.cancelled)
      if (cancel_reason !== null) runs.get(id)?.host.cancelRun(cancel_reason);
    for (const { run_id } of found.sent) runs.get(run_id)?.host.call();
    for (const row of found.decided) {
      const approval = readApproval(row);
      runs.get(approval.run_id)?.desk.decided(approval);
    }
  }
}
