import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { ScheduleClient, WorkflowClient } from "@temporalio/client";
import { type NativeConnection, Worker, type WorkerOptions } from "@temporalio/worker";
import { cipher, type Keyring, type Trackside } from "@trackside/host";
import { sealedPayloads } from "../common/sealed-payloads.ts";
import { startRun } from "../common/start-run.ts";
import { engineName } from "../common/wire.ts";
import { activitiesOf } from "./activities.ts";
import { Relay } from "./relay.ts";
import { scheduleActivities } from "./schedules.ts";
import { workflowBundle } from "./workflow-bundle.ts";

export interface WorkerInit {
  /** From `NativeConnection.connect({ address })` of `@temporalio/worker`. */
  readonly connection: NativeConnection;
  /** `default` unless given. */
  readonly namespace?: string;
  /** The one that clients have, too. */
  readonly taskQueue: string;
  /** Its agents, store and bus. Runs of the task queue find their tools, rails and hooks in it by name. */
  readonly trackside: Pick<Trackside, "open" | "engine" | "schedules">;
  /** Encrypts what goes through Temporal. The clients have the same. */
  readonly keyring?: Keyring;
  /** Effects at a time; 100 unless given. */
  readonly maxConcurrentEffects?: number;
  /** Anything else of Temporal's own: versioning, tuning, interceptors, a `workflowBundle` that was made before. */
  readonly options?: Partial<WorkerOptions>;
}

/** A worker that can be run until it is told to stop. */
export interface TracksideWorker {
  /** Works until `shutdown()` is called. Rejects when it cannot go on. */
  run(): Promise<void>;
  /** Takes on nothing new, lets what is under way come to its end within the grace time, then `run()` resolves. */
  shutdown(): void;
}

const HEARTBEAT_MS = 500;
const STICKY_MS = 1_000;
const ANNOUNCE_MS = 5_000;

const notice = (message: string) => process.emitWarning(message, "TracksideNotice");

/**
 * A worker: performs the effects of runs and drives their loops. Start it on as many machines as there is work for; kill
 * any of them at any moment.
 */
export async function createWorker(init: WorkerInit): Promise<TracksideWorker> {
  const { connection, namespace = "default", taskQueue, trackside } = init;
  const { workflowBundle: madeBefore, ...options } = init.options ?? {};
  await trackside.open({ claims: false });
  const { keyring } = init;
  const sealed = keyring && { dataConverter: { payloadCodecs: [sealedPayloads(cipher(keyring))] } };
  const workflows = new WorkflowClient({ connection: connection as never, namespace, ...sealed });
  const engine = engineName(namespace, taskQueue);
  trackside.engine.drivenBy({ name: engine, start: startRun(workflows, taskQueue) });
  const own = `${taskQueue}.${hostname()}.${randomUUID()}`;
  let relay: Relay | undefined;
  const effects = trackside.engine.effects((runIds) => void relay?.woken(runIds));
  relay = new Relay({
    effects,
    workflows,
    engine,
    start: startRun(workflows, taskQueue),
    notice,
  });
  const clocks = new ScheduleClient({ connection: connection as never, namespace, ...sealed });
  const activities = {
    ...activitiesOf({ effects, workflows, own, heartbeatMs: HEARTBEAT_MS }),
    ...scheduleActivities(trackside.schedules, clocks, taskQueue),
  };
  const atOnce = init.maxConcurrentEffects ?? 100;
  // The queue of this process is no part of a deployment: versions have room for a hundred queues.
  const { workerDeploymentOptions, ...rest } = options;
  const common = {
    connection,
    namespace,
    activities: { ...activities },
    maxHeartbeatThrottleInterval: HEARTBEAT_MS,
    shutdownGraceTime: "10 s",
    ...sealed,
    ...rest,
  } satisfies Partial<WorkerOptions>;
  const main = await Worker.create({
    ...common,
    ...(workerDeploymentOptions === undefined ? {} : { workerDeploymentOptions }),
    taskQueue,
    workflowBundle: madeBefore ?? (await workflowBundle()),
    maxConcurrentActivityTaskExecutions: atOnce,
    // A worker that is gone keeps its workflows no longer than this.
    stickyQueueScheduleToStartTimeout: STICKY_MS,
  });
  // For what follows where a tool of this process is under way.
  const mine = await Worker.create({
    ...common,
    taskQueue: own,
    maxConcurrentActivityTaskExecutions: atOnce,
  });
  const announce = () =>
    effects.announce(engine, own).catch((error: unknown) => {
      notice(`this worker could not say which agents it has, and tries again: ${String(error)}`);
    });
  return {
    async run() {
      effects.listen();
      relay.start();
      await announce();
      const announcing = setInterval(announce, ANNOUNCE_MS);
      void trackside.schedules.fireAllDue().catch((error: unknown) => {
        notice(`what was due while nobody was up is started when it is next looked at: ${String(error)}`);
      });
      try {
        await Promise.all([main.run(), mine.run()]);
      } finally {
        clearInterval(announcing);
        await relay.close();
        await effects.withdraw(engine, own).catch(() => {}); // it lapses by itself
        await effects.close();
      }
    },
    shutdown() {
      for (const worker of [main, mine]) if (worker.getState() === "RUNNING") worker.shutdown();
    },
  };
}
