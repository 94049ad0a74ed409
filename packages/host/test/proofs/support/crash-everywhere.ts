import { copyFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Job } from "./job.ts";
import { differences, faults, type Played } from "./judge.ts";
import { Ledger } from "./ledger.ts";
import type { Lives } from "./lives.ts";
import type { Scenario } from "./scenario.ts";
import type { Broken } from "./stage.ts";

export interface CrashInit {
  readonly lives: Lives;
  readonly dir: string;
  /** Where the next database is. Default: a file in `dir`. */
  readonly place?: () => Promise<string>;
  /** A database file that each one begins as: with its tables, where crashes while tables are made are played elsewhere. */
  readonly template?: string;
  readonly broken?: Broken | undefined;
  /** The longest that the life after the last crash may take, where a planted bug makes it wait in vain. */
  readonly lifeMs?: number;
  /** Where the process that takes over is killed in turn, for each point. */
  readonly again?: (point: CrashAt) => readonly CrashAt[];
  /** What becomes of the write a life ends at. Default: `before` and `after`. */
  readonly whens?: readonly When[];
  /** A problem like this is all that is looked for: no more points are played once it is found. */
  readonly until?: RegExp;
  /** The first durable write to crash at. Default: 1. */
  readonly from?: number;
}

/** The n-th durable write of a life, and what becomes of it: see `CrashPoint`. */
export interface CrashAt {
  readonly n: number;
  readonly when: When;
}

type When = "before" | "after" | "late";

/** What came of playing a scenario with a crash at every point. */
export interface Crashes {
  /** How many durable writes it has. */
  readonly writes: number;
  /** Points that were played, each with at least one death. */
  readonly points: number;
  readonly deaths: number;
  /** Crashes that left the outcome of a call unknown. */
  readonly unknown: number;
  /** What went wrong, by point. */
  readonly problems: readonly string[];
}

const BOTH = ["before", "after"] as const;

let places = 0;

/**
 * Plays a scenario with a crash before and after every durable write, and compares each with one that was left alone. How
 * many there are is found by going on until no process dies any more.
 */
export async function crashEverywhere(scenario: Scenario, init: CrashInit): Promise<Crashes> {
  const { lifeMs: _, ...patient } = init; // a short life is for what may be lost
  const calm = await playOnce(scenario, [], { ...patient, broken: undefined });
  if (typeof calm === "string") return { ...NOTHING, problems: [`without a crash: ${calm}`] };
  const own = faults(scenario, calm);
  if (own.length > 0) return { ...NOTHING, problems: own.map((fault) => `without a crash: ${fault}`) };
  const played: Point[] = [];
  const every = Array.from({ length: calm.writes }, (_, i) => i + 1).slice((init.from ?? 1) - 1);
  if (init.until === undefined) await Promise.all(every.map(crashAround));
  else for (const n of every) await crashAround(n);
  // Writes that were one transaction then may be two now.
  for (let n = calm.writes + 1; n < calm.writes * 3 && (await crashAround(n)) > 0; n += 1);
  const sum = (of: (point: Point) => number) => played.reduce((all, point) => all + of(point), 0);
  return {
    writes: calm.writes,
    points: sum(({ deaths }) => Math.min(deaths, 1)),
    deaths: sum(({ deaths }) => deaths),
    unknown: sum(({ unknown }) => unknown),
    problems: played.flatMap(({ problems }) => problems),
  };

  /** Answers how many processes died there. */
  async function crashAround(n: number): Promise<number> {
    const whens = init.whens ?? BOTH;
    const points = whens.flatMap((when): (readonly CrashAt[])[] => {
      const again = init.again?.({ n, when });
      return again ? again.map((second) => [{ n, when }, second]) : [[{ n, when }]];
    });
    const around = await Promise.all(points.map(crash));
    played.push(...around);
    return around.reduce((all, { deaths }) => all + deaths, 0);
  }

  async function crash(points: readonly CrashAt[]): Promise<Point> {
    if (played.some(({ problems }) => problems.some((problem) => init.until?.test(problem)))) return NOWHERE;
    const crashes = points.map(({ n, when }) => `${n}:${when}`);
    const end = await playOnce(scenario, crashes, init);
    const at = (problem: string) => `${scenario.name}, ${crashes.join(", then ")}: ${problem}`;
    if (typeof end === "string") return { deaths: 1, unknown: 0, problems: [at(end)] };
    const unknown = end.report.approvals.filter(({ kind }) => kind === "unknown_outcome").length;
    const problems = differences(scenario, calm as Played, end).map(at); // a string returned above
    return { deaths: end.deaths, unknown, problems };
  }
}

interface Point {
  readonly deaths: number;
  readonly unknown: number;
  readonly problems: readonly string[];
}

const NOWHERE: Point = { deaths: 0, unknown: 0, problems: [] };
const NOTHING = { writes: 0, points: 0, deaths: 0, unknown: 0 };

/** Plays a scenario on a new database to its end: a process for each crash, and one that lives. Or says what is wrong. */
export async function playOnce(
  scenario: Scenario,
  crashes: readonly string[],
  init: CrashInit,
): Promise<Played | string> {
  const name = join(init.dir, String(++places));
  const place = init.place ? await init.place() : `${name}.db`;
  if (init.template !== undefined) copyFileSync(init.template, place);
  const ledger = `${name}.ledger`;
  const job: Job = { place, ledger, scenario: scenario.name, broken: init.broken };
  let deaths = 0;
  for (const [nth, crashAt] of [...crashes, undefined].entries()) {
    const lifeMs = crashAt === undefined ? init.lifeMs : undefined;
    const life = await init.lives.play({ ...job, crashAt }, nth, lifeMs);
    if ("wrong" in life) return life.wrong;
    if ("killed" in life) {
      deaths += 1;
      continue;
    }
    const entries = new Ledger(ledger).read();
    for (const end of [".db", ".db-wal", ".db-shm", ".ledger"]) rmSync(`${name}${end}`, { force: true });
    return { ...life.done, entries, deaths };
  }
  return "it was killed though nobody said so";
}
