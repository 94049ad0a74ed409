import { run } from "trackside/schema";
import * as z from "zod";
import { at, count, id, name, page } from "./common.ts";
import type { Shape } from "./shapes.ts";

const runStatus = run.unwrap().shape.status;
const planState = z.enum(["active", "superseded", "completed", "failed"]);
const origin = z.enum(["hand", "generated"]);

/** A step as somebody writes it. What is wrong with it is told with its place, all at once (A3). */
const stepInput = z.strictObject({
  id: z.string(),
  title: z.string(),
  detail: z.string().optional(),
  /** Ids of steps that come first. */
  depends_on: z.array(z.string()).optional(),
  /** What its output is verified by; empty where it is not. */
  criteria: z.string().optional(),
});
const content = { goal: z.string(), steps: z.array(stepInput), note: z.string().max(500).optional() };

export const planStep = z.object({
  id: z.string(),
  title: z.string(),
  detail: z.string(),
  depends_on: z.array(z.string()),
  state: z.enum(["pending", "running", "completed", "failed", "skipped"]),
  output: z.string().nullable(),
  /** The output is longer: its run has the rest. */
  cut: z.boolean(),
  verification: z.object({
    criteria: z.string(),
    verdict: z.enum(["passed", "failed"]).nullable(),
    detail: z.string().nullable(),
    run_id: z.string().nullable(),
  }),
  run_id: z.string().nullable(),
  /** While it is running: what of, and how its run is. */
  phase: z.enum(["work", "verify"]).nullable(),
  run_status: runStatus.nullable(),
  /** Somebody stopped it, and its run has not ended yet. */
  stopping: z.boolean(),
  attempt: z.number().int(),
  /** Why it failed, was stopped or skipped. */
  reason: z.string().nullable(),
  by: z.string().nullable(),
  started_at: z.number().nullable(),
  ended_at: z.number().nullable(),
});

export const planRecord = z.object({
  id: z.string(),
  agent_id: z.string(),
  /** Counted for the agent: every save of any plan of it is the next one. */
  version: z.number().int(),
  state: planState,
  goal: z.string(),
  origin,
  note: z.string().nullable(),
  steps: z.array(planStep),
  created_at: z.number(),
  updated_at: z.number(),
  updated_by: z.string(),
});

export const planVersion = z.object({
  plan_id: z.string(),
  version: z.number().int(),
  state: planState,
  goal: z.string(),
  steps: z.array(stepInput.required()),
  origin,
  note: z.string().nullable(),
  by: z.string(),
  created_at: z.number(),
});

export const planBoard = z.object({
  agent: z.string(),
  agent_id: z.string(),
  /** The active one, else the last there was. */
  plan: planRecord.nullable(),
  work: z.object({
    /** `waiting`: all that runs waits for an approval. `stopped` sticks until somebody runs the plan again. */
    state: z.enum(["working", "waiting", "idle", "stopped"]),
    mode: z.enum(["all", "autonomous"]).nullable(),
    by: z.string().nullable(),
    at: z.number().nullable(),
    reason: z.string().nullable(),
  }),
  /** The last plan that the agent's planner was asked for. */
  generation: z
    .object({
      id: z.string(),
      goal: z.string(),
      state: z.enum(["running", "completed", "failed"]),
      run_id: z.string().nullable(),
      run_status: runStatus.nullable(),
      version: z.number().int().nullable(),
      reason: z.string().nullable(),
      by: z.string(),
      at: z.number(),
    })
    .nullable(),
  /** Whether the agent works its plan by itself, and who switched that on. */
  autonomous: z.object({
    on: z.boolean(),
    available: z.boolean(),
    by: z.string().nullable(),
    at: z.number().nullable(),
  }),
  /** How many steps may run at once. */
  parallel: z.number().int(),
});

const byName = z.object({ name });
const byId = z.object({ id });
const byStep = z.object({ id, step: name });
const nothing = z.strictObject({});

export const planShapes = {
  getPlanBoard: { params: byName, answer: planBoard },
  listPlanVersions: {
    params: byName,
    query: z.object({ before: at.optional(), limit: count(200, 100) }),
    answer: page(planVersion),
  },
  createPlan: { params: byName, body: z.strictObject(content), answer: planRecord },
  generatePlan: {
    params: byName,
    body: z.strictObject({ goal: z.string(), guidance: z.string().max(10_000).optional() }),
    answer: planBoard,
  },
  getPlan: { params: byId, answer: planRecord },
  savePlan: {
    params: byId,
    /** `version` is the one that was edited: another one since then is a conflict. */
    body: z.strictObject({ ...content, version: z.number().int() }),
    answer: planRecord,
  },
  runPlan: { params: byId, body: nothing, answer: planRecord },
  stopPlan: {
    params: byId,
    body: z.strictObject({ reason: z.string().max(2_000).optional() }),
    answer: planRecord,
  },
  runPlanStep: { params: byStep, body: nothing, answer: planRecord },
  verifyPlanStep: { params: byStep, body: nothing, answer: planRecord },
  skipPlanStep: {
    params: byStep,
    body: z.strictObject({ reason: z.string().max(2_000).optional() }),
    answer: planRecord,
  },
} as const satisfies Readonly<Record<string, Shape>>;
