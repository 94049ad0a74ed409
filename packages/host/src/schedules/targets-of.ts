import { type JsonObject, TracksideError } from "trackside";
import type { ScheduleTarget } from "./schedule.ts";
import type { StartTarget, TargetHost } from "./targets.ts";

interface Named {
  readonly name: string;
}

/** The parts of a host that have something to start. */
interface Startable {
  start(agent: string, input: string, options: StartTarget): Promise<{ readonly runId: string }>;
  readonly agents: {
    get(name: string, of: { tenant: string }): Promise<Named>;
    list(of: { tenant: string; limit: number }): Promise<readonly Named[]>;
  };
  readonly workflows: {
    get(name: string, of: { tenant: string }): Promise<Named>;
    list(of: { tenant: string; limit: number }): Promise<readonly Named[]>;
    start(name: string, input: JsonObject, options: StartTarget): Promise<{ readonly runId: string }>;
  };
  readonly plans: {
    runActive(agent: string, author: { tenant: string; by: string }): Promise<unknown>;
  };
}

const SHOWN = 20;

/** What a host can start, for its schedules. */
export function targetsOf(host: Startable): TargetHost {
  return {
    startAgent: (name, text, how) => host.start(name, text, how),
    startWorkflow: (name, input, how) => host.workflows.start(name, input, how),
    startPlan: async (agent, { scope: { tenant, user } }) => {
      await host.plans.runActive(agent, { tenant, by: user });
    },
    unknown: async ({ kind, name }: ScheduleTarget, tenant) => {
      const among = kind === "workflow" ? host.workflows : host.agents;
      try {
        await among.get(name, { tenant });
        return undefined;
      } catch (error) {
        if (!(error instanceof TracksideError) || error.code !== "not_found") throw error;
        return (await among.list({ tenant, limit: SHOWN })).map((one) => one.name);
      }
    },
  };
}
