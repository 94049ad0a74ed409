import { randomUUID } from "node:crypto";
import { Connection, WorkflowClient } from "@temporalio/client";
import { NativeConnection, Worker } from "@temporalio/worker";
import { DurableEngine, type DurableOptions, sqlite } from "@trackside/host";
import type { Effects } from "@trackside/host/effects";
import { startRun } from "../../src/common/start-run.ts";
import { engineName } from "../../src/common/wire.ts";
import { activitiesOf } from "../../src/worker/activities.ts";
import { Relay } from "../../src/worker/relay.ts";
import { bundleFile } from "./bundle-file.ts";
import "./runtime.ts";

/**
 * Engines on a real server, each with a store and options of its own. They share one worker, which finds the engine of a
 * run by its id: a worker for each would take longer than what is tested.
 */
export class Stage {
  readonly #taskQueue = `stage-${randomUUID()}`;
  /** By run: the effects of its engine. */
  readonly #homes = new Map<string, Effects>();
  readonly #up: Promise<{
    connection: Connection;
    native: NativeConnection;
    workflows: WorkflowClient;
    worker: Worker;
    running: Promise<void>;
  }>;
  #made = 0;

  constructor(address: string) {
    this.#up = this.#start(address);
  }

  async #start(address: string) {
    const connection = await Connection.connect({ address });
    const native = await NativeConnection.connect({ address });
    const workflows = new WorkflowClient({ connection });
    const own = `${this.#taskQueue}.own`;
    const common = {
      connection: native,
      activities: { ...activitiesOf({ effects: this.#router(), workflows, own, heartbeatMs: 300 }) },
      maxHeartbeatThrottleInterval: 300,
    };
    const worker = await Worker.create({
      ...common,
      taskQueue: this.#taskQueue,
      workflowBundle: { codePath: await bundleFile() },
    });
    const mine = await Worker.create({ ...common, taskQueue: own });
    const running = Promise.all([worker.run().finally(() => mine.shutdown()), mine.run()]).then(() => {});
    return { connection, native, workflows, worker, running };
  }

  /** Effects of whatever run is asked for. */
  #router(): Effects {
    const of = (runId: string) => {
      const found = this.#homes.get(runId);
      if (found === undefined) throw new Error(`no engine has the run ${runId}`);
      return found;
    };
    const router: Pick<Effects, "open" | "openChild" | "perform" | "write" | "park" | "cancel"> = {
      open: (runId) => of(runId).open(runId),
      openChild: (order) => {
        this.#homes.set(order.input.run_id, of(order.parent.run_id));
        return of(order.parent.run_id).openChild(order);
      },
      perform: (order, by) => of(order.run_id).perform(order, by),
      write: (order) => of(order.run_id).write(order),
      park: (runId, why) => of(runId).park(runId, why),
      cancel: (runId, prefix, reason) => of(runId).cancel(runId, prefix, reason),
    };
    return router as Effects; // what activities ask of it
  }

  async engine(
    options: Partial<DurableOptions> = {},
  ): Promise<{ engine: DurableEngine; close(): Promise<void> }> {
    const { workflows } = await this.#up;
    this.#made += 1;
    const start = startRun(workflows, this.#taskQueue);
    const elsewhere = {
      name: engineName("default", `${this.#taskQueue}-${this.#made}`),
      start: async (runId: string) => {
        this.#homes.set(runId, effects);
        await start(runId);
      },
    };
    const store = options.store ?? sqlite(":memory:"); // a file takes a thread for its lease, and a poll
    const engine = new DurableEngine({ ...options, store, claims: false, elsewhere });
    await engine.open();
    const effects = engine.effects((runIds) => void relay.woken(runIds));
    const relay = new Relay({
      effects,
      workflows,
      engine: elsewhere.name,
      start: elsewhere.start,
      notice: () => {},
    });
    effects.listen();
    relay.start();
    return {
      engine,
      async close() {
        await relay.close();
        await effects.close();
        await engine.close();
      },
    };
  }

  async close(): Promise<void> {
    const { connection, native, worker, running } = await this.#up;
    worker.shutdown();
    await running;
    await connection.close();
    await native.close();
  }
}
