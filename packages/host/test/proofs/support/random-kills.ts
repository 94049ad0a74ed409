import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
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
  /** Processes at a time, each killed apart: what one leaves, another takes up. */
  readonly processes?: number;
  /** Runs that a process has under way at a time. */
  readonly atOnce?: number;
  /** A process is killed so long after it has opened the store, or as soon after that as it has got on with its work. */
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

const USUAL = [500, 3000] as const;
const MOST_KILLS = 500;
const LOOK_MS = 50;
const TERMINAL = ["completed", "error", "cancelled"];

/** Works through many runs in one database while the processes that do so are killed again and again. */
export async function randomKills(init: KillsInit): Promise<Kills> {
  const programs = await Programs.build();
  const kills = new Killing(programs, init);
  try {
    const places = Array.from({ length: init.processes ?? 1 }, () => kills.goOn());
    const reports = await Promise.all(places);
    return kills.judged(reports[0]);
  } finally {
    programs.remove();
  }
}

class Killing {
  readonly #programs: Programs;
  readonly #init: KillsInit;
  readonly #random: () => number;
  readonly #ledger: string;
  readonly #problems: string[] = [];
  #kills = 0;

  constructor(programs: Programs, init: KillsInit) {
    this.#programs = programs;
    this.#init = init;
    this.#random = randomFrom(init.seed);
    this.#ledger = join(init.dir, "ledger");
  }

  /** One process after the other, until one of them sees everything over, or something is wrong. */
  async goOn(): Promise<Report | undefined> {
    while (this.#problems.length === 0) {
      const report = await this.#live();
      if (report !== undefined) return report;
      if (this.#kills >= MOST_KILLS) this.#problems.push(`not over after ${MOST_KILLS} kills`);
    }
    return undefined;
  }

  async #live(): Promise<Report | undefined> {
    const {
      runs,
      dir,
      place = join(dir, "runs.db"),
      atOnce = 10,
      killAfterMs: [least, most] = USUAL,
    } = this.#init;
    const worker = this.#programs.start("kill-worker", [place, this.#ledger, String(runs), String(atOnce)]);
    const exit = once(worker, "exit");
    const errors = text(worker.stderr);
    let timer: NodeJS.Timeout | undefined;
    let wasKilled = false;
    let report: Report | undefined;
    const kill = () => {
      wasKilled = worker.kill("SIGKILL");
    };
    const ledger = new Ledger(this.#ledger);
    // Where a machine is so slow that nothing is done in that time, runs would die in the same effect until they are parked.
    const killOnceItGotOn = (from: number) => {
      if (ledger.read().length - from >= 2 * atOnce) kill();
      else timer = setTimeout(killOnceItGotOn, LOOK_MS, from);
    };
    for await (const line of createInterface({ input: worker.stdout })) {
      const said: Said = JSON.parse(line);
      if (said.ready) {
        const after = least + this.#random() * (most - least);
        timer = setTimeout(killOnceItGotOn, after, ledger.read().length);
      }
      if (said.notice !== undefined) {
        this.#problems.push(`noticed after ${this.#kills} kills: ${said.notice}`);
        kill(); // it would wait for somebody
      }
      if (said.over) clearTimeout(timer);
      report ??= said.report;
    }
    clearTimeout(timer);
    await exit;
    if (wasKilled) this.#kills += 1;
    else if (report === undefined) this.#problems.push(`a process ended by itself: ${await errors}`);
    return report;
  }

  judged(report: Report | undefined): Kills {
    const { runs } = this.#init;
    const kills = this.#kills;
    if (report === undefined) return { kills, runs: 0, unknown: 0, ended: {}, problems: this.#problems };
    const ended: Record<string, number> = {};
    for (const { status } of report.runs) ended[status] = (ended[status] ?? 0) + 1;
    const unknown = report.approvals.filter(({ kind }) => kind === "unknown_outcome").length;
    const problems = [
      ...this.#problems,
      ...faults(report, runs),
      ...repeated(new Ledger(this.#ledger), runs),
    ];
    return { kills, runs: report.runs.length, unknown, ended, problems };
  }
}

interface Said {
  readonly ready?: true;
  readonly over?: true;
  readonly notice?: string;
  readonly report?: Report;
}

function faults(report: Report, runs: number): string[] {
  const found = report.runs.flatMap(({ status, terminals, gaps }) => {
    const isOver = TERMINAL.includes(status) && terminals.length === 1 && terminals[0] === status;
    return isOver
      ? gaps
      : [`a run is ${status} and has the terminal statuses ${terminals.join(", ")}`, ...gaps];
  });
  if (report.runs.length !== runs) found.push(`there are ${report.runs.length} runs, not ${runs}`);
  for (const run of report.held) found.push(`a branch is still held by ${run}`);
  for (const { id, state } of report.approvals) if (state === "pending") found.push(`${id} is still pending`);
  return found;
}

function repeated(ledger: Ledger, runs: number): string[] {
  const found: string[] = [];
  const calls = new Map<string, number>();
  for (const { effect, call } of ledger.read())
    if (effect === "once") calls.set(call, (calls.get(call) ?? 0) + 1);
  for (const [call, times] of calls) if (times > 1) found.push(`${call} happened ${times} times`);
  if (calls.size !== runs * ONCE_CALLS)
    found.push(`${calls.size} things happened that happen once, not ${runs * ONCE_CALLS}`);
  return found;
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
