import { type Builder, changed, type Operation, rows } from "../store/store.ts";
import type { ScheduleFiringsTable, SchedulesTable } from "../store/tables.ts";
import { cadence } from "./cadence.ts";
import { dueUntil, MOST_MADE_UP, type Passed } from "./due.ts";
import type { Missed } from "./schedule.ts";
import { type FiringBody, findById, firingBody, scheduleBody } from "./schedule-rows.ts";

/** A firing that is to be written down. The row comes first: whoever finds it without a run starts that. */
export interface NewFiring {
  readonly key: string;
  readonly scheduledFor: number;
  readonly at: number;
  readonly proof?: string;
  readonly body: Omit<FiringBody, "v" | "attempts">;
  /** Started unless given. */
  readonly state?: "skipped" | "missed" | "failed";
}

/** False where there is one of that key, or with that proof. */
export function* insertFiring(
  db: Builder,
  { id, tenant }: Pick<SchedulesTable, "id" | "tenant">,
  { key, scheduledFor, at, proof, body, state }: NewFiring,
): Operation<boolean> {
  const row: ScheduleFiringsTable = {
    schedule_id: id,
    key,
    tenant,
    scheduled_for: scheduledFor,
    state: state ?? "starting",
    run_id: null,
    proof: proof ?? null,
    created_at: at,
    body: firingBody.write({ v: 1, attempts: 0, ...body, start: state === undefined ? body.start : null }),
  };
  const query = db.insertInto("schedule_firings").values(row);
  return (yield* changed(query.onConflict((on) => on.doNothing()))) > 0;
}

/**
 * Writes down what is due of a schedule and moves it on, in one transaction: of several processes one does so. A time that
 * has its row was fired, whatever the clock says now, and is not fired again.
 */
export function* fireDue(db: Builder, id: string, now: number): Operation<void> {
  const row = yield* findById(db, id);
  if (row?.enabled !== 1 || row.next_at === null || row.next_at > now) return;
  const { target, input, trigger, missed, overlap, created_by: by } = scheduleBody.read(row.body, id);
  if (trigger.kind !== "cron") return;
  const { fire, passed, next } = dueUntil(cadence(trigger), row.next_at, now, missed);
  const mine = yield* changed(
    db
      .updateTable("schedules")
      .set({ next_at: next ?? null })
      .where("id", "=", id)
      .where("version", "=", row.version)
      .where("next_at", "=", row.next_at),
  );
  if (mine === 0) return;
  const told = { cause: "time" as const, by, start: null };
  if (passed !== undefined)
    yield* insertFiring(db, row, {
      key: `missed:${passed.to}`,
      scheduledFor: passed.to,
      at: now,
      state: "missed",
      body: { ...told, reason: passedWords(passed, missed) },
    });
  let open = overlap === "skip" ? yield* openRun(db, id) : undefined;
  for (const time of fire) {
    const firing = { key: String(time), scheduledFor: time, at: now };
    if (open !== undefined) {
      const reason = `${open} was still open`;
      yield* insertFiring(db, row, { ...firing, state: "skipped", body: { ...told, reason } });
      continue;
    }
    const body = { ...told, start: { target, input }, reason: null };
    const isNew = yield* insertFiring(db, row, { ...firing, body });
    if (isNew && overlap === "skip") open = "the run of the time before";
  }
}

/** A run of the schedule that has not ended, or is about to begin; undefined when there is none. */
export function* openRun(db: Builder, id: string): Operation<string | undefined> {
  const [found] = yield* rows(
    db
      .selectFrom("schedule_firings")
      .leftJoin("runs", "runs.id", "schedule_firings.run_id")
      .select(["schedule_firings.state", "runs.id as run"])
      .where("schedule_firings.schedule_id", "=", id)
      .where((where) =>
        where.or([
          where("schedule_firings.state", "=", "starting"),
          where.and([where("runs.id", "is not", null), where("runs.ended_at", "is", null)]),
        ]),
      )
      .limit(1),
  );
  if (found === undefined) return undefined;
  return found.run === null ? "another start of it" : `the run ${found.run}`;
}

/** Brings a schedule back to where the clock is: one that was ahead by mistake has moved it too far. */
export function* pullBack(db: Builder, row: SchedulesTable, next: number): Operation<void> {
  const { id, version, next_at } = row;
  const query = db.updateTable("schedules").set({ next_at: next }).where("id", "=", id);
  yield* changed(query.where("version", "=", version).where("next_at", "=", next_at));
}

/** Stops a schedule that nobody can read any more, until it is saved again. */
export function* giveUp(db: Builder, id: string, now: number, reason: string): Operation<void> {
  const row = yield* findById(db, id);
  if (row === undefined || row.next_at === null) return;
  yield* changed(db.updateTable("schedules").set({ next_at: null }).where("id", "=", id));
  const { created_by: by } = scheduleBody.read(row.body, id);
  const body = { cause: "time" as const, by, start: null, reason };
  yield* insertFiring(db, row, {
    key: `failed:${now}`,
    scheduledFor: row.next_at,
    at: now,
    body,
    state: "failed",
  });
}

function passedWords({ from, to, count, isMore }: Passed, missed: Missed): string {
  const times = isMore ? `More than ${count} times` : count === 1 ? "One time" : `${count} times`;
  const range = count === 1 ? iso(from) : `${iso(from)} to ${iso(to)}`;
  const what = `${times} passed while nobody was up (${range})`;
  if (missed === "skip") return `${what}: left out.`;
  if (missed === "once") return `${what}: made up for by one run.`;
  return `${what}: left out, since at most ${MOST_MADE_UP} are made up for.`;
}

function iso(at: number): string {
  return new Date(at).toISOString().replace(".000Z", "Z");
}
