import { noMore, readArguments } from "../arguments.ts";
import { type Command, EXIT, showHelp } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { configFile } from "../config/find-config.ts";
import { type InStore, inStore, inTrackside, STORE_OPTIONS, type StoreValues } from "../config/in-store.ts";
import type { Io } from "../io.ts";
import { WorkerLines } from "../screen/worker-lines.ts";
import { aroundFile } from "../temporal/on-temporal.ts";
import {
  readTarget,
  type Target,
  TEMPORAL_OPTIONS,
  TEMPORAL_OPTIONS_HELP,
  type TemporalValues,
} from "../temporal/options.ts";
import { Toolkit } from "../temporal/toolkit.ts";
import { workOn } from "../temporal/work.ts";
import { toldToStop, until } from "../told-to-stop.ts";

const help = `trackside worker            works on the runs of a store until it is told to stop
trackside worker [agent]    with Temporal: works on the runs of a task queue

It takes up runs that are queued and runs that another process has left, of the agents in the config, and says so
with a line for each it takes up and each that ends. It starts what schedules have due. Any number of workers may
share a store.

Ctrl-C or SIGTERM leaves the runs where they are, for the next worker, and exits with 0; a second one exits at once.
Tools that are running may finish first, for up to 5 seconds.

Options
  --json                  prints each line as JSON: {"at", "change", "run_id", "agent", "status"}
  --config file           the config; else trackside.config.ts here or in the nearest folder above
  --help                  shows this

With Temporal: it performs what runs of the task queue ask for, with the agents of the config, or with that of a file:
  [agent]                 a file as for trackside run, the same as there; its store is that of --store
  --tools file            with a .json definition: the file that exports the tools it names
  --engine temporal       works for Temporal; --temporal implies it
${TEMPORAL_OPTIONS_HELP}
Workers on several machines share a store in PostgreSQL. With SQLite all of them are on one.

Exit codes
  0    it was told to stop
  1    the store or the server did not work
  2    wrong usage or configuration; or there is no server

Examples
  trackside worker
  trackside worker --json >> worker.log
  trackside worker --temporal 127.0.0.1:7233
  trackside worker agent.ts --temporal temporal.internal:7233 --store postgres://db.internal/trackside
`;

const GRACE_MS = 5_000;

async function run(args: readonly string[], io: Io): Promise<number> {
  const { tenant: _tenant, ...options } = STORE_OPTIONS;
  const { values, positionals } = readArguments(args, {
    ...options,
    ...TEMPORAL_OPTIONS,
    tools: { type: "string" },
  });
  if (values.help) return showHelp(io, help);
  const target = readTarget(values, io.env, ["temporal"]);
  const [file] = positionals;
  if (target === undefined) {
    if (file !== undefined && /\.[cm]?[tj]s$/.test(file))
      throw new Complaint(
        `A worker has a config, not an agent: trackside worker --config ${file}. With Temporal it may have an agent: add --temporal and an address.`,
      );
    if (values.tools !== undefined) throw new Complaint("--tools is for a definition (.json) on Temporal.");
    noMore(positionals, 0, "trackside worker");
    const stopped = toldToStop(io);
    return inStore(io, values, (opened) => work(opened, stopped));
  }
  noMore(positionals, 1, "trackside worker agent.ts --temporal address");
  return file === undefined ? workForConfig(io, values, target) : workForFile(io, values, file, target);
}

interface WorkerValues extends TemporalValues, StoreValues {
  readonly tools?: string | undefined;
}

function workForConfig(io: Io, values: WorkerValues, target: Target): Promise<number> {
  const given = (["store", "bus", "tools"] as const).find((name) => values[name] !== undefined);
  if (given !== undefined)
    throw new Complaint(`--${given} is for the file of an agent: a config has its own. Name the file, too.`);
  const stopped = toldToStop(io);
  return inStore(io, values, (opened) => {
    const toolkit = new Toolkit(configFile(values.config, io.cwd));
    return workOn(opened, { io, toolkit, target, stopped });
  });
}

async function workForFile(io: Io, values: WorkerValues, file: string, target: Target): Promise<number> {
  if (values.config !== undefined)
    throw new Complaint(
      `A worker has the agents of a config or that of a file: leave --config or ${file} out.`,
    );
  const stopped = toldToStop(io);
  let toolkit: Toolkit;
  const make = async () => {
    const made = await aroundFile(io, { file, tools: values.tools }, values, async () => undefined);
    toolkit = made.toolkit;
    return made.trackside;
  };
  return inTrackside(io, values, make, (opened) => workOn(opened, { io, toolkit, target, stopped }));
}

async function work(opened: InStore, stopped: AbortSignal): Promise<number> {
  const { trackside } = opened;
  const { engine } = trackside;
  const agents = engine.registry.names;
  if (agents.length === 0 && trackside.toolkit.tools.length === 0)
    throw new Complaint("The config has no agents and no tools, so there is nothing to work on.");
  const lines = new WorkerLines(opened);
  engine.onRun((change) => lines.tell(change));
  lines.ready(`${engine.store.name} · ${agents.join(", ")}`, { agents });
  await engine.open({ claims: true });
  engine.claim();
  trackside.schedules.start();
  await until(stopped);
  const left = engine.activeRuns;
  await trackside.close({ graceMs: GRACE_MS });
  await lines.written;
  lines.stopped(left);
  return EXIT.completed;
}

export const command: Command = { help, run };
