import { queryOptions } from "@tanstack/react-query";
import type { Answer } from "@trackside/server/client";
import { client } from "../../api.ts";

export type Board = Answer<"getPlanBoard">;
export type Plan = NonNullable<Board["plan"]>;
export type Step = Plan["steps"][number];
export type Version = Answer<"listPlanVersions">["items"][number];

const BUSY_MS = 2_000;
const QUIET_MS = 15_000;

/** Whether something happens without anybody touching it. */
export function isBusy({ plan, work, generation }: Board): boolean {
  return (
    work.state === "working" ||
    work.state === "waiting" ||
    generation?.state === "running" ||
    (plan?.steps.some(({ state }) => state === "running") ?? false)
  );
}

export const boardKey = (agent: string) => ["plans", "board", agent] as const;

export const boardQuery = (agent: string) =>
  queryOptions({
    queryKey: boardKey(agent),
    queryFn: ({ signal }) => client.getPlanBoard({ params: { name: agent } }, { signal }),
    refetchInterval: ({ state: { data } }) => (data && isBusy(data) ? BUSY_MS : QUIET_MS),
  });

export const versionsQuery = (agent: string) =>
  queryOptions({
    queryKey: ["plans", "versions", agent],
    queryFn: ({ signal }) => client.listPlanVersions({ params: { name: agent } }, { signal }),
  });
