import { setTimeout as pause } from "node:timers/promises";
import type { DurableEngine } from "../journal/durable-engine.ts";
import { type Operation, rows } from "../store/store.ts";
import { type ApprovalRecord, recordOf } from "./records.ts";

/** Approvals that were asked for or decided since a time, with the time to go on from. */
export interface InboxChange {
  readonly approvals: readonly ApprovalRecord[];
  /** Unix ms. */
  readonly cursor: number;
  /** False when there was more than is told here: read the list again. */
  readonly complete: boolean;
}

/** Short enough that who decides in another tab, or another process, is seen within a second. */
const LOOK_MS = 300;
/** Times are taken before their transaction commits: a later one may show first. */
const OVERLAP_MS = 2_000;

/**
 * Changes of a tenant's inbox as they happen, whoever makes them and wherever. All readers of a tenant share one look at
 * the store, and without readers nobody looks.
 */
export class InboxFeed {
  readonly #engine: DurableEngine;
  readonly #looks = new Map<string, { at: number; found: Promise<readonly ApprovalRecord[]> }>();

  constructor(engine: DurableEngine) {
    this.#engine = engine;
  }

  /** From `after` on, or from now. The same approval comes again whenever its state is another. */
  async *changes(
    tenant: string,
    { after, signal }: { readonly after?: number | undefined; readonly signal: AbortSignal },
  ): AsyncGenerator<InboxChange> {
    await this.#engine.open();
    const told = new Map<string, string>();
    let cursor = after ?? this.#engine.clock.now();
    // Who begins now has been told of what there is; who comes back has not.
    if (after === undefined)
      for (const { id, state } of await this.#since(tenant, cursor - OVERLAP_MS)) told.set(id, state);
    while (!signal.aborted) {
      const now = this.#engine.clock.now();
      const since = cursor - OVERLAP_MS;
      const isBehind = cursor < now - 2 * OVERLAP_MS;
      const found = await (isBehind ? this.#since(tenant, since) : this.#look(tenant, since));
      const news = found.filter(({ id, state }) => told.get(id) !== state);
      for (const { id, state } of news) told.set(id, state);
      cursor = Math.max(cursor, now - OVERLAP_MS);
      if (news.length > 0) yield { approvals: news, cursor, complete: found.length < MOST_AT_ONCE };
      if (told.size > MOST_TOLD) told.clear();
      await pause(LOOK_MS, undefined, { signal }).catch(() => {}); // aborted: the loop ends
    }
  }

  /** One look answers everybody who asks about the same time. */
  #look(tenant: string, since: number): Promise<readonly ApprovalRecord[]> {
    const now = performance.now();
    const last = this.#looks.get(tenant);
    if (last !== undefined && now - last.at < LOOK_MS / 2) return last.found;
    const found = this.#since(tenant, since);
    this.#looks.set(tenant, { at: now, found });
    return found;
  }

  #since(tenant: string, since: number): Promise<readonly ApprovalRecord[]> {
    return this.#engine.store.read(function* (db): Operation<readonly ApprovalRecord[]> {
      const found = yield* rows(
        db
          .selectFrom("approvals")
          .leftJoin("runs", "runs.id", "approvals.run_id")
          .select(["approvals.body", "runs.root_run_id", "runs.body as run_body"])
          .where("approvals.tenant", "=", tenant)
          .where((where) =>
            where.or([
              where("approvals.requested_at", ">=", since),
              where("approvals.decided_at", ">=", since),
            ]),
          )
          .orderBy("approvals.requested_at")
          .limit(MOST_AT_ONCE),
      );
      return found.map(recordOf);
    });
  }
}

const MOST_AT_ONCE = 500;
const MOST_TOLD = 10_000;
