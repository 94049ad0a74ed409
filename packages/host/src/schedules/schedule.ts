import { AgentConfigError, type ConfigIssue, type JsonObject } from "trackside";
import { issueAt } from "../agents/issues.ts";
import { type CronTrigger, cadence } from "./cadence.ts";

/** What is started. A plan is the active one of an agent, by the agent's name. */
export interface ScheduleTarget {
  readonly kind: "agent" | "workflow" | "plan";
  readonly name: string;
}

export type ScheduleTrigger = ({ readonly kind: "cron" } & CronTrigger) | { readonly kind: "webhook" };

/** What is said to it: a text to an agent, an object to a workflow, nothing to a plan. */
export type ScheduleInput = string | JsonObject | null;

/** Times that passed while nobody was up: leave them out, make up for all of them by one run, or run each. */
export type Missed = "skip" | "once" | "all";

/** What if a run of it is still open when the next one is due. */
export type Overlap = "allow" | "skip";

/** What a schedule is made of. */
export interface ScheduleFields {
  readonly name: string;
  readonly target: ScheduleTarget;
  readonly input?: ScheduleInput;
  readonly trigger: ScheduleTrigger;
  /** `once` unless given. */
  readonly missed?: Missed;
  /** `allow` unless given. */
  readonly overlap?: Overlap;
  /** True unless given. */
  readonly enabled?: boolean;
}

/** A schedule as it is now. */
export interface ScheduleRecord extends Required<ScheduleFields> {
  readonly id: string;
  readonly tenant: string;
  /** Goes up with every save. */
  readonly version: number;
  /** The trigger in words, where it is a usual one. */
  readonly words: string | null;
  /** Unix ms; null when it is off, or waits for a webhook. */
  readonly next_at: number | null;
  readonly last: Firing | null;
  readonly created_at: number;
  readonly created_by: string;
  readonly updated_at: number;
  readonly updated_by: string;
}

/**
 * One time that a schedule fired, or did not: `skipped` because a run of it was still open, `missed` because nobody was up,
 * `failed` because what it starts could not be started, `starting` until there is a run.
 */
export interface Firing {
  readonly key: string;
  readonly cause: "time" | "webhook" | "person";
  /** In whose name it is started. */
  readonly by: string;
  readonly scheduled_for: number;
  readonly fired_at: number;
  readonly state: "starting" | "started" | "skipped" | "missed" | "failed";
  /** Why, where there is something to say. */
  readonly reason: string | null;
  readonly run_id: string | null;
  /** As the run has it now; null when there is none any more. */
  readonly run_status: string | null;
}

const NAME = /^[^\p{Cc}]{1,128}$/u;
const LONGEST_INPUT = 100_000;

/** Every problem of a schedule at once (A3). What it names is looked for elsewhere. */
export function scheduleIssues(fields: ScheduleFields): readonly ConfigIssue[] {
  const { name, target, input = null, trigger, missed = "once", overlap = "allow" } = fields;
  const issues: ConfigIssue[] = [];
  if (typeof name !== "string" || !NAME.test(name) || name.trim() !== name)
    issues.push(issueAt("name", name, "1 to 128 characters without spaces around them"));
  if (!["agent", "workflow", "plan"].includes(target?.kind))
    issues.push(issueAt("target.kind", target?.kind, '"agent", "workflow" or "plan"'));
  if (typeof target?.name !== "string" || target.name === "")
    issues.push(issueAt("target.name", target?.name, "a name"));
  issues.push(...inputIssues(target?.kind, input, trigger?.kind === "webhook"), ...triggerIssues(trigger));
  if (!["skip", "once", "all"].includes(missed))
    issues.push(issueAt("missed", missed, '"skip", "once" or "all"'));
  if (!["allow", "skip"].includes(overlap)) issues.push(issueAt("overlap", overlap, '"allow" or "skip"'));
  return issues;
}

function inputIssues(kind: ScheduleTarget["kind"], input: ScheduleInput, isWebhook: boolean): ConfigIssue[] {
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
  const size = input === null ? 0 : JSON.stringify(input).length;
  if (size > LONGEST_INPUT)
    return [issueAt("input", `${size} characters`, `at most ${LONGEST_INPUT} characters`)];
  if (kind === "plan" && input !== null) return [issueAt("input", input, "nothing for a plan")];
  if (kind === "workflow" && input !== null && !isObject)
    return [issueAt("input", input, "an object for a workflow")];
  if (kind === "agent" && typeof input !== "string" && !(isWebhook && input === null))
    return [issueAt("input", input, "a text for an agent")];
  if (kind === "agent" && input === "" && !isWebhook)
    return [issueAt("input", input, "a text for the agent, which is what it is asked to do,")];
  return [];
}

function triggerIssues(trigger: ScheduleTrigger | undefined): readonly ConfigIssue[] {
  if (trigger?.kind === "webhook") return [];
  if (trigger === undefined || trigger.kind !== "cron")
    return [issueAt("trigger.kind", Reflect.get(Object(trigger), "kind"), '"cron" or "webhook"')];
  try {
    cadence({ pattern: String(trigger.pattern), time_zone: String(trigger.time_zone) });
    return [];
  } catch (error) {
    if (error instanceof AgentConfigError) return error.issues;
    throw error;
  }
}
