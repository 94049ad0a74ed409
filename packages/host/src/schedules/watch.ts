import { AgentConfigError } from "trackside";
import type { DurableEngine } from "../journal/durable-engine.ts";
import { changed, rows } from "../store/store.ts";
import type { SchedulesTable } from "../store/tables.ts";
import { cadence } from "./cadence.ts";
import { fireDue, giveUp, pullBack } from "./firing.ts";
import type { ScheduleMirror } from "./mirror.ts";
import { movedTimes } from "./moved.ts";
import { scheduleBody } from "./schedule-rows.ts";
import type { Starter } from "./starter.ts";
import { wallClock } from "./wall-clock.ts";

export interface WatchInit {
  readonly engine: DurableEngine;
  readonly starter: Starter;
  readonly mirror: ScheduleMirror | undefined;
}

const DUE_AT_ONCE = 100;
const AGAIN_MS = 5_000;
const KEPT_MS = 90 * 86_400_000;
const PRUNE_MS = 3_600_000;

/** Watches the clock for all schedules of a store, or has another engine do so. */
export class ScheduleWatch {
  readonly #init: WatchInit;
  #prunedAt = Number.NEGATIVE_INFINITY;
  #isFirstLook = true;
  /** Versions that the other engine was told of by this process. */
  readonly #told = new Map<string, number>();

  constructor(init: WatchInit) {
    this.#init = init;
  }

  /** Tells the other engine of every schedule that it was not told of as it is now. */
  async mirrorAll(): Promise<void> {
    if (this.#init.mirror === undefined) return;
    const all = await this.#init.engine.store.read((db) => rows(db.selectFrom("schedules").selectAll()));
    for (const row of all) if (this.#told.get(row.id) !== row.version) await this.mirror(row);
  }

  /** Does what is due and answers when to look again. */
  async look(clockWentBack: boolean): Promise<number | undefined> {
    const { engine, mirror, starter } = this.#init;
    const { store, clock } = engine;
    await this.#prune();
    if (mirror !== undefined) {
      const left = await starter.startAll(); // of webhooks, and of whoever died in between
      await this.mirrorAll();
      return left ? clock.now() + AGAIN_MS : undefined;
    }
    if (this.#isFirstLook || clockWentBack) await this.#pullBack();
    this.#isFirstLook = false;
    const left = await this.fireAll();
    const [soonest] = await store.read((db) =>
      rows(
        db
          .selectFrom("schedules")
          .select("next_at")
          .where("enabled", "=", 1)
          .where("next_at", "is not", null)
          .orderBy("next_at")
          .limit(1),
      ),
    );
    const again = left ? clock.now() + AGAIN_MS : undefined;
    const next = soonest?.next_at ?? undefined;
    return next === undefined ? again : Math.min(next, again ?? next);
  }

  /** Answers whether something could not be started yet. */
  async fireAll(): Promise<boolean> {
    const { store, clock } = this.#init.engine;
    for (;;) {
      const now = clock.now();
      const due = await store.read((db) =>
        rows(
          db
            .selectFrom("schedules")
            .select("id")
            .where("enabled", "=", 1)
            .where("next_at", "<=", now)
            .orderBy("next_at")
            .orderBy("id")
            .limit(DUE_AT_ONCE),
        ),
      );
      for (const { id } of due) await this.#fire(id, now);
      if (due.length < DUE_AT_ONCE) break;
    }
    return this.#init.starter.startAll();
  }

  /** One that cannot be read, as its zone may be gone from the database of zones, stops by itself and says why. */
  async #fire(id: string, now: number): Promise<void> {
    const { store } = this.#init.engine;
    try {
      await store.write((db) => fireDue(db, id, now));
    } catch (error) {
      if (!(error instanceof AgentConfigError)) throw error;
      await store.write((db) => giveUp(db, id, now, error.message));
    }
  }

  async #pullBack(): Promise<void> {
    const { store, clock } = this.#init.engine;
    const now = clock.now();
    const ahead = await store.read((db) =>
      rows(db.selectFrom("schedules").selectAll().where("enabled", "=", 1).where("next_at", ">", now)),
    );
    for (const row of ahead) {
      const next = nextOf(row, now);
      if (next !== undefined && row.next_at !== null && row.next_at > next)
        await store.write((db) => pullBack(db, row, next));
    }
  }

  async #prune(): Promise<void> {
    const { store, clock } = this.#init.engine;
    const now = clock.now();
    if (Math.abs(now - this.#prunedAt) < PRUNE_MS) return;
    this.#prunedAt = now;
    await store.write((db) =>
      changed(
        db
          .deleteFrom("schedule_firings")
          .where("created_at", "<", now - KEPT_MS)
          .where("state", "!=", "starting"),
      ),
    );
  }

  async mirror(row: SchedulesTable): Promise<void> {
    const { mirror, engine } = this.#init;
    if (mirror === undefined) return;
    const { id, tenant, name, version } = row;
    const { trigger } = scheduleBody.read(row.body, id);
    if (trigger.kind === "cron") {
      const { pattern } = trigger;
      const { zone: time_zone } = wallClock(trigger.time_zone);
      const moved = movedTimes(trigger, engine.clock.now());
      await mirror.put({ id, tenant, name, enabled: row.enabled === 1, pattern, time_zone, moved });
    } else await mirror.remove(id);
    this.#told.set(id, version);
  }
}

/** Undefined where that cannot be said any more: it is told when it is due. */
function nextOf({ id, body }: SchedulesTable, now: number): number | undefined {
  const { trigger } = scheduleBody.read(body, id);
  try {
    return trigger.kind === "cron" ? cadence(trigger).next(now) : undefined;
  } catch {
    return undefined;
  }
}
