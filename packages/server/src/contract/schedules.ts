import { run } from "trackside/schema";
import * as z from "zod";
import { count, id, name, page } from "./common.ts";
import { json } from "./input.ts";
import * as r from "./records.ts";

const target = z.strictObject({
  /** A plan is the active one of an agent, by the agent's name. */
  kind: z.enum(["agent", "workflow", "plan"]),
  name: z.string(),
});

const trigger = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("cron"),
    /** Five fields, or six with seconds first. */
    pattern: z.string(),
    /** Of the IANA database: `Europe/Berlin`. */
    time_zone: z.string(),
  }),
  z.strictObject({ kind: z.literal("webhook") }),
]);

/** A text for an agent, an object for a workflow, nothing for a plan. */
const input = z.union([z.string(), z.record(z.string(), json), z.null()]);
/** Times that passed while nobody was up: left out, made up for by one run, or run each, the last hundred of them. */
const missed = z.enum(["skip", "once", "all"]);
/** What if a run of it is still open when the next one is due. */
const overlap = z.enum(["allow", "skip"]);

const fields = {
  name: z.string(),
  target,
  input: input.optional(),
  trigger,
  missed: missed.optional(),
  overlap: overlap.optional(),
  enabled: z.boolean().optional(),
};

/** One time that a schedule was due, or was fired by somebody or by a webhook. */
export const firing = z.object({
  key: z.string(),
  cause: z.enum(["time", "webhook", "person"]),
  /** In whose name it is started. */
  by: z.string(),
  scheduled_for: z.number(),
  fired_at: z.number(),
  /** `skipped`: a run of it was still open. `missed`: nobody was up. `failed`: it could not be started. */
  state: z.enum(["starting", "started", "skipped", "missed", "failed"]),
  reason: z.string().nullable(),
  run_id: z.string().nullable(),
  run_status: run.unwrap().shape.status.nullable(),
});

export const schedule = z.object({
  id: z.string(),
  name: z.string(),
  version: z.number().int(),
  target,
  input,
  trigger,
  /** The pattern in words, where it is a usual one. */
  words: z.string().nullable(),
  missed,
  overlap,
  enabled: z.boolean(),
  /** Null when it is off, or waits for a webhook. */
  next_at: z.number().nullable(),
  last: firing.nullable(),
  created_at: z.number(),
  created_by: z.string(),
  updated_at: z.number(),
  updated_by: z.string(),
  /** Where a webhook is sent to; null for one by the clock. */
  webhook_url: z.string().nullable(),
});

/** As it was made: with the secret that signs its webhooks, which is shown this once. */
const saved = schedule.extend({ secret: z.string().optional() });
const detail = schedule.extend({ next_times: z.array(z.number()) });
const byId = z.object({ id });
const version = z.number().int();

/** What goes into the endpoints of schedules, and comes out. An id is a schedule's id, or its name. */
export const scheduleShapes = {
  listSchedules: {
    query: z.object({
      search: z.string().optional(),
      /** Those that start this one. */
      target_kind: target.shape.kind.optional(),
      target_name: name.optional(),
      after: z.string().optional(),
      limit: count(200, 50),
    }),
    answer: page(schedule),
  },
  createSchedule: { body: z.strictObject(fields), answer: saved },
  previewSchedule: {
    body: z.strictObject({ trigger }),
    answer: z.object({
      ok: z.boolean(),
      issues: z.array(r.issue),
      words: z.string().nullable(),
      /** The next five, in Unix ms. */
      next_times: z.array(z.number()),
    }),
  },
  getSchedule: { params: byId, answer: detail },
  saveSchedule: {
    params: byId,
    /** `version`: the one that was edited; another one since then is a conflict. */
    body: z.strictObject({ ...fields, version }),
    answer: saved,
  },
  deleteSchedule: { params: byId },
  enableSchedule: { params: byId, body: z.strictObject({ version: version.optional() }), answer: schedule },
  disableSchedule: { params: byId, body: z.strictObject({ version: version.optional() }), answer: schedule },
  fireSchedule: { params: byId, answer: firing },
  rotateScheduleSecret: {
    params: byId,
    body: z.strictObject({
      /** For how long the secret before still counts; it ends at once unless given. */
      keep_old_seconds: z.number().int().min(0).max(86_400).optional(),
    }),
    answer: saved,
  },
  listFirings: {
    params: byId,
    query: z.object({ after: z.string().max(300).optional(), limit: count(200, 50) }),
    answer: page(firing),
  },
  triggerSchedule: {
    params: byId,
    /** Whatever the sender has to say: the agent is told it, a workflow has it as `body`. */
    body: json,
    answer: z.object({
      state: firing.shape.state,
      run_id: z.string().nullable(),
      reason: z.string().nullable(),
    }),
  },
} as const;
