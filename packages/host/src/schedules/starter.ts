import { createHash } from "node:crypto";
import { TracksideError } from "trackside";
import { changed, rows, type Store } from "../store/store.ts";
import { StoreError } from "../store/store-error.ts";
import type { ScheduleFiringsTable } from "../store/tables.ts";
import { wordsOf } from "./errors.ts";
import { type FiringBody, firingBody } from "./schedule-rows.ts";
import { startTarget, type TargetHost } from "./targets.ts";

const MOST_ATTEMPTS = 20;
const AT_ONCE = 1000;

/** Starts what firings are for. The same request again is the same run, so it does not matter who else does. */
export class Starter {
  readonly #store: Store;
  readonly #targets: TargetHost;
  /** Firings that this process is starting, by what each is asked for with. */
  readonly #starting = new Map<string, Promise<boolean>>();

  constructor(store: Store, targets: TargetHost) {
    this.#store = store;
    this.#targets = targets;
  }

  /**
   * Starts what has a row and no run: of this process, or left by one that died in between. Answers whether something is
   * left to be tried again.
   */
  async startAll(scheduleId?: string): Promise<boolean> {
    const open = await this.#store.read((db) => {
      let query = db.selectFrom("schedule_firings").selectAll().where("state", "=", "starting");
      if (scheduleId !== undefined) query = query.where("schedule_id", "=", scheduleId);
      return rows(query.orderBy("created_at").orderBy("scheduled_for").orderBy("key").limit(AT_ONCE));
    });
    let left = false;
    for (const row of open) left = !(await this.#startOne(row)) || left;
    return left;
  }

  /** False when it is to be tried again. Whoever wants the same waits for the same. */
  #startOne(row: ScheduleFiringsTable): Promise<boolean> {
    const requestId = requestIdOf(row);
    const known = this.#starting.get(requestId);
    if (known !== undefined) return known;
    const starting = this.#start(row, requestId).finally(() => this.#starting.delete(requestId));
    this.#starting.set(requestId, starting);
    return starting;
  }

  async #start(row: ScheduleFiringsTable, requestId: string): Promise<boolean> {
    const { schedule_id, key, tenant } = row;
    const body = firingBody.read(row.body, key);
    if (body.start === null) return true;
    try {
      const { target, input } = body.start;
      const scope = { tenant, user: body.by, schedule: schedule_id };
      const runId = await startTarget(this.#targets, target, input, { requestId, scope });
      const done = { ...body, start: null, reason: null };
      await this.#settle(row, { state: "started", run_id: runId, body: done });
      return true;
    } catch (error) {
      return this.#notStarted(row, error);
    }
  }

  /** What cannot work is told in the history; what may work later is tried again. */
  async #notStarted(row: ScheduleFiringsTable, error: unknown): Promise<boolean> {
    const body = firingBody.read(row.body, row.key);
    const attempts = body.attempts + 1;
    const isOver = (error instanceof TracksideError && !isPassing(error)) || attempts >= MOST_ATTEMPTS;
    const next = { ...body, attempts, reason: wordsOf(error), start: isOver ? null : body.start };
    await this.#settle(row, { state: isOver ? "failed" : "starting", run_id: null, body: next });
    return isOver;
  }

  async #settle(
    { schedule_id, key }: ScheduleFiringsTable,
    { body, ...now }: Pick<ScheduleFiringsTable, "state" | "run_id"> & { readonly body: FiringBody },
  ): Promise<void> {
    await this.#store.write(function* (db) {
      yield* changed(
        db
          .updateTable("schedule_firings")
          .set({ ...now, body: firingBody.write(body) })
          .where("schedule_id", "=", schedule_id)
          .where("key", "=", key)
          .where("state", "=", "starting"),
      );
    });
  }
}

/** Whether it may work at another time. */
function isPassing(error: TracksideError): boolean {
  return (error instanceof StoreError && error.fault !== "misuse") || error.code === "busy";
}

const LONGEST_KEY = 100;

/** The ids of requests are short, and those of deliveries are whatever a sender chooses. */
function requestIdOf({ schedule_id, key }: ScheduleFiringsTable): string {
  const short = key.length <= LONGEST_KEY ? key : createHash("sha256").update(key).digest("hex");
  return `schedule:${schedule_id}:${short}`;
}
