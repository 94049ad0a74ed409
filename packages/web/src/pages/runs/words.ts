import { plural } from "../../format/number.ts";
import type { Status } from "../../ui/status-badge.tsx";
import type { RunDetail, RunRecord } from "./types.ts";

type RunStatus = RunRecord["status"];

/** The one of the six words for a run. One that is queued runs as soon as a worker has a hand free. */
export const STATUS_OF: Record<RunStatus, Status> = {
  queued: "Running",
  running: "Running",
  waiting: "Waiting for you",
  parked: "Parked",
  completed: "Done",
  error: "Failed",
  cancelled: "Stopped",
};

/** Whether it can be begun again: over or parked, and no part of another run. */
export const canRetry = ({
  ended_at,
  status,
  parent_run_id,
}: Pick<RunRecord, "ended_at" | "status" | "parent_run_id">): boolean =>
  parent_run_id === null && (ended_at !== null || status === "parked");

/** Whether a run is over: nothing will change of it any more. */
export const isOver = ({ ended_at }: Pick<RunRecord, "ended_at">): boolean => ended_at !== null;

export interface Story {
  /** What happened, or why it stopped: one sentence. */
  readonly what: string;
  /** In the words of who stopped it: a reason, an error. */
  readonly why?: string;
  /** What to do about it. */
  readonly next?: string;
}

type Told = Pick<
  RunDetail,
  "status" | "outcome" | "steps" | "cancel_reason" | "parked" | "pending_approvals" | "definition"
>;

/** What happened, and why it stopped. */
export function storyOf(run: Told): Story {
  if (run.cancel_reason !== null && (run.status === "running" || run.status === "waiting"))
    return { what: "It is being stopped.", why: run.cancel_reason };
  switch (run.status) {
    case "queued":
      return { what: "It waits for a worker to take it up." };
    case "running":
      return { what: "It is under way." };
    case "waiting": {
      const count = run.pending_approvals.length;
      return count === 0
        ? { what: "It waits." }
        : { what: `It waits for ${count === 1 ? "a decision" : plural(count, "decision")}.` };
    }
    case "parked":
      return { what: "It cannot go on by itself.", ...(run.parked && { why: run.parked }) };
    default:
      return run.outcome === null ? { what: "It is over." } : ending(run, run.outcome);
  }
}

function ending(run: Told, outcome: NonNullable<RunDetail["outcome"]>): Story {
  if (outcome.status === "cancelled") return { what: "Somebody stopped it.", why: outcome.reason };
  if (outcome.status === "error") {
    const { code, message } = outcome.failure;
    const next = NEXT[code];
    return { what: FAILURES[code] ?? "It failed.", why: message, ...(next && { next }) };
  }
  const why = outcome.reason === undefined ? {} : { why: outcome.reason };
  switch (outcome.stop_reason) {
    case "answered":
      return { what: `It answered after ${plural(run.steps, "step")}.`, ...why };
    case "max_steps": {
      const most = run.definition?.["max_steps"];
      return {
        what: `It reached its most steps${typeof most === "number" ? `, ${most}` : ""}.`,
        ...why,
        next: "Give the agent more steps, or a smaller task.",
      };
    }
    case "budget":
      return { what: "It used up its budget.", ...why, next: "Raise the budget, or retry from a step." };
    case "halted":
      return { what: "A rail or hook halted it.", ...why };
    case "skipped":
      return { what: "A rail or hook skipped the rest.", ...why };
  }
}

type Code = Extract<NonNullable<RunDetail["outcome"]>, { status: "error" }>["failure"]["code"];

const FAILURES: Partial<Record<Code, string>> = {
  model_failed: "The model failed.",
  model_unavailable: "The model could not be reached.",
  output_invalid: "The answer does not fit the output schema.",
  hook_failed: "A hook failed.",
  rail_aborted: "A rail stopped it.",
  budget_exceeded: "It used up its budget.",
  config_invalid: "Its configuration does not work.",
  mcp_unavailable: "An MCP server could not be reached.",
  diverged: "The agent changed while it ran.",
  recovery_failed: "Its process died again and again in one place.",
  node_failed: "A node failed.",
  internal: "Something broke in Trackside.",
};

const NEXT: Partial<Record<Code, string>> = {
  model_failed: "Retry from the last step.",
  model_unavailable: "Check the provider in Settings, then retry from the last step.",
  output_invalid: "Loosen the schema, or retry from the last step.",
  rail_aborted: "The timeline has what the rail said.",
  mcp_unavailable: "Start the server, then retry from the last step.",
  recovery_failed: "Find out why the process dies, then retry from that step.",
  internal: "Report it with the JSON of this run.",
};

/** Recoveries in words: which effect was begun again, and how often. `main/2/tool/deploy` is shown as it is. */
export function recoveriesOf({
  recoveries,
}: Pick<RunDetail, "recoveries">): { effect: string; times: number }[] {
  return Object.entries(recoveries)
    .map(([effect, times]) => ({ effect, times }))
    .sort((a, b) => b.times - a.times || (a.effect < b.effect ? -1 : 1));
}

/** The end of an id, which is what tells ids apart; of a run in a workflow also what it is there. */
export function shortId(id: string): string {
  const own = id.slice(id.indexOf("_") + 1);
  const below = own.indexOf(".");
  if (below > 0 && own.length - below <= MOST_BELOW)
    return `${own.slice(Math.max(0, below - 8), below)}${own.slice(below)}`;
  return own.length <= 8 ? own : own.slice(-8);
}

const MOST_BELOW = 24;
