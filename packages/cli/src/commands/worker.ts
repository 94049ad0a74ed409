import type { RunRecord } from "@trackside/host";
import { noMore, readArguments } from "../arguments.ts";
import { type Command, EXIT, showHelp } from "../command.ts";
import { Complaint } from "../complaint.ts";
import { type InStore, inStore, STORE_OPTIONS } from "../config/in-store.ts";
import { cleanLine } from "../screen/clean.ts";
import { counted, duration } from "../screen/numbers.ts";
import { statusCell, why } from "../screen/run-status.ts";
import type { Screen } from "../screen/screen.ts";
import { shortId } from "../short-id.ts";

const help = `trackside worker    works on the runs of a store until it is told to stop

It takes up runs that are queued and runs that another process has left, of the agents in the config, and says so
with a line for each it takes up and each that ends. Any number of workers may share a store.

Ctrl-C or SIGTERM leaves the runs where they are, for the next worker, and exits with 0; a second one exits at once.
Tools that are running may finish first, for up to 5 seconds.

Options
  --json                  prints each line as JSON: {"at", "change", "run_id", "agent", "status"}
  --config file           the config; else trackside.config.ts here or in the nearest folder above
  --help                  shows this

Exit codes
  0    it was told to stop
  1    the store did not work
  2    wrong usage or configuration

Examples
  trackside worker
  trackside worker --json >> worker.log
`;

const GRACE_MS = 5_000;

type Change = Parameters<Parameters<InStore["trackside"]["engine"]["onRun"]>[0]>[0]["change"];

const SAID: Readonly<Record<Change, string>> = {
  started: "begins",
  taken_up: "goes on here",
  ended: "is over",
  parked: "is parked",
  left: "is left for another process",
};

async function run(args: readonly string[], io: Parameters<Command["run"]>[1]): Promise<number> {
  const { tenant: _tenant, ...options } = STORE_OPTIONS;
  const { values, positionals } = readArguments(args, options);
  if (values.help) return showHelp(io, help);
  if (positionals[0] !== undefined && /\.[cm]?[tj]s$/.test(positionals[0]))
    throw new Complaint(`A worker has a config, not an agent: trackside worker --config ${positionals[0]}`);
  noMore(positionals, 0, "trackside worker");
  const told = new AbortController();
  const stop = () => {
    if (told.signal.aborted) process.exit(EXIT.completed);
    told.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  process.on("SIGHUP", stop); // its terminal was closed
  io.gone.addEventListener("abort", stop, { once: true });
  return inStore(io, values, (opened) => work(opened, told.signal));
}

async function work({ trackside, json, screen, line }: InStore, stopped: AbortSignal): Promise<number> {
  const { engine } = trackside;
  const agents = engine.registry.names;
  if (agents.length === 0) throw new Complaint("The config has no agents, so there is nothing to work on.");
  let telling = Promise.resolve();
  engine.onRun(({ runId, tenant, agent, change }) => {
    const at = Date.now();
    // One after the other, in the order it happened.
    telling = telling.then(async () => {
      const run = await trackside.runs.get(runId, { tenant }).catch(() => undefined); // erased, or the store is away
      if (json) line({ at, change, run_id: runId, tenant, agent, status: run?.status ?? null });
      else screen.line(lineFor(screen, { at, runId, agent, change }, run));
    });
  });
  const names = cleanLine(agents.join(", "));
  if (json) line({ at: Date.now(), change: "ready", agents });
  else
    screen.line(
      `${screen.paint("dim", clock(Date.now()))} working on ${cleanLine(engine.store.name)} · ${names}`,
    );
  await engine.open({ claims: true });
  engine.claim();
  await until(stopped);
  const left = engine.activeRuns;
  await trackside.close({ graceMs: GRACE_MS });
  await telling;
  const what = left === 0 ? "no run was under way" : `${counted(left, "run")} left for the next worker`;
  if (json) line({ at: Date.now(), change: "stopped", left });
  else screen.line(`${screen.paint("dim", clock(Date.now()))} stopped · ${what}`);
  return EXIT.completed;
}

interface Told {
  readonly at: number;
  readonly runId: string;
  readonly agent: string;
  readonly change: Change;
}

function lineFor(screen: Screen, { at, runId, agent, change }: Told, run: RunRecord | undefined): string {
  const facts = [`${screen.paint("bold", shortId(runId))} ${cleanLine(agent)} ${SAID[change]}`];
  if (run !== undefined && (change === "ended" || change === "parked")) {
    const { text, style } = statusCell(run);
    facts.push(screen.paint(style, text), cleanLine(why(run)));
    if (run.ended_at !== null) facts.push(duration(run.ended_at - run.created_at));
  }
  return `${screen.paint("dim", clock(at))} ${facts.join(" · ")}`;
}

/** Nothing else keeps the process alive while there is nothing to do. */
function until(stopped: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const alive = setInterval(() => {}, 60_000);
    const done = () => {
      clearInterval(alive);
      resolve();
    };
    if (stopped.aborted) done();
    else stopped.addEventListener("abort", done, { once: true });
  });
}

function clock(at: number): string {
  return new Date(at).toLocaleTimeString("en-GB");
}

export const command: Command = { help, run };
