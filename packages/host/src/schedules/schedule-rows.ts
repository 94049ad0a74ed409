import type { JsonObject } from "trackside";
import * as z from "zod";
import { versioned } from "../store/rows/versioned.ts";
import { type Builder, type Operation, rows } from "../store/store.ts";
import type { ScheduleFiringsTable, SchedulesTable } from "../store/tables.ts";
import type { Firing, ScheduleRecord } from "./schedule.ts";
import { patternWords } from "./words.ts";

const target = z.object({ kind: z.enum(["agent", "workflow", "plan"]), name: z.string() });
const object = z.custom<JsonObject>((value) => typeof value === "object" && value !== null);
const input = z.union([z.string(), object, z.null()]);

const schedule1 = z.object({
  v: z.literal(1),
  target,
  input,
  trigger: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("cron"), pattern: z.string(), time_zone: z.string() }),
    z.object({ kind: z.literal("webhook") }),
  ]),
  missed: z.enum(["skip", "once", "all"]),
  overlap: z.enum(["allow", "skip"]),
  created_by: z.string(),
  updated_by: z.string(),
});

const firing1 = z.object({
  v: z.literal(1),
  cause: z.enum(["time", "webhook", "person"]),
  /** In whose name. */
  by: z.string(),
  /** What is started, as the schedule was then: the same request again has to be the same. Null once it was. */
  start: z.object({ target, input }).nullable(),
  attempts: z.number().int(),
  reason: z.string().nullable(),
});

export const scheduleBody = versioned({
  name: "schedules",
  current: 1,
  versions: { 1: schedule1 },
  upgrade: {},
});
export const firingBody = versioned({
  name: "schedule_firings",
  current: 1,
  versions: { 1: firing1 },
  upgrade: {},
});
export type FiringBody = z.infer<typeof firing1>;

/** A schedule by its name in a tenant, or by its id there. */
export function* findSchedule(
  db: Builder,
  tenant: string,
  key: string,
): Operation<SchedulesTable | undefined> {
  const found = yield* rows(
    db
      .selectFrom("schedules")
      .selectAll()
      .where("tenant", "=", tenant)
      .where((where) => where.or([where("name", "=", key), where("id", "=", key)])),
  );
  return found.find(({ name }) => name === key) ?? found[0];
}

export function* findById(db: Builder, id: string): Operation<SchedulesTable | undefined> {
  const [row] = yield* rows(db.selectFrom("schedules").selectAll().where("id", "=", id));
  return row;
}

/** The last firings of a schedule, newest first. */
export function* listFirings(
  db: Builder,
  scheduleId: string,
  { limit, before }: { readonly limit: number; readonly before?: string | undefined },
): Operation<readonly Firing[]> {
  let query = db
    .selectFrom("schedule_firings")
    .leftJoin("runs", "runs.id", "schedule_firings.run_id")
    .selectAll("schedule_firings")
    .select("runs.status as run_status")
    .where("schedule_id", "=", scheduleId)
    .orderBy("schedule_firings.scheduled_for", "desc")
    .orderBy("schedule_firings.key", "desc")
    .limit(limit);
  const [, at, key = ""] = /^(\d+)\.(.*)$/s.exec(before ?? "") ?? [];
  if (at !== undefined)
    query = query.where((where) =>
      where.or([
        where("schedule_firings.scheduled_for", "<", Number(at)),
        where.and([
          where("schedule_firings.scheduled_for", "=", Number(at)),
          where("schedule_firings.key", "<", key),
        ]),
      ]),
    );
  return (yield* rows(query)).map(({ run_status, ...row }) => firingOf(row, run_status));
}

/** Where a page of firings ends, for the next one. */
export function firingCursor({ scheduled_for, key }: Firing): string {
  return `${scheduled_for}.${key}`;
}

export function firingOf(row: ScheduleFiringsTable, runStatus: string | null): Firing {
  const { key, scheduled_for, created_at, run_id } = row;
  const { cause, by, reason } = firingBody.read(row.body, key);
  const state = row.state as Firing["state"]; // as only `firing.ts` writes it
  return {
    key,
    cause,
    by,
    scheduled_for,
    fired_at: created_at,
    state,
    reason,
    run_id,
    run_status: runStatus,
  };
}

export function recordOf(row: SchedulesTable, last: Firing | null): ScheduleRecord {
  const { id, tenant, name, version, enabled, next_at, created_at, updated_at } = row;
  const { v: _, trigger, ...body } = scheduleBody.read(row.body, id);
  return {
    id,
    tenant,
    name,
    version,
    ...body,
    trigger,
    words: trigger.kind === "cron" ? (patternWords(trigger.pattern) ?? null) : null,
    enabled: enabled === 1,
    next_at,
    last,
    created_at,
    updated_at,
  };
}
