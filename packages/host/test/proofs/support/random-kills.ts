import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ONCE_CALLS } from "./busy-agent.ts";
import { Ledger } from "./ledger.ts";
import { Programs } from "./programs.ts";
import type { Report } from "./report.ts";

export interface KillsInit {
  readonly runs: number;
  readonly seed: number;
  /** A folder for the ledger, and for the database unless `place` says where that is. */
  readonly dir: string;
  readonly place?: string;
  /** Runs under way at a time. */
  readonly atOnce?: number;
  /** A process is killed so long after it has opened the store. */
  readonly killAfterMs?: readonly [number, number];
}

export interface Kills {
  readonly kills: number;
  readonly runs: number;
  /** Outcomes that were unknown, and decided by the harness. */
  readonly unknown: number;
  /** Runs by how they ended. */
  readonly ended: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

const MOST_KILLS = 500;
const TERMINAL = ["completed", "error", "cancelled"];

/** Works through many runs in one database while the process that does so is killed again and again. */
export async function randomKills(init: KillsInit): Promise<Kills> {
  const programs = await Programs.build();
  try {
    return await killAgainAndAgain(programs, init);
  } finally {
    programs.remove();
  }
}

async function killAgainAndAgain(programs: Programs, init: KillsInit): Promise<Kills> {
  const { runs, seed, dir, atOnce = 10, killAfterMs: [least, most] = [500, 3000] } = init;
  const ledger = join(dir, "ledger");
  const random = randomFrom(seed);
  const problems: string[] = [];
  for (let kills = 0; kills < MOST_KILLS; kills += 1) {
    const worker = programs.start("kill-worker", [
      init.place ?? join(dir, "runs.db"),
      ledger,
      String(runs),
      String(atOnce),
    ]);
    const exit = once(worker, "exit");
    let errors = "";
    worker.stderr.setEncoding("utf8").on("data", (text: string) => {
      errors += text;
    });
    let timer: NodeJS.Timeout | undefined;
    let wasKilled = false;
    let report: Report | undefined;
    for await (const line of createInterface({ input: worker.stdout })) {
      const said: { ready?: true; over?: true; notice?: string; report?: Report } = JSON.parse(line);
      if (said.notice !== undefined) problems.push(`noticed after ${kills} kills: ${said.notice}`);
      if (said.ready) {
        timer = setTimeout(
          () => {
            wasKilled = worker.kill("SIGKILL");
          },
          least + random() * (most - least),
        );
      }
      if (said.over) clearTimeout(timer);
      report ??= said.report;
    }
    clearTimeout(timer);
    await exit;
    if (problems.length > 0 && report === undefined) return { ...NOTHING, kills, problems }; // it would wait for ever
    if (report !== undefined) return judged(report, runs, kills, new Ledger(ledger), problems);
    if (!wasKilled)
      return { ...NOTHING, kills, problems: [...problems, `the process ended by itself: ${errors}`] };
  }
  return { ...NOTHING, kills: MOST_KILLS, problems: [...problems, `not over after ${MOST_KILLS} kills`] };
}

const NOTHING = { runs: 0, unknown: 0, ended: {} };

function judged(report: Report, runs: number, kills: number, ledger: Ledger, problems: string[]): Kills {
  const ended: Record<string, number> = {};
  for (const { status, terminals, gaps } of report.runs) {
    ended[status] = (ended[status] ?? 0) + 1;
    if (!TERMINAL.includes(status)) problems.push(`a run is ${status}`);
    if (terminals.length !== 1 || terminals[0] !== status)
      problems.push(`a run is ${status} and has the terminal statuses ${terminals.join(", ")}`);
    problems.push(...gaps);
  }
  if (report.runs.length !== runs) problems.push(`there are ${report.runs.length} runs, not ${runs}`);
  for (const run of report.held) problems.push(`a branch is still held by ${run}`);
  for (const { id, state } of report.approvals)
    if (state === "pending") problems.push(`${id} is still pending`);
  const calls = new Map<string, number>();
  for (const { effect, call } of ledger.read())
    if (effect === "once") calls.set(call, (calls.get(call) ?? 0) + 1);
  for (const [call, times] of calls) if (times > 1) problems.push(`${call} happened ${times} times`);
  if (calls.size !== runs * ONCE_CALLS)
    problems.push(`${calls.size} things happened that happen once, not ${runs * ONCE_CALLS}`);
  const unknown = report.approvals.filter(({ kind }) => kind === "unknown_outcome").length;
  return { kills, runs: report.runs.length, unknown, ended, problems };
}

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
