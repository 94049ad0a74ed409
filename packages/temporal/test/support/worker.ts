import { NativeConnection } from "@temporalio/worker";
import { postgres, redisBus, Trackside } from "@trackside/host";
import { createWorker } from "../../src/worker/index.ts";
import { type AgentsInit, makeAgents, makeWorkflows, toolkitOf } from "./agents.ts";
import { KEYS } from "./keys.ts";
import "./runtime.ts";

/** Plain JSON, so that a program can be started with it. */
export interface WorkerInit extends AgentsInit {
  readonly address: string;
  readonly taskQueue: string;
  readonly database: string;
  readonly redis?: string;
  /** The file of the workflow bundle. */
  readonly bundle: string;
}

export interface StartedWorker {
  shutdown(): void;
  /** Resolves when the worker has stopped and its connections are closed. */
  readonly ended: Promise<void>;
}

/** Starts a worker with a host of its own in this process. */
export async function startWorker(
  { address, taskQueue, database, redis, bundle, ...agentsInit }: WorkerInit,
  notice: (message: string) => void = () => {},
): Promise<StartedWorker> {
  const connection = await NativeConnection.connect({ address });
  const agents = makeAgents(agentsInit);
  const trackside = new Trackside({
    store: postgres(database),
    keyring: KEYS,
    agents,
    workflows: makeWorkflows(agents),
    ...toolkitOf(agents),
    claims: false,
    notice,
    ...(redis === undefined ? {} : { bus: redisBus(redis) }),
  });
  const options = { workflowBundle: { codePath: bundle }, shutdownGraceTime: "1 s" as const };
  const worker = await createWorker({ connection, taskQueue, trackside, options });
  const run = async () => {
    await worker.run();
    await trackside.close();
    await connection.close();
  };
  return { shutdown: () => worker.shutdown(), ended: run() };
}
