import type { RunRecord } from "@trackside/host";
import type { Cell } from "./table.ts";

type Status = RunRecord["status"];

export const STATUSES: readonly Status[] = [
  "queued",
  "running",
  "waiting",
  "parked",
  "completed",
  "error",
  "cancelled",
];

const SHOWN = {
  queued: { mark: "○", style: "dim" },
  running: { mark: "→", style: "cyan" },
  waiting: { mark: "◆", style: "yellow" },
  parked: { mark: "!", style: "red" },
  completed: { mark: "●", style: "green" },
  error: { mark: "✗", style: "red" },
  cancelled: { mark: "■", style: "yellow" },
} as const satisfies Record<Status, object>;

export function statusCell({ status, cancel_reason, ended_at }: RunRecord): Exclude<Cell, string> {
  const { mark, style } = SHOWN[status];
  const word = cancel_reason !== null && ended_at === null ? "stopping" : status;
  return { text: `${mark} ${word}`, style };
}

/** Why it stands as it does, in a few words. */
export function why({ outcome, parked, cancel_reason }: RunRecord): string {
  if (parked !== null) return parked;
  if (outcome === null) return cancel_reason ?? "";
  if (outcome.status === "completed") return outcome.stop_reason;
  return outcome.status === "error" ? `${outcome.failure.code}: ${outcome.failure.message}` : outcome.reason;
}
