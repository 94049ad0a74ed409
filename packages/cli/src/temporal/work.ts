import type { NativeConnection } from "@temporalio/worker";
import type { TracksideWorker } from "@trackside/temporal/worker";
import { messageOf } from "../approvals/approver.ts";
import { EXIT } from "../command.ts";
import { Complaint } from "../complaint.ts";
import type { InStore } from "../config/in-store.ts";
import { clean, cleanLine } from "../screen/clean.ts";
import { WorkerLines } from "../screen/worker-lines.ts";
import { connect, serverOf } from "./connect.ts";
import { warnOfOneMachine } from "./on-temporal.ts";
import type { Target } from "./options.ts";
import { RunsHere } from "./runs-here.ts";
import { isOfOneMachine } from "./stores.ts";
import type { Toolkit } from "./toolkit.ts";

/** Tools that are running may finish, for this long; then they are told to stop, for this long. */
const GRACE_MS = 5_000;
const STOPPING_MS = 3_000;

/** Works on the runs of a task queue until it is told to stop. Resolves to the exit code. */
export async function workOn(
  opened: InStore,
  { toolkit, target, stopped }: { toolkit: Toolkit; target: Target; stopped: AbortSignal },
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
  await quietRuntime(toolkit);
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
    const failure = await runUntil(worker, stopped);
    const left = runs.underWay;
    await lines.written;
    if (failure === undefined) lines.stopped(left);
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
async function runUntil(worker: TracksideWorker, stopped: AbortSignal): Promise<unknown> {
  const running = worker.run();
  const stop = () => worker.shutdown();
  if (stopped.aborted) stop();
  else stopped.addEventListener("abort", stop, { once: true });
  try {
    await running;
    return undefined;
  } catch (error) {
    return stopped.aborted ? undefined : error; // a tool that would not stop: another worker asks for it again
  }
}

/** A worker has a second queue of its own, for effects alone. */
const EXPECTED = /^No workflows registered/;

/** Temporal says to us what an operator should know, and nothing else; signals are ours to hear. */
async function quietRuntime(toolkit: Toolkit): Promise<void> {
  const { DefaultLogger, Runtime } = await toolkit.theirsToWork();
  const notice = ({ message, meta }: { message: string; meta?: Record<string, unknown> }) => {
    if (EXPECTED.test(message)) return;
    const error = meta?.["error"];
    const about = error === undefined ? "" : `: ${cleanLine(messageOf(error))}`;
    process.emitWarning(`Temporal: ${cleanLine(message)}${about}`, "TracksideNotice");
  };
  Runtime.install({
    logger: new DefaultLogger("WARN", notice),
    telemetryOptions: { logging: { filter: { core: "WARN", other: "ERROR" }, forward: {} } },
    shutdownSignals: [],
  });
}
