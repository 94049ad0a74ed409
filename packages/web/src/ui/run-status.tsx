import type { Answer } from "@trackside/server/client";
import { type Status, StatusBadge } from "./status-badge.tsx";

/** As the contract stores it. */
export type RunStatus = Answer<"listRuns">["items"][number]["status"];

/** The word for each stored status, and what there is to say beyond it. */
const WORDS: Record<RunStatus, { status: Status; title: string }> = {
  queued: { status: "Running", title: "Queued: it begins as soon as a worker is free" },
  running: { status: "Running", title: "Under way" },
  waiting: { status: "Waiting for you", title: "It waits for a decision or an answer" },
  parked: { status: "Parked", title: "It cannot go on by itself: resume or cancel it" },
  completed: { status: "Done", title: "It ended with an answer" },
  error: { status: "Failed", title: "It ended with an error" },
  cancelled: { status: "Stopped", title: "Someone stopped it" },
};

/** Stored statuses under each of the six words: for filters. */
export function statusesOf(status: Status): RunStatus[] {
  return (Object.keys(WORDS) as RunStatus[]).filter((stored) => WORDS[stored].status === status); // the keys of WORDS
}

export function RunStatusBadge({ status }: { status: RunStatus }) {
  const { status: word, title } = WORDS[status];
  return <StatusBadge status={word} title={title} />;
}
