import type { Approval } from "trackside";
import { approval, logEntry, outcome, scope, turnState, usage, userMessage } from "trackside/schema";
import * as z from "zod";
import { type RowCodec, versioned } from "../store/rows/versioned.ts";
import type { CommitBody, OutcomeBody, RunBody } from "./rows.ts";

const reference = z.object({ id: z.string(), artifact: z.string() });
const note = z.looseObject({ type: z.string() });

const run1 = z.object({
  v: z.literal(1),
  scope,
  user: z.union([reference, userMessage]),
  from: z.number().int().min(0),
  path: z.array(z.string()).optional(),
  outcome: outcome.nullable(),
  usage: usage.nullable(),
  steps: z.number().int(),
  recoveries: z.record(z.string(), z.number()).optional(),
  previous_owners: z.array(z.string()).optional(),
  traceparent: z.string().optional(),
  job: z.looseObject({ run_id: z.string() }).optional(),
  parked: z.object({ code: z.enum(["diverged", "recovery_failed"]), message: z.string() }).optional(),
});

const commit1 = z.object({
  v: z.literal(1),
  at: z.number(),
  key: z.string(),
  result: z.unknown(),
  notes: z.array(note),
  begun: z.array(z.string()),
  messages: z.array(z.union([reference, logEntry])).optional(),
  deferred: z.array(z.object({ task: z.string(), input: z.unknown() })).optional(),
  state: turnState.optional(),
  before: z.object({ notes: z.number(), begun: z.number() }).optional(),
  open: z.literal(true).optional(),
  ended: turnState.optional(),
  answer: z.object({ key: z.string(), attempt: z.number(), held_by: z.string().optional() }).optional(),
});

const outcome1 = z.discriminatedUnion("state", [
  z.looseObject({ v: z.literal(1), state: z.literal("started"), at: z.number() }),
  z.looseObject({
    v: z.literal(1),
    state: z.literal("ran"),
    kept: z.looseObject({ executed: z.looseObject({ kind: z.string() }) }),
  }),
]);

const approval1 = approval.extend({ v: z.literal(1) });
const conversation1 = z.object({ v: z.literal(1), title: z.string().optional() });
const branch1 = z.object({ v: z.literal(1) });
const inbox1 = z.object({
  v: z.literal(1),
  message: userMessage,
  once: z.literal(true).optional(),
  /** When it was admitted, dropped, or opened a turn of its own. */
  settled_at: z.number().optional(),
});
const deferred1 = z.object({ v: z.literal(1), task: z.string(), input: z.unknown() });

// The types beside the schemas say more of what they hold; whoever writes a row has them checked.
export const runBody = versioned({
  name: "runs",
  current: 1,
  versions: { 1: run1 },
  upgrade: {},
}) as unknown as RowCodec<RunBody>;
export const commitBody = versioned({
  name: "commits",
  current: 1,
  versions: { 1: commit1 },
  upgrade: {},
}) as unknown as RowCodec<CommitBody>;
export const outcomeBody = versioned({
  name: "outcomes",
  current: 1,
  versions: { 1: outcome1 },
  upgrade: {},
}) as unknown as RowCodec<OutcomeBody>;
export const approvalBody = versioned({
  name: "approvals",
  current: 1,
  versions: { 1: approval1 },
  upgrade: {},
}) as RowCodec<Approval & { v: 1 }>;
export const conversationBody = versioned({
  name: "conversations",
  current: 1,
  versions: { 1: conversation1 },
  upgrade: {},
});
export const branchBody = versioned({ name: "branches", current: 1, versions: { 1: branch1 }, upgrade: {} });
export const inboxBody = versioned({ name: "inbox", current: 1, versions: { 1: inbox1 }, upgrade: {} });
export const deferredBody = versioned({
  name: "deferred",
  current: 1,
  versions: { 1: deferred1 },
  upgrade: {},
});
