import type { JsonObject } from "trackside";
import type { ScheduleInput, ScheduleTarget } from "./schedule.ts";

export interface StartTarget {
  /** The same one again is the same run (X10). */
  readonly requestId: string;
  readonly scope: { readonly tenant: string; readonly user: string; readonly schedule: string };
}

interface Started {
  readonly runId: string;
}

/** What schedules ask of the host. */
export interface TargetHost {
  startAgent(name: string, text: string, how: StartTarget): Promise<Started>;
  startWorkflow(name: string, input: JsonObject, how: StartTarget): Promise<Started>;
  /** The active plan of an agent: its steps are runs, so that there is no single one. Twice is once. */
  startPlan(agent: string, how: StartTarget): Promise<void>;
  /** Undefined when it is there; else the names of some that are. */
  unknown(target: ScheduleTarget, tenant: string): Promise<readonly string[] | undefined>;
}

/** Starts what a schedule is for. Answers the run's id, where it is one run. */
export async function startTarget(
  host: TargetHost,
  { kind, name }: ScheduleTarget,
  input: ScheduleInput,
  how: StartTarget,
): Promise<string | null> {
  switch (kind) {
    case "agent":
      return (await host.startAgent(name, typeof input === "string" ? input : "", how)).runId;
    case "workflow":
      return (await host.startWorkflow(name, typeof input === "object" && input !== null ? input : {}, how))
        .runId;
    case "plan":
      await host.startPlan(name, how);
      return null;
  }
}

const BODY = "{{body}}";

/** What is said when a webhook came: its body stands where the text says so, else at its end. */
export function withBody({ kind }: ScheduleTarget, input: ScheduleInput, body: unknown): ScheduleInput {
  if (kind === "plan") return null;
  if (kind === "workflow") return { ...(typeof input === "object" ? input : {}), body } as JsonObject; // parsed from JSON
  const text = typeof input === "string" ? input : "";
  const json = JSON.stringify(body, null, 2);
  if (text.includes(BODY)) return text.split(BODY).join(json);
  return text === "" ? json : `${text}\n\n${json}`;
}
