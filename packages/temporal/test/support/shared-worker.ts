import { Connection, ScheduleClient, WorkflowClient } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import type { Effects } from "@trackside/host/effects";
import { type StartRun, startRun } from "../../src/common/start-run.ts";
import type { ScheduleActivities } from "../../src/common/wire.ts";
import { activitiesOf } from "../../src/worker/activities.ts";
import { bundleFile } from "./bundle-file.ts";
import "./runtime.ts";

/** What performs the effects of a run. */
export interface Home {
  readonly effects: Effects | Promise<Effects>;
  fireSchedule?(id: string): Promise<void>;
}

const HEARTBEAT_MS = 300;

/**
 * One worker for many engines and hosts, each with a store of its own: it finds the home of a run by the run's id, because a
 * worker for each would take longer than the tests.
 */
export class SharedWorker {
  readonly taskQueue = `shared-${process.pid}-${Date.now()}`;
  /** The queue that only this process has. */
  readonly own = `${this.taskQueue}.own`;
  readonly connection: Connection;
  readonly workflows: WorkflowClient;
  readonly #homes = new Map<string, Home>();
  readonly #stops: (() => Promise<unknown>)[] = [];

  private constructor(connection: Connection) {
    this.connection = connection;
    this.workflows = new WorkflowClient({ connection });
  }

  static async start(address: string): Promise<SharedWorker> {
    const shared = new SharedWorker(await Connection.connect({ address }));
    const native = await NativeConnection.connect({ address });
    const { taskQueue, own, workflows } = shared;
    const schedules: ScheduleActivities = {
      fireSchedule: async (id) => shared.#homeOf(id).fireSchedule?.(id),
    };
    const common = {
      connection: native,
      activities: {
        ...activitiesOf({ effects: shared.#router(), workflows, own, heartbeatMs: HEARTBEAT_MS }),
        ...schedules,
      },
      maxHeartbeatThrottleInterval: HEARTBEAT_MS,
      // An activity of a run whose home was forgotten never ends by itself.
      shutdownGraceTime: 0,
      shutdownForceTime: "2 s" as const,
    };
    const worker = await Worker.create({
      ...common,
      taskQueue,
      workflowBundle: { codePath: await bundleFile() },
    });
    const mine = await Worker.create({ ...common, taskQueue: own });
    const running = Promise.all([worker.run().finally(() => mine.shutdown()), mine.run()]);
    shared.#stops.push(
      async () => {
        worker.shutdown();
        await running.catch(() => {}); // it says when it had to leave activities behind
      },
      () => shared.connection.close(),
      () => native.close().catch(() => {}), // a worker that left activities behind still holds it
    );
    return shared;
  }

  /** Runs and schedules of this id are at home there. */
  register(id: string, home: Home): void {
    this.#homes.set(id, home);
  }

  /** Starts runs that are at home there. */
  starts(home: Home): StartRun {
    const start = startRun(this.workflows, this.taskQueue);
    return async (runId) => {
      this.register(runId, home);
      await start(runId);
    };
  }

  /** The runs and schedules that are at home there. */
  idsOf(home: Home): readonly string[] {
    return [...this.#homes].flatMap(([id, one]) => (one === home ? [id] : []));
  }

  /** Ends the workflows of runs that are still open: nothing here performs their effects any more. */
  async forget(home: Home, open: readonly string[]): Promise<void> {
    for (const id of this.idsOf(home)) this.#homes.delete(id);
    for (const id of open)
      await this.workflows
        .getHandle(id)
        .terminate()
        .catch(() => {}); // it may be over by now
  }

  scheduleClient(): ScheduleClient {
    return new ScheduleClient({ connection: this.connection });
  }

  async close(): Promise<void> {
    for (const stop of this.#stops.splice(0)) await stop();
  }

  #homeOf(id: string): Home {
    const home = this.#homes.get(id);
    if (home === undefined) throw new Error(`nothing here has ${id}`);
    return home;
  }

  #router(): Effects {
    const of = async (runId: string) => this.#homeOf(runId).effects;
    const router: Pick<Effects, "open" | "openChild" | "perform" | "write" | "park" | "cancel"> = {
      open: async (runId) => (await of(runId)).open(runId),
      openChild: async (order) => {
        const home = this.#homeOf(order.parent.run_id);
        this.register(order.input.run_id, home);
        return (await home.effects).openChild(order);
      },
      perform: async (order, by) => (await of(order.run_id)).perform(order, by),
      write: async (order) => (await of(order.run_id)).write(order),
      park: async (runId, why) => (await of(runId)).park(runId, why),
      cancel: async (runId, prefix, reason) => (await of(runId)).cancel(runId, prefix, reason),
    };
    return router as Effects; // what activities ask of it
  }
}
