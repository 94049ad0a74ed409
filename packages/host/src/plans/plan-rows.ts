import * as z from "zod";
import { versioned } from "../store/rows/versioned.ts";

const step = z.object({
  id: z.string(),
  title: z.string(),
  detail: z.string(),
  depends_on: z.array(z.string()),
  criteria: z.string(),
});

const content1 = z.object({
  v: z.literal(1),
  goal: z.string(),
  steps: z.array(step),
  by: z.string(),
  origin: z.enum(["hand", "generated"]),
  note: z.string().optional(),
});

const author = z.object({ by: z.string(), at: z.number(), reason: z.string().optional() });

const step1 = z.object({
  v: z.literal(1),
  /** While it is running. */
  phase: z.enum(["work", "verify"]).nullable(),
  /** What its run is asked for, until that run is known: whoever finds it starts it. */
  prompt: z.string().nullable(),
  by: z.string(),
  started_at: z.number().nullable(),
  ended_at: z.number().nullable(),
  output: z.string().nullable(),
  cut: z.boolean(),
  reason: z.string().nullable(),
  verdict: z.enum(["passed", "failed"]).nullable(),
  verdict_detail: z.string().nullable(),
  verify_run_id: z.string().nullable(),
  /** How often it was judged. */
  checks: z.number().int(),
  stopping: author.nullable(),
  /** It has an output that nobody judged: next time it goes on there. */
  unverified: z.boolean(),
});

const work1 = z.object({
  v: z.literal(1),
  drive: author.extend({ mode: z.enum(["all", "autonomous"]) }).nullable(),
  /** Sticks until somebody starts again. */
  stopped: author.nullable(),
  generation: z
    .object({
      id: z.string(),
      goal: z.string(),
      note: z.string().optional(),
      by: z.string(),
      at: z.number(),
      state: z.enum(["running", "completed", "failed"]),
      prompt: z.string().nullable(),
      run_id: z.string().nullable(),
      version: z.number().int().nullable(),
      reason: z.string().nullable(),
      stopping: author.nullable(),
    })
    .nullable(),
});

export const planBody = versioned({ name: "plans", current: 1, versions: { 1: content1 }, upgrade: {} });
export const planVersionBody = versioned({
  name: "plan_versions",
  current: 1,
  versions: { 1: content1 },
  upgrade: {},
});
export const planStepBody = versioned({
  name: "plan_steps",
  current: 1,
  versions: { 1: step1 },
  upgrade: {},
});
export const planWorkBody = versioned({ name: "plan_work", current: 1, versions: { 1: work1 }, upgrade: {} });

export type PlanBody = z.output<typeof content1>;
export type StepBody = z.output<typeof step1>;
export type WorkBody = z.output<typeof work1>;
export type Generation = NonNullable<WorkBody["generation"]>;

export const NEVER_RAN: StepBody = {
  v: 1,
  phase: null,
  prompt: null,
  by: "",
  started_at: null,
  ended_at: null,
  output: null,
  cut: false,
  reason: null,
  verdict: null,
  verdict_detail: null,
  verify_run_id: null,
  checks: 0,
  stopping: null,
  unverified: false,
};

export const NO_WORK: WorkBody = { v: 1, drive: null, stopped: null, generation: null };
