import type { NativeConnection } from "@temporalio/worker";
import type { TracksideWorker } from "@trackside/temporal/worker";
import { messageOf } from "../approvals/approver.ts";
import { EXIT } from "../command.ts";
import { Complaint } from "../complaint.ts";
import type { InStore } from "../config/in-store.ts";
import type { Io } from "../io.ts";
import { clean } from "../screen/clean.ts";
import { WorkerLines } from "../screen/worker-lines.ts";
import { connect, serverOf } from "./connect.ts";
import { Notices } from "./notices.ts";
import { warnOfOneMachine } from "./on-temporal.ts";
import type { Target } from "./options.ts";
import { RunsHere } from "./runs-here.ts";
import { isOfOneMachine } from "./stores.ts";
import type { Toolkit } from "./toolkit.ts";

/** Tools that are running may finish, for this long; then they are told to stop, for this long. */
const GRACE_MS = 5_000;
const STOPPING_MS = 3_000;
const AGAIN_MS = 100;

/** Works on the runs of a task queue until it is told to stop. Resolves to the exit code. */
export async function workOn(
  opened: InStore,
  { io, toolkit, target, stopped }: { io: Io; toolkit: Toolkit; target: Target; stopped: AbortSignal },
): Promise<number> {
  const { trackside } = opened;
  const { store, registry } = trackside.engine;
  if (registry.names.length === 0)
    throw new Complaint("The config has no agents, so there is nothing to work on.");
  if (store.keyFile === null)
    throw new Complaint(`${store.name} is in memory: a run that is started elsewhere would not be in it.`);
  warnOfOneMachine(opened, target);
  // Found out here, within bounds and in words; the worker's own connection is of another kind.
  await (await connect(toolkit, target)).close();
  const lines = new WorkerLines(opened);
  const runs = new RunsHere(trackside, (change) => lines.tell(change));
  await quietRuntime(io, toolkit, target);
  const { NativeConnection } = await toolkit.theirsToWork();
  const connection = await NativeConnection.connect(serverOf(target));
  try {
    const worker = await workerOn(connection, { toolkit, target, opened, runs });
    const { address, namespace, taskQueue } = target;
    const where = isOfOneMachine(store) ? `${store.name}, on this machine only` : store.name;
    lines.ready(
      `${where} · ${registry.names.join(", ")} · task queue ${taskQueue} of ${namespace}, Temporal at ${address}`,
      { agents: registry.names, temporal: address, namespace, task_queue: taskQueue },
    );
    const failure = await runUntil(worker, stopped, () => runs.leave());
    await runs.told;
    await lines.written;
    if (failure === undefined) lines.stopped(runs.left);
    else opened.screen.line(clean(`The worker cannot go on. ${messageOf(failure)}`));
    return failure === undefined ? EXIT.completed : EXIT.failed;
  } finally {
    await connection.close().catch(() => {}); // a worker that had to be given up may still hold it
  }
}

async function workerOn(
  connection: NativeConnection,
  { toolkit, target, opened, runs }: { toolkit: Toolkit; target: Target; opened: InStore; runs: RunsHere },
): Promise<TracksideWorker> {
  const { createWorker } = await toolkit.oursToWork();
  const { namespace, taskQueue } = target;
  return createWorker({
    connection,
    namespace,
    taskQueue,
    trackside: opened.trackside,
    options: {
      shutdownGraceTime: GRACE_MS,
      shutdownForceTime: GRACE_MS + STOPPING_MS,
      interceptors: { activity: [runs.interceptor] },
    },
  });
}

/** Undefined when it stopped because it was told to. */
async function runUntil(
  worker: TracksideWorker,
  stopped: AbortSignal,
  stopping: () => void,
): Promise<unknown> {
  let again: NodeJS.Timeout | undefined;
  const stop = () => {
    stopping();
    worker.shutdown();
    again = setInterval(() => worker.shutdown(), AGAIN_MS); // one that is not quite up does not hear it
  };
  if (stopped.aborted) stop();
  else stopped.addEventListener("abort", stop, { once: true });
  try {
    await worker.run();
    return undefined;
  } catch (error) {
    return stopped.aborted ? undefined : error; // a tool that would not stop: another worker asks for it again
  } finally {
    clearInterval(again);
    stopped.removeEventListener("abort", stop);
  }
}

/** Temporal says to us what an operator should know, and nothing else; signals are ours to hear. */
async function quietRuntime({ stderr }: Io, toolkit: Toolkit, { address }: Target): Promise<void> {
  const { DefaultLogger, Runtime } = await toolkit.theirsToWork();
  const notices = new Notices(address, (message) => void stderr.write(`! ${clean(message)}\n`));
  Runtime.install({
    logger: new DefaultLogger("WARN", (entry) => notices.log(entry)),
    telemetryOptions: { logging: { filter: { core: "WARN", other: "ERROR" }, forward: {} } },
    shutdownSignals: [],
  });
}
