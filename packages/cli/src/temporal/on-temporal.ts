import type { Connection } from "@temporalio/client";
import type { Trackside } from "@trackside/host";
import type { Agent } from "trackside";
import { type InStore, inTrackside, type StoreValues } from "../config/in-store.ts";
import type { Io } from "../io.ts";
import { type AgentSource, loadAgent } from "../load-agent.ts";
import { findFile } from "../load-module.ts";
import { cleanLine } from "../screen/clean.ts";
import { connect, hasWorkers } from "./connect.ts";
import { isLoopback, type Target, type TemporalValues } from "./options.ts";
import { isOfOneMachine, storesFor } from "./stores.ts";
import { Toolkit } from "./toolkit.ts";

type TracksideOptions = ConstructorParameters<typeof Trackside>[0];

export const NO_MODEL =
  "--model: on Temporal an agent runs on the model its file says, since the workers have the file and not this option.";

/** A Trackside around the agent of a file, on the store and the bus that the options name. */
export async function aroundFile(
  io: Io,
  source: AgentSource,
  values: TemporalValues,
  engine: (toolkit: Toolkit) => Promise<TracksideOptions["engine"]>,
): Promise<{ readonly trackside: Trackside; readonly agent: Agent; readonly toolkit: Toolkit }> {
  const agent = await loadAgent(source, io);
  const toolkit = new Toolkit(pathOf(source, io.cwd));
  const host = await toolkit.host();
  const stores = storesFor(host, values, io);
  const driver = await engine(toolkit);
  const trackside = new host.Trackside({
    ...stores,
    agents: [agent] as TracksideOptions["agents"], // whatever its output is
    ...(driver === undefined ? {} : { engine: driver }),
  });
  return { trackside, agent, toolkit };
}

/** Opens an agent's file for runs that Temporal drives, and closes it again. No run is worked on here. */
export async function onTemporal(
  io: Io,
  values: TemporalValues & StoreValues,
  { source, target }: { readonly source: AgentSource; readonly target: Target },
  work: (opened: InStore, name: string) => Promise<number>,
): Promise<number> {
  const { namespace, taskQueue } = target;
  let connection: Connection | undefined;
  let name = "";
  const make = async () => {
    const { trackside, agent } = await aroundFile(io, source, values, async (toolkit) => {
      connection = await connect(toolkit, target);
      return (await toolkit.ours()).temporal({ connection, namespace, taskQueue });
    });
    name = agent.definition.name;
    return trackside;
  };
  try {
    return await inTrackside(io, values, make, async (opened) => {
      warnOfOneMachine(opened, target);
      if (connection !== undefined && !(await hasWorkers(connection, target)))
        warn(opened, `no worker is up for it yet. Start one: ${workerFor(source.file, values, target)}`);
      return work({ ...opened, fromFile: true }, name);
    });
  } finally {
    await connection?.close().catch(() => {}); // what was done is done
  }
}

/** SQLite is for one machine. Where the server is another one, the workers may be, too. */
export function warnOfOneMachine(opened: InStore, target: Target): void {
  const { store } = opened.trackside.engine;
  if (isOfOneMachine(store) && !isLoopback(target))
    warn(
      opened,
      `${store.name} is shared by processes on this machine only: start every worker here, or name PostgreSQL with --store`,
    );
}

function warn({ screen }: InStore, what: string): void {
  screen.line(`${screen.paint("yellow", "!")} ${cleanLine(what)}`);
}

/** The worker that would work on these runs, as it is started. */
function workerFor(
  file: string,
  { store }: TemporalValues,
  { address, namespace, taskQueue }: Target,
): string {
  const words = [`trackside worker ${file} --temporal ${address}`];
  if (taskQueue !== "trackside") words.push(`--task-queue ${taskQueue}`);
  if (namespace !== "default") words.push(`--namespace ${namespace}`);
  if (store !== undefined) words.push("--store …"); // it may hold a password
  return words.join(" ");
}

function pathOf({ file, tools }: AgentSource, cwd: string): string {
  // Of a definition, the tools know where the library is.
  return findFile(tools ?? file, cwd, ENDINGS);
}

const ENDINGS = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs", ".json"];
